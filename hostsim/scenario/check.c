/* SPDX-License-Identifier: MIT
 *
 * scenario/check.c: checks the form of a scenario file: every key must be known and have the right
 * type, because a misspelt expectation would otherwise be ignored.
 */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

enum shape {
  TEXT,
  WHOLE,
  FLAG,
  OBJECT,
  LIST,
  TEXTS,
  TEXT_OR_TEXTS,
  TEXT_OR_LIST,
  TEXT_OR_NULL,
  WHOLE_OR_NULL,
  EMPTY
};

struct field {
  const char *name;
  enum shape shape;
  bool required;
};

static const char *const shape_names[] = {"a string",
                                          "a whole number",
                                          "true or false",
                                          "an object",
                                          "a list",
                                          "a list of strings",
                                          "a string or a list of strings",
                                          "a list or \"$offer\"",
                                          "a string or null",
                                          "a whole number or null",
                                          "an empty object"};

static const struct field file_fields[] = {{"name", TEXT, true},
                                           {"config", OBJECT, false},
                                           {"host_name", TEXT, false},
                                           {"steps", LIST, true},
                                           {NULL, TEXT, false}};

static const struct field tool_result_fields[] = {{"session", TEXT, true}, {"call_id", TEXT, false},
                                                  {"tool", TEXT, false},   {"content", TEXT, false},
                                                  {"room", WHOLE, false},  {NULL, TEXT, false}};

static const struct field chat_request_fields[] = {
    {"session", TEXT, true},           {"source", TEXT, false}, {"content", TEXT, false},
    {"messages", TEXT_OR_LIST, false}, {"room", WHOLE, false},  {NULL, TEXT, false}};

static const struct field settle_fields[] = {
    {"delivery", TEXT, true}, {"outcome", TEXT, true}, {NULL, TEXT, false}};
static const struct field crash_fields[] = {
    {"at", TEXT, false}, {"n", WHOLE, false}, {NULL, TEXT, false}};

static const struct field reply_expectations[] = {
    {"content", TEXT, false},
    {"content_contains", TEXTS, false},
    {"content_lacks", TEXTS, false},
    {"notifications", LIST, false},
    {"messages", LIST, false},
    {"actions", LIST, false},
    {"steered", TEXT_OR_LIST, false},
    {"status", OBJECT, false},
    {"delivery", TEXT_OR_NULL, false},
    {"duplicate", FLAG, false},
    {"wake_at", WHOLE_OR_NULL, false},
    {"ledger_contains", TEXTS, false},
    {"ledger_lacks", TEXTS, false},
    {"error", TEXT, false},
    {"error_contains", TEXT_OR_TEXTS, false},
    {NULL, TEXT, false},
};

static const struct verb {
  const char *name;
  const struct field *fields; /* an object's fields; NULL: anything is allowed */
  enum shape shape;
  bool calls; /* the step calls the plugin: it may have expectations, and may die */
} verbs[] = {
    {"event", NULL, OBJECT, true},
    {"event_raw", NULL, TEXT, true},
    {"tool_result", tool_result_fields, OBJECT, true},
    {"chat_request", chat_request_fields, OBJECT, true},
    {"settle", settle_fields, OBJECT, true},
    {"query", NULL, OBJECT, true},
    {"advance_ms", NULL, WHOLE, false},
    {"restart", NULL, EMPTY, false},
    {"crash", crash_fields, OBJECT, false},
    {"swap", NULL, EMPTY, false},
};

struct check {
  FILE *out;
  size_t step; /* the step's number from 1; 0: the file itself */
  bool failed;
};

static void complain(struct check *check, const char *where, const char *key, const char *problem) {
  check->failed = true;
  if (check->step > 0) fprintf(check->out, "step %zu: ", check->step);
  fprintf(check->out, "%s%s%s%s%s\n", where, where[0] != '\0' && key[0] != '\0' ? "." : "", key,
          where[0] != '\0' || key[0] != '\0' ? ": " : "", problem);
}

static bool all_strings(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_string(json_array_get(list, i))) return false;
  return json_is_array(list);
}

static bool has_shape(const json_t *value, enum shape shape) {
  switch (shape) {
  case TEXT: return json_is_string(value);
  case WHOLE: return json_is_integer(value);
  case FLAG: return json_is_boolean(value);
  case OBJECT: return json_is_object(value);
  case LIST: return json_is_array(value);
  case TEXTS: return all_strings(value);
  case TEXT_OR_TEXTS: return json_is_string(value) || all_strings(value);
  case TEXT_OR_LIST:
    return all_strings(value) ||
           (json_is_string(value) && strcmp(json_string_value(value), "$offer") == 0);
  case TEXT_OR_NULL: return json_is_string(value) || json_is_null(value);
  case WHOLE_OR_NULL: return json_is_integer(value) || json_is_null(value);
  case EMPTY: return json_is_object(value) && json_object_size(value) == 0;
  }
  return false;
}

static void check_shape(struct check *check, const char *where, const char *key,
                        const json_t *value, enum shape shape) {
  if (!has_shape(value, shape)) {
    char problem[64];
    snprintf(problem, sizeof problem, "must be %s", shape_names[shape]);
    complain(check, where, key, problem);
  }
}

static const struct field *find_field(const struct field *fields, const char *name) {
  while (fields->name && strcmp(fields->name, name) != 0) fields++;
  return fields->name ? fields : NULL;
}

