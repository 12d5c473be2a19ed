/* SPDX-License-Identifier: MIT
 *
 * agents/wait/after_end.c: settles like a process that resumes the session. If another process has
 * resumed it meanwhile, that one settles.
 */
#include "agents/wait/after_end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/deliver/status.h"
#include "agents/turn/turns.h"
#include "agents/wait/apart.h"
#include "command/interrupt.h"

enum { ENDING_MS = 60000, TRIES = 20, BUSY_MS = 100 };

/* If this offers a turn, no host takes it, and the session's next host gets the offer again. */
static int32_t settle_as_host(struct cli *cli, const struct hook_call *call,
                              struct tidings_error *error) {
  struct hook_answer answer = {.output = NULL};
  struct hostkit *kit = NULL;
  int32_t code = kit_open(cli, TIDINGS_ROLE_HOST, 0, &kit, error);
  if (!code) code = hook_answer_call(kit, call, 0, &answer, error);
  if (!code) code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  json_decref(answer.output);
  kit_close(kit);
  return code;
}

static void wait_and_settle(struct cli *cli, struct hook_call *call, int owner_fd) {
  struct tidings_error error = {.size = sizeof error};
  struct pollfd ended = {.fd = owner_fd, .events = POLLIN};
  interrupt_begin();
  if (interrupt_poll(&ended, 1, ENDING_MS) <= 0) return;
  call->moment = HOOK_OTHER;
  call->seen = NULL;
  for (int i = 0; i < TRIES; i++) {
    int32_t code = settle_as_host(cli, call, &error);
    if (code != TIDINGS_E_BUSY && code != TIDINGS_E_OWNED) break;
    (void)interrupt_poll(NULL, 0, BUSY_MS);
  }
}

void hook_settle_after_end(struct cli *cli, struct hook_call *call, uint32_t owner) {
  int owner_fd = owner ? (int)syscall(SYS_pidfd_open, (pid_t)owner, 0) : -1;
  if (owner_fd < 0) return;
  if (hook_fork_apart()) {
    wait_and_settle(cli, call, owner_fd);
    _exit(EXIT_DONE);
  }
  close(owner_fd);
}
