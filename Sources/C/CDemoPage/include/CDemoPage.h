// The files of Sources/Call/Demo/Page.
#pragma once
#include <stddef.h>

/// The bytes of the file with this name and their number; NULL when there is none.
const unsigned char *demo_page_file(const char *name, size_t *length);
