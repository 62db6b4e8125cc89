// TOML for Swift: toml11 behind a plain C face. A document is parsed once into a list of nodes, parents before children.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_kind {
  toml_kind_table,
  toml_kind_array,
  toml_kind_string,
  toml_kind_integer,
  toml_kind_float,
  toml_kind_boolean,
  toml_kind_time,
};

/// One value. Texts are UTF-8, not terminated, and live as long as the document.
struct toml_node {
  enum toml_kind kind;
  /// Index of the table or array that the value stands in; -1 for the root table.
  int64_t parent;
  /// The key in the parent table; empty in an array.
  const char *key;
  size_t key_length;
  /// Where the value stands, counted from 1; `key_column` is where its key does, if that is on the same line.
  uint32_t line;
  uint32_t column;
  uint32_t key_column;
  int64_t integer;
  double number;
  bool boolean;
  const char *text;
  size_t text_length;
};

struct toml_document;

/// Parses `length` bytes. Returns NULL only when there is no memory; free the result with `toml_document_free`.
struct toml_document *toml_document_parse(const char *bytes, size_t length);
void toml_document_free(struct toml_document *document);

/// What is wrong with the text, or NULL when nothing is; `line` and `column` say where, counted from 1.
const char *toml_document_error(const struct toml_document *document, uint32_t *line, uint32_t *column);

size_t toml_document_count(const struct toml_document *document);
const struct toml_node *toml_document_node(const struct toml_document *document, size_t index);

#ifdef __cplusplus
}
#endif
