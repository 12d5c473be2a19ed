/* SPDX-License-Identifier: MIT
 *
 * common/json_scan.c: keeps, for each open array or object, the set of paths that lead into it. If
 * the set is empty, as in most of a text, the names of members are not compared at all.
 */
#include "common/json_scan.h"

#include <string.h>

#include "common/arena.h"

enum { STATE_BYTES = JSON_SCAN_DEPTH / 8 };

int json_paths_add(struct json_paths *paths, const char *path) {
  size_t depth = 0, number = paths->count;
  if (number == JSON_SCAN_PATHS) return -1;
  while (*path) {
    size_t len = strcspn(path, ".");
    if (depth == JSON_SCAN_NAMES) return -1;
    paths->names[number][depth++] = span_of(path, len);
    path += len + (path[len] == '.');
  }
  paths->depth[number] = depth;
  paths->count++;
  return (int)number;
}

struct scanning {
  const struct json_scan *scan;
  const char *at, *end;
  size_t depth;
  uint32_t led[JSON_SCAN_NAMES + 1]; /* for each depth, the paths that lead to the open value */
  uint8_t objects[STATE_BYTES];      /* one bit for each depth: an object, not an array */
  bool empty;                        /* the innermost open value has no member yet */
};

static bool is_in_object(const struct scanning *scanning) {
  size_t at = scanning->depth - 1;
  return scanning->objects[at / 8] >> (at % 8) & 1;
}

/* In compact records, which are the most common, this takes one comparison. */
static inline void skip_blank(struct scanning *scanning) {
  while (scanning->at < scanning->end && (*scanning->at == ' ' || *scanning->at == '\t' ||
                                          *scanning->at == '\n' || *scanning->at == '\r'))
    scanning->at++;
}

static inline bool take(struct scanning *scanning, char byte) {
  if (scanning->at == scanning->end || *scanning->at != byte) return false;
  scanning->at++;
  return true;
}

/* Finds the quote that ends a string; `at` is after the quote that begins it. NULL: the string does
 * not end. */
static const char *string_end(const char *at, const char *end) {
  const char *begin = at;
  while ((at = memchr(at, '"', (size_t)(end - at)))) {
    size_t escapes = 0;
    if (at == begin || at[-1] != '\\') return at;
    while ((size_t)(at - begin) > escapes && at[-1 - (ptrdiff_t)escapes] == '\\') escapes++;
    if (escapes % 2 == 0) return at;
    begin = ++at;
  }
  return NULL;
}

static bool scan_string(struct scanning *scanning, struct tidings_span *ret_text) {
  if (!take(scanning, '"')) return false;
  const char *begin = scanning->at, *quote = string_end(begin, scanning->end);
  if (!quote) return false;
  *ret_text = span_of(begin, (size_t)(quote - begin));
  scanning->at = quote + 1;
  return true;
}

/* -- paths ------------------------------------------------------------------------------------- */

static uint32_t all_paths(const struct json_paths *paths) {
  return paths->count == JSON_SCAN_PATHS ? UINT32_MAX : (1u << paths->count) - 1;
}

/* Returns those paths of `led` that continue at this depth with this name. */
static uint32_t lead_on(const struct json_paths *paths, uint32_t led, size_t depth,
                        struct tidings_span name) {
  uint32_t on = 0;
  for (; led; led &= led - 1) {
    unsigned path = (unsigned)__builtin_ctz(led);
    if (paths->depth[path] > depth && span_equal(paths->names[path][depth], name)) on |= 1u << path;
  }
  return on;
}

static uint32_t ending(const struct json_paths *paths, uint32_t led, size_t depth) {
  uint32_t found = 0;
  for (; led; led &= led - 1) {
    unsigned path = (unsigned)__builtin_ctz(led);
    if (paths->depth[path] == depth) found |= 1u << path;
  }
  return found;
}

/* -- values ------------------------------------------------------------------------------------ */

static void report(const struct scanning *scanning, uint32_t paths, enum json_kind kind,
                   struct tidings_span text) {
  const struct json_scanned value = {paths, kind, text};
  if (paths || kind == JSON_IS_STRING) scanning->scan->value(scanning->scan->context, &value);
}

static bool open_scanned(struct scanning *scanning, uint32_t led) {
  size_t at = scanning->depth++;
  bool object = *scanning->at == '{';
  if (at == JSON_SCAN_DEPTH) return false;
  if (at < JSON_SCAN_NAMES + 1) scanning->led[at] = led;
  if (object) scanning->objects[at / 8] |= (uint8_t)(1u << (at % 8));
  else scanning->objects[at / 8] &= (uint8_t) ~(1u << (at % 8));
  scanning->at++;
  scanning->empty = true;
  return true;
}

