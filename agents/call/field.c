/* SPDX-License-Identifier: MIT
 */
#include "agents/call/field.h"

#include <string.h>

static bool is_empty(const json_t *value) {
  return !value || (json_is_string(value) && !json_string_length(value));
}

json_t *hook_member(const json_t *object, const char *names) {
  char name[64];
  json_t *value = NULL;
  for (size_t len; names && is_empty(value) && (len = strcspn(names, " ")) && len < sizeof name;
       names += len + (names[len] == ' ')) {
    memcpy(name, names, len);
    name[len] = '\0';
    json_t *next = json_object_get(object, name);
    if (next) value = next;
  }
  return value;
}

const char *hook_member_text(const json_t *object, const char *names) {
  const char *text = json_string_value(hook_member(object, names));
  return text ? text : "";
}

json_t *hook_field(const struct host *host, const json_t *input, enum host_field field) {
  return hook_member(input, host_field_names(host, field));
}

const char *hook_field_text(const struct host *host, const json_t *input, enum host_field field) {
  return hook_member_text(input, host_field_names(host, field));
}
