/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/wait_away.c: a process that waits to wake an agent cannot reach its store for
 * a moment. The linker puts __wrap_hostkit_next_session in place of hostkit_next_session, which
 * then fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/turn/turns.h"
#include "agents/wait/wait.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static int32_t code; /* of the next calls */
static int left;     /* how many fail */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-*): names that the linker gives */
int32_t __real_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error) {
  if (!left) return __real_hostkit_next_session(kit, buffer, size, ret_len, ret_error);
  left--;
  return kit_error(ret_error, code, "the store is away");
}
/* NOLINTEND(bugprone-reserved-identifier,cert-*) */

static void push_critical(struct hostkit *kit) {
  json_t *note = json_pack("{s:s, s:s, s:s}", "message", "the disk is full", "kind", "disk.full",
                           "level", "critical");
  MUST(kit_event(kit, kit_new_event("notification", "s", note), NULL, &error) == TIDINGS_OK);
}

static void open_session(struct hostkit *kit) {
  json_t *data = json_pack("{s:s}", "host", "Claude Code");
  MUST(kit_event(kit, kit_new_event("session.opened", "s", data), NULL, &error) == TIDINGS_OK);
}

int main(void) {
  static const struct cli_program program = {.name = "test"};
  static char store[4096];
  race_make_folder("wait-away");
  (void)snprintf(store, sizeof store, "%s/store", race_folder);
  MUST(!setenv("XDG_STATE_HOME", race_folder, 1) && !setenv("CLAUDE_CODE_ENTRYPOINT", "cli", 1));
  struct hostkit *kit = race_open_kit(&error);
  open_session(kit);
  push_critical(kit);
  kit_close(kit);
  struct cli cli = {.verb = &verb_hook,
                    .program = &program,
                    .store = store,
                    .no_config = true,
                    .budget_ms = 60000};
  const struct hook_call call = {.host = host_find("claude"),
                                 .known = true,
                                 .moment = HOOK_STOP,
                                 .event = "Stop",
                                 .session = "s",
                                 .cwd = "",
                                 .source = "",
                                 .prompt = "",
                                 .transcript = ""};
  code = TIDINGS_E_STORE;
  left = 2;
  MUST(hook_wait_rewake(&cli, &call, (uint32_t)getpid()) == 2 && !left);
  printf("ok 1 - it tries again, and wakes the agent\n1..1\n");
  return 0;
}
