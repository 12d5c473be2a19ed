/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_look.c: finds out from Codex's files whether it trusts the hooks of tidings.
 * They have the table [hooks.state."FILE:EVENT:GROUP:HOOK"] with a hash for each trusted hook,
 * where events have names such as "post_tool_use".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "command/json_value.h"

bool setup_place_is_of(const struct setup_place *place, const char *event) {
  const char *spelled = place->event.ptr, *end = spelled + place->event.len;
  for (; *event; event++, spelled++) {
    while (spelled < end && *spelled == '_') spelled++;
    if (spelled == end || tolower((unsigned char)*event) != tolower((unsigned char)*spelled))
      return false;
  }
  return spelled == end;
}

/* Finds the colon before the last `count` fields; NULL: the key has fewer. */
static const char *colon_before(const char *key, size_t count) {
  const char *at = key + strlen(key);
  while (count && at > key) count -= *--at == ':';
  return count ? NULL : at;
}

/* Reads ":2", and moves past it. */
static bool read_number(const char **at, size_t *ret_number) {
  const char *digits = *at + 1;
  char *end = NULL;
  if (**at != ':' || !isdigit((unsigned char)*digits)) return false;
  *ret_number = strtoul(digits, &end, 10);
  *at = end;
  return true;
}

bool setup_place_read(const char *key, const char *hooks_path, struct setup_place *ret_place) {
  const char *file_end = colon_before(key, 3), *at = colon_before(key, 2);
  if (!file_end) return false;
  struct setup_place place = {.event = span_of(file_end + 1, (size_t)(at - file_end - 1))};
  if (!read_number(&at, &place.group) || !read_number(&at, &place.hook) || *at) return false;
  char *file = strndup(key, (size_t)(file_end - key));
  bool same = file && setup_same_file(file, hooks_path);
  free(file);
  if (same) *ret_place = place;
  return same;
}

static bool is_trusted(const json_t *state, const char *hooks_path, const char *event, size_t group,
                       size_t hook) {
  const char *key = NULL;
  const json_t *table = NULL;
  struct setup_place place;
  json_object_foreach((json_t *)(uintptr_t)state, key, table) {
    if (json_value_text(table, "trusted_hash")[0] && setup_place_read(key, hooks_path, &place) &&
        setup_place_is_of(&place, event) && place.group == group && place.hook == hook)
      return true;
  }
  return false;
}

static size_t count_untrusted(const struct host *host, const json_t *groups, const char *event,
                              const char *hooks_path, const json_t *state) {
  size_t count = 0, i = 0, k = 0;
  const json_t *group = NULL, *hook = NULL;
  json_array_foreach(groups, i, group) {
    json_array_foreach(json_object_get(group, "hooks"), k, hook) {
      count += setup_is_our_hook(host, json_value_text(hook, "command")) &&
               !is_trusted(state, hooks_path, event, i, k);
    }
  }
  return count;
}

int setup_trust_look(const struct host *host, const char *hooks_path, const char *hooks,
                     const char *trusted, size_t *ret_untrusted) {
  json_t *config = setup_trust_read(trusted ? trusted : "", NULL),
         *value = config ? json_loads(hooks, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
  const json_t *state = json_object_get(json_object_get(config, "hooks"), "state");
  json_t *events = json_object_get(value, "hooks"), *groups = NULL;
  const char *event = NULL;
  size_t count = 0;
  json_object_foreach(events, event, groups) {
    count += count_untrusted(host, groups, event, hooks_path, state);
  }
  bool known = config && value;
  json_decref(value);
  json_decref(config);
  if (!known) return -1;
  *ret_untrusted = count;
  return 0;
}
