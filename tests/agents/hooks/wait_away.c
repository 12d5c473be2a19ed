/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/wait_away.c: a process that waits to wake an agent cannot reach its store for
 * a moment, or the clock is set back. The linker replaces hostkit_next_session by
 * __wrap_hostkit_next_session, which fails, and clock_wall_ms by __wrap_clock_wall_ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/turn/turns.h"
#include "agents/wait/wait.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static int32_t code;                  /* of the next calls */
static int left;                      /* how many fail */
static int64_t back_ms, next_back_ms; /* the clock is set back by so much: now, at the next call */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-*): names that the linker gives */
int32_t __real_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_next_session(struct hostkit *kit, char *buffer, size_t size, size_t *ret_len,
                                    struct tidings_error *ret_error) {
  back_ms = next_back_ms;
  if (!left) return __real_hostkit_next_session(kit, buffer, size, ret_len, ret_error);
  left--;
  return kit_error(ret_error, code, "the store is away");
}

int64_t __real_clock_wall_ms(void);
int64_t __wrap_clock_wall_ms(void);
int64_t __wrap_clock_wall_ms(void) { return __real_clock_wall_ms() - back_ms; }
/* NOLINTEND(bugprone-reserved-identifier,cert-*) */

static void send(struct hostkit *kit, const char *type, json_t *data) {
  MUST(kit_event(kit, kit_new_event(type, "s", data), NULL, &error) == TIDINGS_OK);
}

/* A message waits, which the end of a turn has kept back. */
static void keep_back(void) {
  struct hostkit *kit = race_open_kit(&error);
  send(kit, "message.submitted", json_pack("{s:s, s:s}", "id", "m", "content", "Deploy."));
  send(kit, "turn.declined", json_object());
  kit_close(kit);
}

int main(void) {
  static const struct cli_program program = {.name = "test"};
  static char store[4096];
  race_make_folder("wait-away");
  (void)snprintf(store, sizeof store, "%s/store", race_folder);
  MUST(!setenv("XDG_STATE_HOME", race_folder, 1) && !setenv("CLAUDE_CODE_ENTRYPOINT", "cli", 1));
  struct hostkit *kit = race_open_kit(&error);
  send(kit, "session.opened", json_pack("{s:s}", "host", "Claude Code"));
  send(kit, "notification",
       json_pack("{s:s, s:s, s:s}", "message", "the disk is full", "kind", "disk.full", "level",
                 "critical"));
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
  printf("ok 1 - it tries again, and wakes the agent\n");
  keep_back();
  next_back_ms = 3600000;
  MUST(hook_wait_rewake(&cli, &call, (uint32_t)getpid()) == 2 && back_ms);
  printf("ok 2 - the clock is set back meanwhile: it does not wait until it has caught up\n1..2\n");
  return 0;
}
