/* SPDX-License-Identifier: MIT
 *
 * event/event_data.c: functions that the readers of data share. Knows no event type.
 */
#include "event/event_data.h"

#include <string.h>

#include "common/error.h"
#include "common/utf8.h"

const struct path event_data = {NULL, {"data", 4}};

/* Describes the fields that a type requires. field_choice describes a list of choices. */
static const char *expectation_of(const char *name) {
  static const struct {
    const char *name, *expected;
  } fields[] = {{"command", "the command as it was typed, such as \"make -j8\""},
                {"handle", "the name of a handle, such as \"h_3\""},
                {"tool", "the name of a tool, such as \"cargo_check\""},
                {"kinds", "an array of names, such as [\"stopped\"]"},
                {"server", "the name of a server, such as \"github\""},
                {"summary", "a string"},
                {"slug", "the name of a subagent, such as \"research\""},
                {"used", "a number of tokens"},
                {"limit", "a number of tokens"},
                {"retry_after_ms", "a number of milliseconds"}};
  size_t i = 0;
  while (i + 1 < sizeof fields / sizeof *fields && strcmp(fields[i].name, name) != 0) i++;
  return strcmp(fields[i].name, name) == 0 ? fields[i].expected : "a value";
}

int event_data_members(const struct data_input *input, const char *const *names, size_t count,
                       size_t required, const struct json **slots) {
  static const struct json none = {.kind = JSON_IS_OBJECT};
  const struct member_names known = {names, count, "field"};
  const struct json *data = input->data ? input->data : &none;
  int code = field_object(NULL, data, input->error);
  if (!code) code = field_members(&event_data, data, &known, slots, input->error);
  for (size_t i = 0; i < required && !code; i++) {
    if (!slots[i])
      code = field_missing(&event_data, names[i], expectation_of(names[i]), input->error);
  }
  return code;
}

int event_read_no_data(const struct data_input *input, struct event *event) {
  (void)event;
  return event_data_members(input, NULL, 0, 0, NULL);
}

int event_read_due(const struct json *value, int64_t *ret_ms, struct tidings_error *error) {
  const int64_t year_10000_ms = 253402300800000;
  return value ? field_integer(&event_data, value, 1, year_10000_ms - 1, ret_ms, error) : 0;
}

int field_message_id(const struct path *parent, const struct json *value, struct tidings_span *ret,
                     struct tidings_error *error) {
  struct path path = field_place(parent, value);
  struct tidings_span id;
  int code = field_string(parent, value, SIZE_MAX, &id, error);
  if (!code) code = message_id_check(id, field_path_text(&path).text, TIDINGS_E_SCHEMA, error);
  if (!code) *ret = id;
  return code;
}

int field_clean_string(const struct path *parent, const struct json *value, bool may_be_empty,
                       struct tidings_span *ret, struct tidings_error *error) {
  struct path path = field_place(parent, value);
  struct tidings_span text;
  int code = field_string(parent, value, SMALL_STRING_BYTES, &text, error);
  if (code) return code;
  if (!text.len && !may_be_empty)
    return fail(error, TIDINGS_E_SCHEMA, "%s: must not be empty", field_path_text(&path).text);
  for (size_t at = 0; at < text.len;) {
    uint32_t code_point = 0;
    at += utf8_decode(text, at, &code_point);
    if (utf8_is_control(code_point))
      return fail(error, TIDINGS_E_SCHEMA, "%s: %s has the control character U+%04X",
                  field_path_text(&path).text, quote(text).text, (unsigned)code_point);
  }
  *ret = text;
  return 0;
}

bool event_is_blank(struct tidings_span text) {
  for (size_t i = 0; i < text.len; i++) {
    char byte = text.ptr[i];
    if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n') return false;
  }
  return true;
}
