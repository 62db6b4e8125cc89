#include "CTOML.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <toml.hpp>
#include <vector>

namespace {

using Value = toml::basic_value<toml::discard_comments, std::map, std::vector>;

constexpr int deepest_nesting = 64;

}  // namespace

struct toml_document {
  std::vector<toml_node> nodes;
  std::deque<std::string> texts;  // never moves its elements: nodes point into them
  std::string error;
  uint32_t error_line = 1;
  uint32_t error_column = 1;
};

namespace {

const std::string &keep(toml_document &document, std::string text) {
  document.texts.push_back(std::move(text));
  return document.texts.back();
}

/// Where `key` stands in `line`, before the value's column; the value's own column when it cannot be seen there.
uint32_t key_column(const std::string &line, const std::string &key, uint32_t column) {
  if (key.empty() || column < 2 || line.size() < key.size()) return column;
  const size_t found = line.rfind(key, column - 2);
  return found == std::string::npos ? column : static_cast<uint32_t>(found + 1);
}

void add(toml_document &document, const Value &value, const std::string &key, int64_t parent) {
  toml_node node = {};
  node.parent = parent;
  const std::string &kept = keep(document, key);
  node.key = kept.data();
  node.key_length = kept.size();
  const auto location = value.location();
  node.line = location.line();
  node.column = location.column();
  node.key_column = key_column(location.line_str(), key, node.column);

  const auto index = static_cast<int64_t>(document.nodes.size());
  switch (value.type()) {
    case toml::value_t::table:
      node.kind = toml_kind_table;
      document.nodes.push_back(node);
      for (const auto &[child_key, child] : value.as_table()) add(document, child, child_key, index);
      return;
    case toml::value_t::array:
      node.kind = toml_kind_array;
      document.nodes.push_back(node);
      for (const auto &child : value.as_array()) add(document, child, "", index);
      return;
    case toml::value_t::string: {
      node.kind = toml_kind_string;
      const std::string &text = keep(document, value.as_string().str);
      node.text = text.data();
      node.text_length = text.size();
      break;
    }
    case toml::value_t::integer:
      node.kind = toml_kind_integer;
      node.integer = value.as_integer();
      break;
    case toml::value_t::floating:
      node.kind = toml_kind_float;
      node.number = value.as_floating();
      break;
    case toml::value_t::boolean:
      node.kind = toml_kind_boolean;
      node.boolean = value.as_boolean();
      break;
    default:
      node.kind = toml_kind_time;
      break;
  }
  document.nodes.push_back(node);
}

/// Whether brackets outside strings and comments nest deeper than the parser, which recurses, should be led.
bool nests_too_deep(const std::string &text, uint32_t &line) {
  int depth = 0;
  char quote = 0;
  line = 1;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\n') {
      line++;
      quote = 0;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') i++;
      else if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') i++;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_nesting) return true;
    } else if (c == ']' || c == '}') {
      depth = std::max(0, depth - 1);
    }
  }
  return false;
}

/// toml11 explains itself in several lines: a sentence behind its function's name, then source lines with carets below
/// them, each with a remark. The sentence and the last remark say what is wrong, the last caret where.
void take_failure(toml_document &document, const std::string &what) {
  std::istringstream lines(what);
  std::string line, sentence, remark;
  std::getline(lines, sentence);
  while (std::getline(lines, line)) {
    const size_t bar = line.find_first_not_of("0123456789 ");
    if (bar == std::string::npos || line[bar] != '|') continue;
    const size_t caret = line.find_first_not_of(' ', bar + 1);
    if (line.find_first_not_of(' ') != bar) {
      document.error_line = static_cast<uint32_t>(std::strtoul(line.c_str(), nullptr, 10));
    } else if (caret != std::string::npos && line.compare(caret, 4, "^---") == 0) {
      document.error_column = static_cast<uint32_t>(caret - bar - 1);
      remark = line.substr(std::min(line.size(), caret + 5));
    }
  }
  if (sentence.rfind("[error] ", 0) == 0) sentence.erase(0, 8);
  const size_t function = sentence.find(": ");
  if (function != std::string::npos && sentence.find(' ') > function) sentence.erase(0, function + 2);
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  if (!remark.empty() && remark != "here") sentence += ": " + remark;
  document.error = sentence.empty() ? "not TOML" : sentence;
}

}  // namespace

extern "C" {

toml_document *toml_document_parse(const char *bytes, size_t length) {
  auto *document = new (std::nothrow) toml_document;
  if (document == nullptr) return nullptr;
  try {
    std::string text(bytes, length);
    if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);  // a byte order mark would move the first line's columns
    if (nests_too_deep(text, document->error_line)) {
      document->error = "nested too deeply";
      return document;
    }
    // A last line without an end is fine; the parser wants one.
    if (!text.empty() && text.back() != '\n') text.push_back('\n');
    std::istringstream stream(text);
    add(*document, toml::parse<toml::discard_comments, std::map, std::vector>(stream, "parlor.toml"), "", -1);
  } catch (const toml::exception &failure) {
    document->error_line = failure.location().line();
    document->error_column = failure.location().column();
    take_failure(*document, failure.what());
  } catch (const std::exception &failure) {
    take_failure(*document, failure.what());
  }
  if (!document->error.empty()) document->nodes.clear();
  return document;
}

void toml_document_free(toml_document *document) { delete document; }

const char *toml_document_error(const toml_document *document, uint32_t *line, uint32_t *column) {
  if (document->error.empty()) return nullptr;
  *line = document->error_line;
  *column = document->error_column;
  return document->error.c_str();
}

size_t toml_document_count(const toml_document *document) { return document->nodes.size(); }

const toml_node *toml_document_node(const toml_document *document, size_t index) {
  return index < document->nodes.size() ? &document->nodes[index] : nullptr;
}

}
