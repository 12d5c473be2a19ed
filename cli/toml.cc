/* SPDX-License-Identifier: MIT
 *
 * cli/toml.cc: see the header.
 */
#include "cli/toml.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

/* Tables are destroyed by recursion: with MOST_PARTS this is what bounds it. */
#define TOML_MAX_NESTED_VALUES 32
#define TOML_ENABLE_FORMATTERS 0
/* Without it numbers are read by a stream, which brings in all locales. */
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>

namespace {

constexpr size_t DEEPEST = 16;    /* what the plugin reads */
constexpr size_t MOST_PARTS = 64; /* of a dotted key */

struct refusal {
  int32_t code;
  std::string text;
};

std::string place_of(const toml::source_region &source) {
  return "line " + std::to_string(source.begin.line) + ", column " +
         std::to_string(source.begin.column);
}

/* A dotted key makes a table for each part, however many there are. Text between quotes counts as
 * well: nothing in a configuration has so many dots. */
void check_dots(std::string_view text) {
  size_t dots = 0, line = 1;
  bool blank = true, comment = false;
  for (char byte : text) {
    if (byte == '\n') {
      line++;
      blank = true;
      comment = false;
    }
    if (byte == '#' && blank) comment = true;
    if (byte != ' ' && byte != '\t' && byte != '\n') blank = false;
    if (std::strchr("\n=[]{},", byte)) dots = 0;
    if (byte == '.' && !comment && ++dots >= MOST_PARTS)
      throw refusal{TIDINGS_E_TOO_BIG, "line " + std::to_string(line) + ": a key of more than " +
                                           std::to_string(MOST_PARTS) + " parts"};
  }
}

void write_string(std::string &out, std::string_view text) {
  out += '"';
  for (char byte : text) {
    char escaped[8];
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
      out += escaped;
    } else {
      out += byte;
    }
  }
  out += '"';
}

[[noreturn]] void refuse(const std::string &path, const toml::node &node, const char *what) {
  throw refusal{TIDINGS_E_SCHEMA, path + ": " + what + " (" + place_of(node.source()) +
                                      "); expected a string, true or false, a finite number, an "
                                      "array or a table"};
}

std::string path_to(const std::string &path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

/* A float stays one: a key that takes whole numbers refuses 1.0. */
void write_float(std::string &out, double value) {
  char digits[64];
  auto done = std::to_chars(digits, digits + sizeof digits, value);
  std::string_view text(digits, static_cast<size_t>(done.ptr - digits));
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";
}

void write_value(std::string &out, const toml::node &node, const std::string &path, size_t depth);

void write_table(std::string &out, const toml::table &table, const std::string &path,
                 size_t depth) {
  const char *before = "{";
  for (const auto &[key, node] : table) {
    const std::string name(key.str()), inside = path_to(path, name);
    if (name.find('\0') != name.npos) refuse(inside, node, "the key has a NUL character");
    out += before;
    write_string(out, name);
    out += ':';
    write_value(out, node, inside, depth);
    before = ",";
  }
  out += *before == '{' ? "{}" : "}";
}

void write_array(std::string &out, const toml::array &array, const std::string &path,
                 size_t depth) {
  size_t index = 0;
  out += '[';
  for (const toml::node &node : array) {
    if (index) out += ',';
    write_value(out, node, path + "[" + std::to_string(index++) + "]", depth);
  }
  out += ']';
}

void write_value(std::string &out, const toml::node &node, const std::string &path, size_t depth) {
  if (depth == DEEPEST)
    throw refusal{TIDINGS_E_TOO_BIG, path + ": nested more than " + std::to_string(DEEPEST) +
                                         " deep (" + place_of(node.source()) + ")"};
  if (const auto *table = node.as_table()) return write_table(out, *table, path, depth + 1);
  if (const auto *array = node.as_array()) return write_array(out, *array, path, depth + 1);
  if (const auto *text = node.as_string()) {
    if (text->get().find('\0') != std::string::npos) refuse(path, node, "it has a NUL character");
    return write_string(out, text->get());
  }
  if (const auto *integer = node.as_integer()) {
    out += std::to_string(integer->get());
  } else if (const auto *boolean = node.as_boolean()) {
    out += boolean->get() ? "true" : "false";
  } else if (const auto *real = node.as_floating_point()) {
    if (!std::isfinite(real->get()))
      refuse(path, node,
             std::isnan(real->get()) ? "nan is no number in JSON" : "inf is no number in JSON");
    write_float(out, real->get());
  } else {
    refuse(path, node, "JSON has no dates and times");
  }
}

int32_t say(struct tidings_error *error, int32_t code, const char *text) noexcept {
  if (error) {
    error->code = code;
    std::snprintf(error->text, sizeof error->text, "%s", text);
  }
  return code;
}

std::string convert(std::string_view text) {
  check_dots(text);
  std::string json;
  write_value(json, toml::parse(text), "", 0);
  return json;
}

} // namespace

extern "C" int32_t toml_to_json(const char *text, size_t len, char **ret_json,
                                struct tidings_error *error) {
  try {
    char *json = strdup(convert(std::string_view(text, len)).c_str());
    if (!json) return say(error, TIDINGS_E_NOMEM, "out of memory");
    *ret_json = json;
    return TIDINGS_OK;
  } catch (const refusal &refused) {
    return say(error, refused.code, refused.text.c_str());
  } catch (const toml::parse_error &wrong) {
    try {
      std::string what =
          "not TOML: " + place_of(wrong.source()) + ": " + std::string(wrong.description());
      return say(error, TIDINGS_E_INVAL, what.c_str());
    } catch (...) {
      return say(error, TIDINGS_E_INVAL, "not TOML");
    }
  } catch (...) {
    return say(error, TIDINGS_E_NOMEM, "out of memory");
  }
}
