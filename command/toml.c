/* SPDX-License-Identifier: MIT
 *
 * command/toml.c: tomlc17 makes a tree of the text, and this file writes the tree as JSON. It also
 * checks what tomlc17 lets pass: broken UTF-8, escapes above U+10FFFF, and an inline table or array
 * that later lines extend.
 */
#include "command/toml.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/json_write.h"
#include "common/utf8.h"
#include "vendor/tomlc17/tomlc17.h"

enum { DEEPEST = 16, LONGEST_PATH = 1024 }; /* DEEPEST: the depth that the plugin reads */
/* tomlc17 searches tables from the first key on, so limiting the number of keys limits its time. */
enum { MOST_KEYS = 8192 };

struct conversion {
  struct json_writer json;
  struct buffer path; /* the path of the value that is being written: a.b[3] */
  struct tidings_error *error;
  bool any; /* a value that JSON does not have becomes a string */
};

/* -- the text ---------------------------------------------------------------------------------- */

/* Some error texts of tomlc17, and the texts of tidings for them. */
static const struct {
  const char *theirs, *ours;
  int code;
} toml_words[] = {
    {"out of memory", "out of memory", TIDINGS_E_NOMEM},
    {"too many key parts", "a key of more than 10 parts", TIDINGS_E_TOO_BIG},
    {"stack overflow", "nested too deep", TIDINGS_E_TOO_BIG},
    {"table too large", "a table of more than 16384 keys", TIDINGS_E_TOO_BIG},
    {"array too large", "an array of more than 16384 values", TIDINGS_E_TOO_BIG},
    {"ENDL expected", "expected the end of the line", TIDINGS_E_INVAL},
    {"missing right-bracket", "expected ']' after the table's name", TIDINGS_E_INVAL},
    {"missing ']]'", "expected ']]' after the table's name", TIDINGS_E_INVAL},
    {"missing key", "expected a key", TIDINGS_E_INVAL},
    {"missing value", "expected a value", TIDINGS_E_INVAL},
    {"invalid value", "not a value; a string needs quotes", TIDINGS_E_INVAL},
    {"expect '='", "expected '=' after the key", TIDINGS_E_INVAL},
    {"expects a string in dotted-key", "expected a key after '.'", TIDINGS_E_INVAL},
    {"unable to normalize string", "an escape that is no character", TIDINGS_E_INVAL},
    {"error parsing integer", "an integer that does not fit into 64 bits", TIDINGS_E_INVAL},
    {"error parsing float", "a number that is none, or too large or too small", TIDINGS_E_INVAL},
};

/* `message` is "(line 3) words", or words alone. */
static int refuse_syntax(const char *message, struct tidings_error *error) {
  const char *words = message;
  char *end = NULL;
  long line = strncmp(message, "(line ", 6) == 0 ? strtol(message + 6, &end, 10) : 0;
  if (end && strncmp(end, ") ", 2) == 0) words = end + 2;
  int code = TIDINGS_E_INVAL;
  for (size_t i = 0; i < sizeof toml_words / sizeof *toml_words; i++) {
    if (!strstr(words, toml_words[i].theirs)) continue;
    words = toml_words[i].ours;
    code = toml_words[i].code;
    break;
  }
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "%s", words);
  if (!line) return fail(error, code, "not TOML: %s", words);
  return fail(error, code, "not TOML: line %ld: %s", line, words);
}

static int line_of(struct tidings_span text, size_t at) {
  int line = 1;
  for (size_t i = 0; i < at; i++) line += text.ptr[i] == '\n';
  return line;
}

static int check_bytes(struct tidings_span text, struct tidings_error *error) {
  size_t valid = utf8_valid_length(text), keys = 0;
  if (text.len > INT_MAX - 1) return fail(error, TIDINGS_E_TOO_BIG, "more than 2 GiB of TOML");
  if (valid < text.len)
    return fail(error, TIDINGS_E_INVAL, "not TOML: line %d: not UTF-8", line_of(text, valid));
  const char *nul = memchr(text.ptr, '\0', text.len);
  if (nul)
    return fail(error, TIDINGS_E_INVAL, "not TOML: line %d: a NUL byte",
                line_of(text, (size_t)(nul - text.ptr)));
  for (size_t i = 0; i < text.len; i++) keys += text.ptr[i] == '=' || text.ptr[i] == '[';
  if (keys > MOST_KEYS)
    return fail(error, TIDINGS_E_TOO_BIG, "more than %d keys and tables (counted by = and [)",
                MOST_KEYS);
  return 0;
}

