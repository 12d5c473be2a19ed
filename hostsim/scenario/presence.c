/* SPDX-License-Identifier: MIT
 *
 * scenario/presence.c: a scenario that only expects things to be absent passes with a plugin that
 * does nothing, and with a misspelt session. So at least one of its expectations must be that
 * something exists.
 */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

struct presence {
  bool present;
  size_t step;      /* the number of the first absence's step; 0: there is none */
  char path[128];   /* the absence's key in `expect`, with dots */
  const json_t *is; /* the value that the absence expects */
};

/* Does the key show nothing of the session's contents, such as its state or an error's text? */
static bool presence_is_neutral(const char *key) {
  static const char *const keys[] = {"state",          "phase",   "attempt",   "error",
                                     "error_contains", "message", "started_at"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

static bool presence_ends_in(const char *key, const char *end) {
  size_t len = strlen(key), end_len = strlen(end);
  return len >= end_len && strcmp(key + len - end_len, end) == 0;
}

/* Returns the text of a carrier step; "" if it has none. */
static const char *presence_given(const json_t *step) {
  const json_t *carrier = json_object_get(step, "tool_result");
  if (!carrier) carrier = json_object_get(step, "chat_request");
  const char *content = json_string_value(json_object_get(carrier, "content"));
  return content ? content : "";
}

static bool presence_is_empty(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_ARRAY: return json_array_size(value) == 0;
  case JSON_STRING: return json_string_length(value) == 0;
  case JSON_INTEGER: return json_integer_value(value) == 0;
  case JSON_REAL: return json_real_value(value) <= 0;
  case JSON_OBJECT:
  case JSON_TRUE:
  case JSON_FALSE:
  case JSON_NULL: break;
  }
  return json_is_null(value);
}

static void presence_note(struct presence *presence, size_t number, const json_t *step,
                          const char *path, const char *key, const json_t *value) {
  bool absent = presence_is_empty(value);
  if (presence_is_neutral(key) || json_is_false(value)) return;
  if (presence_ends_in(key, "_contains") && absent) return; /* expects nothing */
  if (presence_ends_in(key, "_lacks")) {
    if (absent) return;
    absent = true;
  } else if (strcmp(path, "content") == 0 && json_is_string(value)) {
    absent = strcmp(json_string_value(value), presence_given(step)) == 0;
  }
  if (!absent) {
    presence->present = true;
  } else if (presence->step == 0) {
    presence->step = number;
    snprintf(presence->path, sizeof presence->path, "%s", path);
    presence->is = value;
  }
}

static void presence_visit(struct presence *presence, size_t number, const json_t *step,
                           const char *path, json_t *fields) {
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(fields, key, value) {
    char below[sizeof presence->path];
    snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", key);
    if (json_is_object(value)) presence_visit(presence, number, step, below, value);
    else presence_note(presence, number, step, below, key, value);
  }
}

bool scenario_check_presence(json_t *scenario, FILE *out) {
  struct presence presence = {.present = false};
  json_t *steps = json_object_get(scenario, "steps");
  for (size_t i = 0; i < json_array_size(steps); i++) {
    const json_t *step = json_array_get(steps, i);
    presence_visit(&presence, i + 1, step, "", json_object_get(step, "expect"));
  }
  if (presence.step == 0 || presence.present) return true;
  char *expected = json_dumps(presence.is, JSON_COMPACT | JSON_ENCODE_ANY);
  fprintf(out,
          "step %zu: expect.%s: %s asserts that something is absent, and no step "
          "asserts that it was present; first assert that it is present\n",
          presence.step, presence.path, expected ? expected : "?");
  free(expected);
  return false;
}
