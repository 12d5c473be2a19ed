/* SPDX-License-Identifier: MIT
 *
 * scenario/substitute.c: replaces "$last" and "$offer", which stand for values that a scenario
 * cannot know before it runs.
 */
#include "scenario/scenario.h"

#include <string.h>

struct names {
  const char *last;
  const json_t *offer;
  const char *missing;
};

static json_t *substitute(json_t *value, struct names *names);

static json_t *substitute_text(const json_t *value, struct names *names) {
  const char *text = json_string_value(value);
  if (strcmp(text, "$last") == 0) {
    if (!names->last) names->missing = "delivery";
    return names->last ? json_string(names->last) : NULL;
  }
  if (strcmp(text, "$offer") == 0) {
    if (!names->offer) names->missing = "offer";
    return names->offer ? json_deep_copy(names->offer) : NULL;
  }
  return json_deep_copy(value);
}

static json_t *substitute_list(const json_t *value, struct names *names) {
  json_t *copy = json_array();
  for (size_t i = 0; i < json_array_size(value); i++) {
    json_t *item = substitute(json_array_get(value, i), names);
    if (!item || json_array_append_new(copy, item) != 0) {
      json_decref(copy);
      return NULL;
    }
  }
  return copy;
}

static json_t *substitute_object(json_t *value, struct names *names) {
  json_t *copy = json_copy(value);
  const char *key = NULL;
  json_t *item = NULL;
  json_object_foreach(copy, key, item) {
    json_t *replaced = substitute(item, names);
    if (!replaced || json_object_set_new(copy, key, replaced) != 0) {
      json_decref(copy);
      return NULL;
    }
  }
  return copy;
}

static json_t *substitute(json_t *value, struct names *names) {
  switch (json_typeof(value)) {
  case JSON_STRING: return substitute_text(value, names);
  case JSON_ARRAY: return substitute_list(value, names);
  case JSON_OBJECT: return substitute_object(value, names);
  default: return json_deep_copy(value);
  }
}

json_t *scenario_substitute(json_t *value, const char *last, const json_t *offer,
                            const char **ret_missing) {
  struct names names = {.last = last, .offer = offer};
  json_t *copy = substitute(value, &names);
  if (!copy) *ret_missing = names.missing ? names.missing : "memory";
  return copy;
}
