/* SPDX-License-Identifier: MIT
 *
 * config_tools.c: are the kinds that a configuration names for a tool among those that the tool has
 * declared in a session?
 */
#include "cli/config_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of reports of handles, commands and changed files, whatever a tool declares. */
static const char *const reported_kinds[] = {"stopped", "waiting", "failed", "finished", "changed"};
enum { REPORTED_KINDS = sizeof reported_kinds / sizeof *reported_kinds };

static bool has_declared(const json_t *kinds, const char *name) {
  const json_t *kind = NULL;
  size_t i = 0;
  json_array_foreach(kinds, i, kind) {
    if (strcmp(name, json_string_value(kind)) == 0) return true;
  }
  return false;
}

static bool is_reported(const char *name) {
  for (size_t i = 0; i < REPORTED_KINDS; i++) {
    if (strcmp(name, reported_kinds[i]) == 0) return true;
  }
  return false;
}

static int32_t refuse_key(const char *tool, const char *name, const json_t *kinds,
                          struct tidings_error *error) {
  const json_t *kind = NULL;
  char *known = NULL;
  size_t i = 0, len = 0;
  FILE *out = open_memstream(&known, &len);
  if (!out) return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  json_array_foreach(kinds, i, kind) fprintf(out, "%s%s", i ? ", " : "", json_string_value(kind));
  for (i = 0; i < REPORTED_KINDS; i++) {
    if (!has_declared(kinds, reported_kinds[i])) fprintf(out, ", %s", reported_kinds[i]);
  }
  int32_t code = fclose(out)
                     ? kit_error(error, TIDINGS_E_NOMEM, "out of memory")
                     : kit_error(error, TIDINGS_E_SCHEMA,
                                 "conversation.tools.%s.notifications.%s: the tool has declared no "
                                 "such kind; expected one of %s",
                                 tool, name, known);
  free(known);
  return code;
}

static int32_t check_tool(const json_t *config, const json_t *declared,
                          struct tidings_error *error) {
  const char *tool = json_string_value(json_object_get(declared, "tool")), *name = NULL;
  const json_t *kinds = json_object_get(declared, "kinds");
  json_t *tools = json_object_get(json_object_get(config, "conversation"), "tools");
  json_t *rules = json_object_get(json_object_get(tools, tool), "notifications"), *value = NULL;
  json_object_foreach(rules, name, value) {
    if (!has_declared(kinds, name) && !is_reported(name))
      return refuse_key(tool, name, kinds, error);
  }
  return 0;
}

static int32_t ask_tools(const struct cli *cli, const char *session, json_t **ret_answer,
                         struct tidings_error *error) {
  struct cli plain = *cli;
  struct hostkit *kit = NULL;
  plain.no_config = true;
  plain.config = NULL;
  int32_t code = kit_open(&plain, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
  if (!code)
    code = kit_query(kit, json_pack("{s:s, s:s}", "name", "tools", "session", session), ret_answer,
                     error);
  kit_close(kit);
  return code;
}

int32_t config_check_tools(const struct cli *cli, const char *session, struct hostkit *kit,
                           struct tidings_error *error) {
  json_t *configured = NULL, *answer = NULL;
  const json_t *declared = NULL;
  size_t i = 0;
  int32_t code = kit_query(kit, json_pack("{s:s}", "name", "configure"), &configured, error);
  if (!code) code = ask_tools(cli, session, &answer, error);
  if (code) goto out;
  json_array_foreach(json_object_get(answer, "tools"), i, declared) {
    code = check_tool(json_object_get(configured, "config"), declared, error);
    if (code) break;
  }
out:
  json_decref(configured);
  json_decref(answer);
  return code;
}