/* -- values ------------------------------------------------------------------------------------ */

static int refuse_value(struct conversion *to, toml_datum_t value, int code, const char *what,
                        const char *expected) {
  if (to->path.failed) return fail(to->error, TIDINGS_E_NOMEM, "out of memory");
  size_t len = utf8_prefix(buffer_view(&to->path), LONGEST_PATH);
  int column = value.colno; /* for a string, the column inside its quotes */
  if (value.type == TOML_STRING && column > 1) column--;
  return fail(to->error, code, "%.*s: %s (line %d, column %d)%s", (int)len, to->path.bytes, what,
              value.lineno, column, expected);
}

static int refuse_kind(struct conversion *to, toml_datum_t value, const char *what) {
  return refuse_value(to, value, TIDINGS_E_SCHEMA, what,
                      "; expected a string, true or false, a finite number, an array or a table");
}

static int check_string(struct conversion *to, toml_datum_t value, struct tidings_span text,
                        const char *of_nul) {
  if (!utf8_valid(text))
    return refuse_value(to, value, TIDINGS_E_INVAL, "an escape that is no character", "");
  return memchr(text.ptr, '\0', text.len) ? refuse_kind(to, value, of_nul) : 0;
}

/* Writes a float as a float, so that a key that takes whole numbers refuses 1.0. */
static int write_float(struct conversion *to, toml_datum_t value) {
  char digits[40];
  int len = 0;
  if (!isfinite(value.u.fp64) && to->any) {
    json_put_text(&to->json, NULL, isnan(value.u.fp64) ? "nan" : value.u.fp64 > 0 ? "inf" : "-inf");
    return 0;
  }
  if (!isfinite(value.u.fp64))
    return refuse_kind(
        to, value, isnan(value.u.fp64) ? "nan is no number in JSON" : "inf is no number in JSON");
  for (int precision = 1; precision <= 17; precision++) {
    len = snprintf(digits, sizeof digits - 2, "%.*g", precision, value.u.fp64);
    if (strtod(digits, NULL) == value.u.fp64) break;
  }
  if (!strpbrk(digits, ".e")) memcpy(digits + len, ".0", 3);
  json_put_raw(&to->json, NULL, span_text(digits));
  return 0;
}

static int write_time(struct conversion *to, toml_datum_t value) {
  char text[96];
  int len = 0;
  if (!to->any) return refuse_kind(to, value, "JSON has no dates and times");
  if (value.type != TOML_TIME)
    len = snprintf(text, sizeof text, "%04d-%02d-%02d", value.u.ts.year, value.u.ts.month,
                   value.u.ts.day);
  if (value.type != TOML_DATE)
    len += snprintf(text + len, sizeof text - (size_t)len, "T%02d:%02d:%02d.%06d", value.u.ts.hour,
                    value.u.ts.minute, value.u.ts.second, value.u.ts.usec);
  if (value.type == TOML_DATETIMETZ)
    (void)snprintf(text + len, sizeof text - (size_t)len, "%+d", value.u.ts.tz);
  json_put_text(&to->json, NULL, text);
  return 0;
}

static int write_value(struct conversion *to, toml_datum_t value, int depth);

static int write_array(struct conversion *to, toml_datum_t array, int depth) {
  int rc = 0;
  size_t len = to->path.len;
  json_open(&to->json, NULL, '[');
  for (int i = 0; !rc && i < array.u.arr.size; i++) {
    buffer_format(&to->path, "[%d]", i);
    rc = write_value(to, array.u.arr.elem[i], depth);
    to->path.len = len;
  }
  json_close(&to->json, ']');
  return rc;
}

struct toml_member {
  struct tidings_span key;
  const toml_datum_t *value;
};

static int compare_members(const void *left, const void *right) {
  const struct toml_member *a = left, *b = right;
  int order = memcmp(a->key.ptr, b->key.ptr, a->key.len < b->key.len ? a->key.len : b->key.len);
  return order ? order : (a->key.len > b->key.len) - (a->key.len < b->key.len);
}

static int write_member(struct conversion *to, toml_datum_t table, const struct toml_member *member,
                        int depth) {
  toml_datum_t value = *member->value;
  if (to->path.len) buffer_byte(&to->path, '.');
  buffer_span(&to->path, member->key);
  int rc = check_string(to, value, member->key, "the key has a NUL character");
  if (rc) return rc;
  /* Everything in an inline table has this flag by the time the table ends. */
  if ((table.flag & TOML_FLAG_INLINED) && !(value.flag & TOML_FLAG_INLINED))
    return refuse_value(to, value, TIDINGS_E_INVAL, "an inline table or array cannot be extended",
                        "");
  json_put_raw(&to->json, member->key.ptr, span_text("")); /* the value follows */
  to->json.comma = false;
  return write_value(to, value, depth);
}

