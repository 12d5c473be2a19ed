/* SPDX-License-Identifier: MIT
 *
 * event/declared_data.c: the data of `tools.declared`.
 */
#include "common/error.h"
#include "event/event_data.h"

static int read_declared_name(const struct path *parent, const struct json *value,
                              struct tidings_span *ret, struct tidings_error *error) {
  struct path path = field_place(parent, value);
  struct tidings_span name;
  int code = field_clean_string(parent, value, false, &name, error);
  if (code) return code;
  if (name.len > DECLARED_NAME_BYTES)
    return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %d",
                field_path_text(&path).text, name.len, DECLARED_NAME_BYTES);
  *ret = name;
  return 0;
}

static int check_kind_is_new(const struct tidings_span *kinds, size_t at,
                             struct tidings_error *error) {
  for (size_t i = 0; i < at; i++) {
    if (span_equal(kinds[i], kinds[at]))
      return fail(error, TIDINGS_E_SCHEMA, "data.kinds: %s appears twice", quote(kinds[at]).text);
  }
  return 0;
}

static int read_kinds(const struct data_input *input, const struct json *list,
                      struct declaration *declared) {
  struct path path = field_place(&event_data, list);
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(&event_data, list, "an array of names, such as \"stopped\"", input->error);
  if (list->count > DECLARED_KINDS)
    return fail(input->error, TIDINGS_E_TOO_BIG,
                "data.kinds: %zu kinds are over the limit of %d for a tool", list->count,
                DECLARED_KINDS);
  struct tidings_span *kinds = arena_zalloc(input->arena, list->count, sizeof *kinds);
  if (!kinds) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  size_t count = 0;
  for (const struct json *one = list->members; one; one = one->next, count++) {
    int code = read_declared_name(&path, one, &kinds[count], input->error);
    if (!code) code = check_kind_is_new(kinds, count, input->error);
    if (code) return code;
  }
  declared->kinds = kinds;
  declared->kind_count = count;
  return 0;
}

int event_read_tools_declared(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"tool", "kinds"};
  const struct json *slots[2] = {NULL};
  int code = event_data_members(input, names, 2, 2, slots);
  if (!code) code = read_declared_name(&event_data, slots[0], &event->declared.tool, input->error);
  return code ? code : read_kinds(input, slots[1], &event->declared);
}