static void check_object(struct check *check, const char *where, json_t *object,
                         const struct field *fields) {
  for (const struct field *field = fields; field->name; field++)
    if (field->required && !json_object_get(object, field->name))
      complain(check, where, field->name, "is missing");
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(object, key, value) {
    const struct field *field = find_field(fields, key);
    if (!field) complain(check, where, key, "unknown key");
    else check_shape(check, where, key, value, field->shape);
  }
}

static const struct verb *find_verb(const char *name) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
  return NULL;
}

static bool is_carrier(const json_t *step) {
  return json_object_get(step, "tool_result") || json_object_get(step, "chat_request");
}

const char *scenario_verb(const json_t *step) {
  const char *found = NULL;
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
    if (!json_object_get(step, verbs[i].name) ||
        (strcmp(verbs[i].name, "settle") == 0 && is_carrier(step)))
      continue;
    if (found) return NULL;
    found = verbs[i].name;
  }
  return found;
}

static void check_word(struct check *check, const char *where, const char *key, const json_t *value,
                       const char *const words[]) {
  const char *text = json_string_value(value);
  char problem[128] = "must be one of";
  for (size_t i = 0; words[i]; i++) {
    if (!text || strcmp(text, words[i]) == 0) return;
    size_t len = strlen(problem);
    snprintf(problem + len, sizeof problem - len, "%s %s", i > 0 ? "," : "", words[i]);
  }
  complain(check, where, key, problem);
}

static void check_values(struct check *check, const char *name, const json_t *value) {
  static const char *const sources[] = {"user", "system", NULL};
  static const char *const outcomes[] = {"committed", "rolled_back", NULL};
  static const char *const points[] = {"commit", NULL};
  if (json_integer_value(json_object_get(value, "room")) < 0)
    complain(check, name, "room", "must be 0 or more bytes");
  if (strcmp(name, "chat_request") == 0) {
    check_word(check, name, "source", json_object_get(value, "source"), sources);
  } else if (strcmp(name, "settle") == 0) {
    check_word(check, name, "outcome", json_object_get(value, "outcome"), outcomes);
  } else if (strcmp(name, "query") == 0 && !json_is_string(json_object_get(value, "name"))) {
    complain(check, name, "name", "must be a string");
  } else if (strcmp(name, "crash") == 0) {
    check_word(check, name, "at", json_object_get(value, "at"), points);
    if ((!json_object_get(value, "at")) != (!json_object_get(value, "n")))
      complain(check, name, "", "`at` and `n` go together");
    else if (json_object_get(value, "n") && json_integer_value(json_object_get(value, "n")) < 1)
      complain(check, name, "n", "must be 1 or more");
  }
}

static void check_around(struct check *check, json_t *step, const struct verb *verb) {
  static const char *const endings[] = {"committed", "rolled_back", "none", NULL};
  static const char *const actors[] = {"second", "producer", NULL};
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(step, key, value) {
    if (strcmp(key, verb->name) == 0) continue;
    if (strcmp(key, "settle") == 0 && is_carrier(step)) {
      check_shape(check, "", key, value, TEXT);
      check_word(check, "", key, value, endings);
    } else if (strcmp(key, "as") == 0 && (verb->calls || strcmp(verb->name, "crash") == 0)) {
      check_shape(check, "", key, value, TEXT);
      check_word(check, "", key, value, actors);
      if (json_object_get(json_object_get(step, "crash"), "at"))
        complain(check, "", key, "belongs to the next step, in which the process dies");
    } else if (strcmp(key, "expect") == 0 && verb->calls) {
      check_shape(check, "", key, value, OBJECT);
      if (json_is_object(value) && strcmp(verb->name, "query") != 0)
        check_object(check, key, value, reply_expectations);
    } else {
      complain(check, "", key, "unknown key");
    }
  }
}

static void check_step(struct check *check, json_t *step) {
  if (!json_is_object(step)) {
    complain(check, "", "", "must be an object");
    return;
  }
  const char *name = scenario_verb(step);
  const struct verb *verb = name ? find_verb(name) : NULL;
  if (!verb) {
    char *text = json_dumps(step, JSON_COMPACT);
    fprintf(check->out, "step %zu: unknown step, or more than one in it: %s\n", check->step,
            text ? text : "");
    free(text);
    check->failed = true;
    return;
  }
  json_t *value = json_object_get(step, name);
  check_shape(check, "", name, value, verb->shape);
  if (json_is_object(value) && verb->fields) check_object(check, name, value, verb->fields);
  check_values(check, name, value);
  check_around(check, step, verb);
}

/* A step that dies inside a commit must be one that makes a commit. */
static void check_crash_target(struct check *check, const json_t *step, const json_t *next) {
  const json_t *crash = json_object_get(step, "crash");
  if (!json_object_get(crash, "at")) return;
  const char *name = next ? scenario_verb(next) : NULL;
  const struct verb *verb = name ? find_verb(name) : NULL;
  if (!verb || !verb->calls)
    complain(check, "crash", "at", "the next step must be one that calls the plugin");
}

bool scenario_check(json_t *scenario, FILE *out) {
  struct check check = {.out = out};
  if (!json_is_object(scenario)) {
    complain(&check, "", "", "a scenario is an object");
    return false;
  }
  check_object(&check, "", scenario, file_fields);
  const json_t *steps = json_object_get(scenario, "steps");
  for (size_t i = 0; i < json_array_size(steps); i++) {
    check.step = i + 1;
    check_step(&check, json_array_get(steps, i));
    check_crash_target(&check, json_array_get(steps, i), json_array_get(steps, i + 1));
  }
  return !check.failed;
}