/* Sorts the keys, so that the order of the lines changes nothing. */
static int write_table(struct conversion *to, toml_datum_t table, int depth) {
  int rc = 0;
  size_t count = (size_t)table.u.tab.size, len = to->path.len;
  struct toml_member *members = calloc(count + 1, sizeof *members);
  if (!members) return fail(to->error, TIDINGS_E_NOMEM, "out of memory");
  for (size_t i = 0; i < count; i++)
    members[i] = (struct toml_member){span_of(table.u.tab.key[i], (size_t)table.u.tab.len[i]),
                                      &table.u.tab.value[i]};
  qsort(members, count, sizeof *members, compare_members);
  json_open(&to->json, NULL, '{');
  for (size_t i = 0; !rc && i < count; i++) {
    rc = write_member(to, table, &members[i], depth);
    to->path.len = len;
  }
  json_close(&to->json, '}');
  free(members);
  return rc;
}

static int write_value(struct conversion *to, toml_datum_t value, int depth) {
  char what[40];
  int rc;
  if (depth == DEEPEST) {
    snprintf(what, sizeof what, "nested more than %d deep", DEEPEST);
    return refuse_value(to, value, TIDINGS_E_TOO_BIG, what, "");
  }
  switch (value.type) {
  case TOML_TABLE: return write_table(to, value, depth + 1);
  case TOML_ARRAY: return write_array(to, value, depth + 1);
  case TOML_FP64: return write_float(to, value);
  case TOML_STRING:
    rc = check_string(to, value, span_of(value.u.str.ptr, (size_t)value.u.str.len),
                      "it has a NUL character");
    if (!rc) json_put_text(&to->json, NULL, value.u.str.ptr);
    return rc;
  case TOML_INT64: json_put_i64(&to->json, NULL, value.u.int64); return 0;
  case TOML_BOOLEAN: json_put_bool(&to->json, NULL, value.u.boolean); return 0;
  default: return write_time(to, value);
  }
}

/* -- the conversion ---------------------------------------------------------------------------- */

static int write_tree(toml_datum_t tree, bool any, char **ret_json, struct tidings_error *error) {
  struct buffer json = BUFFER_EMPTY;
  struct conversion to = {.json = {.out = &json}, .path = BUFFER_EMPTY, .error = error, .any = any};
  int rc = write_value(&to, tree, 0);
  bool failed = to.path.failed;
  buffer_free(&to.path);
  char *text = buffer_take(&json);
  if (!rc && (failed || !text)) rc = fail(error, TIDINGS_E_NOMEM, "out of memory");
  if (!rc) *ret_json = text;
  else free(text);
  return rc;
}

/* Copies the text with a NUL at its end, which tomlc17 needs, and turns each CR LF into LF. NULL:
 * no memory. */
static char *copy_text(struct tidings_span text, int *ret_len) {
  int len = 0;
  char *copy = malloc(text.len + 1);
  if (!copy) return NULL;
  for (size_t i = 0; i < text.len; i++) {
    bool ends_line = text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
    if (!ends_line) copy[len++] = text.ptr[i];
  }
  copy[len] = '\0';
  *ret_len = len;
  return copy;
}

static int convert(const char *text, size_t len, bool any, char **ret_json,
                   struct tidings_error *error) {
  bool mark = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
  struct tidings_span span = mark ? span_of(text + 3, len - 3) : span_of(text, len);
  int copied = 0, rc = check_bytes(span, error);
  if (rc) return rc;
  char *copy = copy_text(span, &copied);
  if (!copy) return fail(error, TIDINGS_E_NOMEM, "out of memory");
  toml_result_t parsed = toml_parse(copy, copied);
  free(copy);
  if (!parsed.ok) return refuse_syntax(parsed.errmsg, error);
  rc = write_tree(parsed.toptab, any, ret_json, error);
  toml_free(parsed);
  return rc;
}

int32_t toml_to_json(const char *text, size_t len, char **ret_json, struct tidings_error *error) {
  return convert(text, len, false, ret_json, error);
}

int32_t toml_to_json_any(const char *text, size_t len, char **ret_json,
                         struct tidings_error *error) {
  return convert(text, len, true, ret_json, error);
}
