#include "CPageScript.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// The files in the order of Sources/Page/JavaScript/files.txt, as Scripts/page-script.sh lists them.
static const char page_script[] = {
    '(', 'f', 'u', 'n', 'c', 't', 'i', 'o', 'n', ' ', '(', 'n', 'a', 't', 'i', 'v', 'e', ')', ' ', '{', ' ',
    '"', 'u', 's', 'e', ' ', 's', 't', 'r', 'i', 'c', 't', '"', ';', '\n',
#include "files.inc"
    '}', ')', '\n',
};

const size_t page_script_length = sizeof page_script;

const char *page_script_pointer(void) { return page_script; }
