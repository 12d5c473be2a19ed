/* SPDX-License-Identifier: MIT
 *
 * agents/call/field.c: see the header.
 */
#include "agents/call/field.h"

#include <string.h>

static bool is_empty(const json_t *value) {
  return !value || (json_is_string(value) && !json_string_length(value));
}

json_t *hook_field(const struct host *host, const json_t *input, enum host_field field) {
  char name[64];
  const char *names = host_field_names(host, field);
  json_t *value = NULL;
  for (size_t len; is_empty(value) && (len = strcspn(names, " ")) && len < sizeof name;
       names += len + (names[len] == ' ')) {
    memcpy(name, names, len);
    name[len] = '\0';
    json_t *next = json_object_get(input, name);
    if (next) value = next;
  }
  return value;
}

const char *hook_field_text(const struct host *host, const json_t *input, enum host_field field) {
  const char *text = json_string_value(hook_field(host, input, field));
  return text ? text : "";
}
