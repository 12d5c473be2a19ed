/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_look.c: finds out from Codex's files whether it trusts the hooks of tidings.
 * They have a table [hooks.state."FILE:EVENT:GROUP:HOOK"] with a hash for each trusted hook, where
 * events have names such as "post_tool_use".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "command/json_value.h"

/* Compares names of an event: Codex spells "PostToolUse" as "post_tool_use" there. */
static bool is_same_event(const char *event, const char *spelled, size_t len) {
  const char *end = spelled + len;
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

static bool is_key_of(const char *key, const char *hooks_path, const char *event, size_t group,
                      size_t hook) {
  char place[64];
  const char *file_end = colon_before(key, 3), *event_end = colon_before(key, 2);
  (void)snprintf(place, sizeof place, ":%zu:%zu", group, hook);
  if (!file_end || strcmp(event_end, place) != 0 ||
      !is_same_event(event, file_end + 1, (size_t)(event_end - file_end - 1)))
    return false;
  char *file = strndup(key, (size_t)(file_end - key));
  bool same = file && setup_same_file(file, hooks_path);
  free(file);
  return same;
}

static bool is_trusted(const json_t *state, const char *hooks_path, const char *event, size_t group,
                       size_t hook) {
  const char *key = NULL;
  const json_t *table = NULL;
  json_object_foreach((json_t *)(uintptr_t)state, key, table) {
    if (json_value_text(table, "trusted_hash")[0] && is_key_of(key, hooks_path, event, group, hook))
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
