/* SPDX-License-Identifier: MIT
 *
 * common/json_scan.h: finds chosen values of a JSON text in one pass. json.h makes a tree, which
 * takes memory for each value. Scanning is for records of megabytes in which a few values count: it
 * allocates nothing, decodes nothing, and reads every byte once.
 */
#ifndef COMMON_JSON_SCAN_H
#define COMMON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/json.h"
#include "common/span.h"

enum { JSON_SCAN_PATHS = 32, JSON_SCAN_NAMES = 6, JSON_SCAN_DEPTH = 512 };

/* Paths such as "message.content.*.id", split into names. `*` stands for each element of an array;
 * "" is the path of the whole value. */
struct json_paths {
  struct tidings_span names[JSON_SCAN_PATHS][JSON_SCAN_NAMES];
  size_t depth[JSON_SCAN_PATHS]; /* how many names each path has */
  size_t count;
};

/* Adds a path, whose text is borrowed. Returns the path's number, counted from 0; -1: it has too
 * many names, or there are too many paths. */
int json_paths_add(struct json_paths *paths, const char *path);

/* A value that was found. `paths` has a bit for each path that leads to it; a string to which none
 * leads has 0. */
struct json_scanned {
  uint32_t paths;
  enum json_kind kind;
  /* As written: a string without its quotes; a number, true, false or null; the first byte of an
   * object or an array. */
  struct tidings_span text;
};

struct json_scan {
  const struct json_paths *paths;
  /* Gets each value to which a path leads, before the values inside it, and each other string that
   * is not a key. The text may still turn out not to be JSON. */
  void (*value)(void *context, const struct json_scanned *value);
  void *context;
};

/* True: `text` is one value and white space, with at most JSON_SCAN_DEPTH levels of arrays and
 * objects. The characters of strings are not checked. */
bool json_scan(const struct json_scan *scan, struct tidings_span text);

/* Does the string, which is as written, have this text when its escapes are decoded? False also if
 * there is no memory to decode them. */
bool json_scanned_is(struct tidings_span written, struct tidings_span text);

#endif
