#include "CReference.h"

#include <stdlib.h>
#include <string.h>

struct fields {
  char **items;
  size_t count, capacity;
};

static void add(struct fields *fields, const char *start, size_t length) {
  if (fields->count == fields->capacity) {
    fields->capacity = fields->capacity ? 2 * fields->capacity : 16;
    fields->items = realloc(fields->items, fields->capacity * sizeof *fields->items);
    if (!fields->items) abort();
  }
  fields->items[fields->count++] = strndup(start, length);
}

long reference_sdp(const char *text, size_t length, long rounds) {
  long total = 0;
  for (long round = 0; round < rounds; round++) {
    struct fields fields = {0};
    const char *line = text, *end = text + length;
    while (line < end) {
      const char *stop = memchr(line, '\n', (size_t)(end - line));
      if (!stop) stop = end;
      const char *last = stop > line && stop[-1] == '\r' ? stop - 1 : stop;
      if (last - line >= 2 && line[1] == '=') {
        const char *field = line + 2;
        // An attribute's name ends at the first colon; behind it, and in other lines, fields are parted by spaces.
        const char *colon = line[0] == 'a' ? memchr(field, ':', (size_t)(last - field)) : NULL;
        if (colon) {
          add(&fields, field, (size_t)(colon - field));
          field = colon + 1;
        }
        while (field < last) {
          const char *space = memchr(field, ' ', (size_t)(last - field));
          if (!space) space = last;
          add(&fields, field, (size_t)(space - field));
          field = space + 1;
        }
      }
      line = stop + 1;
    }
    total += (long)fields.count;
    for (size_t i = 0; i < fields.count; i++) free(fields.items[i]);
    free(fields.items);
  }
  return total;
}
