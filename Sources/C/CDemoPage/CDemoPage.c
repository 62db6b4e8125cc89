#include "CDemoPage.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page[] = {
#embed "../../Call/Demo/Page/index.html"
};
static const unsigned char style[] = {
#embed "../../Call/Demo/Page/style.css"
};
static const unsigned char script[] = {
#embed "../../Call/Demo/Page/call.js"
};

const unsigned char *demo_page_file(const char *name, size_t *length) {
  if (strcmp(name, "index.html") == 0) return *length = sizeof page, page;
  if (strcmp(name, "style.css") == 0) return *length = sizeof style, style;
  if (strcmp(name, "call.js") == 0) return *length = sizeof script, script;
  return NULL;
}