/* Scans a number or a word. Anything that looks like a number counts as one. */
static bool scan_word(struct scanning *scanning, enum json_kind *ret_kind) {
  static const struct {
    const char *word;
    enum json_kind kind;
  } words[] = {{"true", JSON_IS_TRUE}, {"false", JSON_IS_FALSE}, {"null", JSON_IS_NULL}};
  const char *begin = scanning->at;
  size_t left = (size_t)(scanning->end - begin);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t len = strlen(words[i].word);
    if (left < len || memcmp(begin, words[i].word, len) != 0) continue;
    scanning->at += len;
    *ret_kind = words[i].kind;
    return true;
  }
  while (scanning->at < scanning->end &&
         ((*scanning->at >= '0' && *scanning->at <= '9') || *scanning->at == '-' ||
          *scanning->at == '+' || *scanning->at == '.' || (*scanning->at | 0x20) == 'e'))
    scanning->at++;
  *ret_kind = JSON_IS_NUMBER;
  return scanning->at > begin && (*begin == '-' || (*begin >= '0' && *begin <= '9'));
}

/* `led`: the paths that lead here. An array or an object is only opened. */
static bool scan_value(struct scanning *scanning, uint32_t led) {
  uint32_t found = led ? ending(scanning->scan->paths, led, scanning->depth) : 0;
  const char *begin = scanning->at;
  enum json_kind kind = JSON_IS_STRING;
  struct tidings_span text;
  if (begin == scanning->end) return false;
  if (*begin == '{' || *begin == '[') {
    report(scanning, found, *begin == '{' ? JSON_IS_OBJECT : JSON_IS_ARRAY, span_of(begin, 1));
    return open_scanned(scanning, led);
  }
  scanning->empty = false;
  if (*begin == '"') {
    if (!scan_string(scanning, &text)) return false;
  } else {
    if (!scan_word(scanning, &kind)) return false;
    text = span_of(begin, (size_t)(scanning->at - begin));
  }
  report(scanning, found, kind, text);
  return true;
}

/* Begins the next member of the innermost open value: scans its key, if it has one. */
static bool begin_scanned(struct scanning *scanning, uint32_t *ret_led) {
  size_t depth = scanning->depth - 1;
  uint32_t led = depth < JSON_SCAN_NAMES + 1 ? scanning->led[depth] : 0;
  struct tidings_span name = span_of("*", 1);
  if (is_in_object(scanning)) {
    if (!scan_string(scanning, &name)) return false;
    skip_blank(scanning);
    if (!take(scanning, ':')) return false;
    skip_blank(scanning);
  }
  *ret_led = led ? lead_on(scanning->scan->paths, led, depth, name) : 0;
  return true;
}

/* Closes the values that end here, and takes the comma before the next value. */
static bool close_scanned(struct scanning *scanning) {
  while (scanning->depth) {
    skip_blank(scanning);
    if (take(scanning, is_in_object(scanning) ? '}' : ']')) {
      scanning->depth--;
      scanning->empty = false;
      continue;
    }
    if (!scanning->empty && !take(scanning, ',')) return false;
    skip_blank(scanning);
    return true;
  }
  return true;
}

bool json_scan(const struct json_scan *scan, struct tidings_span text) {
  struct scanning scanning = {.scan = scan, .at = text.ptr, .end = text.ptr + text.len};
  uint32_t led = all_paths(scan->paths);
  skip_blank(&scanning);
  do {
    if (scanning.depth && !begin_scanned(&scanning, &led)) return false;
    if (!scan_value(&scanning, led) || !close_scanned(&scanning)) return false;
  } while (scanning.depth);
  skip_blank(&scanning);
  return scanning.at == scanning.end;
}

bool json_scanned_is(struct tidings_span written, struct tidings_span text) {
  static const struct json_rules rules = {.max_depth = 1, .nul = true, .halves = true};
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = {.chunks = NULL};
  const struct json *json = NULL;
  if (!written.len || !memchr(written.ptr, '\\', written.len)) return span_equal(written, text);
  bool is = !json_read_by(&rules, span_of(written.ptr - 1, written.len + 2), "a string", &arena,
                          &json, &error) &&
            span_equal(json->text, text);
  arena_free(&arena);
  return is;
}
