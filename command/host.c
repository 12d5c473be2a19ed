/* SPDX-License-Identifier: MIT
 */
#include "command/host.h"

#include <stdlib.h>
#include <string.h>

#include "command/ask.h"
#include "command/owner.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session.h"

static int find_owner(const struct cli *cli, struct hostkit *kit, const char *session,
                      uint32_t *ret_owner) {
  json_t *status = NULL;
  int code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status);
  if (code) return code;
  const json_t *owner = json_object_get(status, "attachment");
  uint32_t pid = (uint32_t)json_value_count(owner, "pid");
  bool theirs = json_is_true(json_object_get(owner, "alive")) && owner_is_above(pid);
  *ret_owner = theirs ? pid : owner_of_caller();
  json_decref(status);
  return 0;
}

/* If no session is given, finds it by a query, which any process may send. */
static int find(const struct cli *cli, char **session, uint32_t *owner) {
  struct hostkit *kit = NULL;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code && !*session) code = session_choose(cli, kit, session);
  else if (!code && cli->session && !cli->create) code = session_complete_or_new(cli, kit, session);
  if (!code && !*owner) code = find_owner(cli, kit, *session, owner);
  kit_close(kit);
  return code;
}

int host_open(const struct cli *cli, const char *named, uint32_t *owner, struct hostkit **ret_kit,
              char **ret_session) {
  if (!named) named = session_named(cli);
  int code = named ? session_check(cli, named) : 0;
  char *session = named && !code ? strdup(named) : NULL;
  if (!code && named && !session) code = cli_fail(cli, "out of memory");
  if (!code && (!session || !*owner || session_may_be_short(session)))
    code = find(cli, &session, owner);
  if (!code) code = kit_open_or_say(cli, TIDINGS_ROLE_HOST, *owner, ret_kit);
  if (code) {
    free(session);
    return code;
  }
  project_lay_here(cli, *ret_kit, session);
  *ret_session = session;
  return 0;
}

int host_read_owner(const struct cli *cli, uint32_t *ret_owner) {
  struct process process;
  uint64_t pid = 0;
  if (cli_number(cli->value, 1, INT32_MAX, &pid))
    return cli_usage(cli, "--owner: '%s' is not a process id", cli->value);
  if (owner_look_up((uint32_t)pid, &process))
    return cli_fail(cli, "--owner: there is no process %s", cli->value);
  *ret_owner = (uint32_t)pid;
  return 0;
}
