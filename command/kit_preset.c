/* SPDX-License-Identifier: MIT
 */
#include "command/kit_preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

static int begin_object(const char *config, const struct json *object, const char *member,
                        char **ret_text) {
  size_t at = object->start + 1;
  const char *comma = object->count ? "," : "";
  return asprintf(ret_text, "%.*s%s%s%s", (int)at, config, member, comma, config + at) < 0 ? -1 : 0;
}

static int put_into(const char *config, const struct json *root, const char *preset,
                    char **ret_text) {
  const struct json *delivery = json_member(root, "delivery");
  char member[128];
  if (delivery && (delivery->kind != JSON_IS_OBJECT || json_member(delivery, "preset")))
    return (*ret_text = strdup(config)) ? 0 : -1;
  (void)snprintf(member, sizeof member,
                 delivery ? "\"preset\":\"%s\"" : "\"delivery\":{\"preset\":\"%s\"}", preset);
  return begin_object(config, delivery ? delivery : root, member, ret_text);
}

int kit_put_preset(const char *config, const char *preset, char **ret_text) {
  const char *text = config ? config : "{}";
  struct arena arena = ARENA_EMPTY;
  const struct json *root = NULL;
  char *with = NULL;
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .comments = true};
  int unread = json_read_by(&rules, span_text(text), "configuration", &arena, &root, NULL);
  int code = unread == TIDINGS_E_NOMEM ? -1 : 0;
  if (!code && (unread || root->kind != JSON_IS_OBJECT)) code = (with = strdup(text)) ? 0 : -1;
  else if (!code) code = put_into(text, root, preset, &with);
  arena_free(&arena);
  if (!code) *ret_text = with;
  return code;
}
