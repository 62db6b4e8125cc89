// The JavaScript of Sources/Page/JavaScript, as one function expression that takes the document's `native` object.
#pragma once
#include <stddef.h>

/// The text, without a NUL at its end.
const char *page_script_pointer(void);
extern const size_t page_script_length;
