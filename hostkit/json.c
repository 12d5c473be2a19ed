/* SPDX-License-Identifier: MIT
 */
#include "json.h"

#include "errors.h"

/* The contract allows events 16 levels; a request contains an event. */
static const struct json_rules rules = {.max_depth = 64, .nul = true};

int32_t hk_json_read_object(struct tidings_span text, const char *name, struct arena *arena,
                            const struct json **ret_object, struct tidings_error *error) {
  const struct json *value = NULL;
  int32_t code = json_read_by(&rules, text, name, arena, &value, error);
  if (code) return code;
  if (value->kind != JSON_IS_OBJECT)
    return hk_error(error, TIDINGS_E_INVAL, "%s is JSON but not an object", name);
  *ret_object = value;
  return TIDINGS_OK;
}

void hk_json_put_text_or_null(struct json_writer *writer, const char *key,
                              struct tidings_span text) {
  if (text.len) json_put_string(writer, key, text);
  else json_put_text(writer, key, NULL);
}

void hk_json_put_value(struct json_writer *writer, const char *key, struct tidings_span text) {
  struct arena arena = ARENA_EMPTY;
  const struct json *value = NULL;
  struct tidings_span compact = {NULL, 0};
  int code = text.len ? json_read_by(&rules, text, "a value", &arena, &value, NULL) : TIDINGS_OK;
  if (value && json_compact(value, &arena, &compact)) code = TIDINGS_E_NOMEM;
  if (code == TIDINGS_E_NOMEM) writer->out->failed = true;
  else if (value) json_put_raw(writer, key, compact);
  else hk_json_put_text_or_null(writer, key, text);
  arena_free(&arena);
}
