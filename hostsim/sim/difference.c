/* SPDX-License-Identifier: MIT
 */
#include "sim/difference.h"

#include <stdlib.h>

static json_t *reply_of(const json_t *answer) { return json_object_get(answer, "reply"); }

bool difference_none(const json_t *expected, const json_t *got) {
  const json_t *optional = json_object_get(expected, "optional");
  if (!optional) return json_equal(expected, got) != 0;
  const json_t *reply = reply_of(got);
  return (json_is_true(optional) && json_is_null(reply)) ||
         json_equal(reply_of(expected), reply) != 0;
}

static void print(FILE *out, const json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  fputs(text ? text : "nothing", out);
  free(text);
}

static void compare(json_t *expected, json_t *got, const char *path, FILE *out) {
  if (json_equal(expected, got)) return;
  if (!json_is_object(expected) || !json_is_object(got)) {
    fprintf(out, "%s: expected ", path);
    print(out, expected);
    fputs(" got ", out);
    print(out, got);
    fputc('\n', out);
    return;
  }
  const char *key = NULL;
  json_t *value = NULL;
  char *deeper = NULL;
  json_object_foreach(expected, key, value) {
    if (asprintf(&deeper, "%s.%s", path, key) >= 0) {
      compare(value, json_object_get(got, key), deeper, out);
      free(deeper);
    }
  }
  json_object_foreach(got, key, value) {
    if (!json_object_get(expected, key) && asprintf(&deeper, "%s.%s", path, key) >= 0) {
      compare(NULL, value, deeper, out);
      free(deeper);
    }
  }
}

void difference_write(json_t *expected, json_t *got, const char *what, FILE *out) {
  json_t *reply = reply_of(expected);
  if (json_object_get(expected, "optional") && json_is_object(reply_of(got))) {
    compare(reply, reply_of(got), what, out);
    return;
  }
  compare(reply && reply_of(got) ? reply : expected, reply && reply_of(got) ? reply_of(got) : got,
          what, out);
}
