/* SPDX-License-Identifier: MIT
 *
 * common/json_scan.h: chosen values of a JSON text, found by its structure in one pass. json.h
 * makes a tree of a text, which costs memory for each value; a record of megabytes, of which three
 * values count, is scanned instead. Nothing is allocated, nothing is decoded, and every byte is
 * looked at once.
 */
#ifndef COMMON_JSON_SCAN_H
#define COMMON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/json.h"
#include "common/span.h"

enum { JSON_SCAN_PATHS = 32, JSON_SCAN_NAMES = 6, JSON_SCAN_DEPTH = 512 };

/* Paths as "message.content.*.id", taken apart: `*` is each element of an array, and "" the whole
 * value. */
struct json_paths {
  struct tidings_span names[JSON_SCAN_PATHS][JSON_SCAN_NAMES];
  size_t depth[JSON_SCAN_PATHS]; /* how many names each has */
  size_t count;
};

/* The texts are borrowed. Returns the path's number, which is `count` before; -1: it has too many
 * names, or there are too many paths. */
int json_paths_add(struct json_paths *paths, const char *path);

/* A value; `paths` has a bit for each path that leads to it, and is 0 for other strings. */
struct json_scanned {
  uint32_t paths;
  enum json_kind kind;
  /* A string without its quotes, as written; a number or a word; the first byte of an object or an
   * array. */
  struct tidings_span text;
};

struct json_scan {
  const struct json_paths *paths;
  /* Is called for each value to which a path leads, before what is in it, and for each string that
   * is no key. Whether the text is JSON is known at the end only. */
  void (*value)(void *context, const struct json_scanned *value);
  void *context;
};

/* Whether `text` is one value and white space, with not more than JSON_SCAN_DEPTH arrays and
 * objects inside each other. Characters inside of strings are not checked. */
bool json_scan(const struct json_scan *scan, struct tidings_span text);

/* Does a string, as written, say this text? False without memory, if it has escapes. */
bool json_scanned_is(struct tidings_span written, struct tidings_span text);

#endif
