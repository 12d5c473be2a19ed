/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/again.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/turn/start.h"
#include "agents/turn/stop.h"
#include "agents/turn/turns.h"
#include "agents/wait/alert.h"
#include "agents/wait/apart.h"
#include "agents/wait/place.h"
#include "agents/wait/wait.h"
#include "command/interrupt.h"
#include "command/project.h"

enum { TRIES = 100, BUSY_MS = 100 }; /* each try also takes the budget */

static bool may_pass(const struct cli *cli, int32_t code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_OUTCOME_UNKNOWN ||
         (code == TIDINGS_E_STORE && kit_store_is_url(cli));
}

/* Is it an event that no later call reports? */
static bool is_missed(const struct hook_call *call) {
  return call->moment == HOOK_SESSION_START || call->moment == HOOK_STOP ||
         call->moment == HOOK_TURN_FAILED || call->moment == HOOK_INTERRUPTED ||
         call->moment == HOOK_SESSION_END;
}

static int32_t start(struct cli *cli, struct hostkit *kit, const struct hook_call *call,
                     uint32_t owner, struct tidings_error *error) {
  struct hook_answer answer = {.output = NULL};
  int32_t code = hook_answer_call(kit, call, owner, &answer, error);
  if (!code) code = hook_start_instruct(kit, call, &answer, error);
  json_decref(answer.output);
  if (code) return code;
  project_lay(cli, kit, call->session, call->cwd);
  hook_alert_begin(cli, kit, call, owner);
  return TIDINGS_OK;
}

/* Does a process wait, or is one to be started, that starts the turn that is offered? */
static bool is_woken(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                     bool wakes) {
  if (call->moment != HOOK_STOP) return false;
  return hook_place_is_taken(cli, call->session, owner) ||
         (wakes && (call->wakes || !call->host->scheduler));
}

static int32_t report_once(struct cli *cli, const struct hook_call *call, uint32_t owner,
                           bool wakes, struct tidings_error *error) {
  struct hostkit *kit = NULL;
  bool keeps = is_woken(cli, call, owner, wakes);
  int32_t code = kit_open(cli, TIDINGS_ROLE_HOST, owner, &kit, error);
  if (!code)
    code = call->moment == HOOK_SESSION_START ? start(cli, kit, call, owner, error)
                                              : hook_turn_ended_late(kit, call, keeps, error);
  kit_close(kit);
  return code;
}

static void report(struct cli *cli, const struct hook_call *call, uint32_t owner, bool wakes) {
  struct tidings_error error = {.size = sizeof error};
  struct pollfd ended = {.fd = owner ? (int)syscall(SYS_pidfd_open, (pid_t)owner, 0) : -1,
                         .events = POLLIN};
  int32_t code = TIDINGS_E_BUSY;
  interrupt_begin();
  for (int tries = TRIES; tries && may_pass(cli, code); tries--) {
    if (interrupt_poll(&ended, 1, BUSY_MS)) return;
    code = report_once(cli, call, owner, wakes, &error);
  }
  if (code) hook_log("%s", error.text);
  if (wakes && call->moment == HOOK_STOP) hook_wait_apart(cli, call, owner);
  if (!code) hook_wait_look(cli, call, owner);
}

void hook_report_again(struct cli *cli, struct hook_call *call, uint32_t owner, int32_t code,
                       bool wakes) {
  if (!may_pass(cli, code) || !is_missed(call) || call->of_subagent || !hook_fork_apart()) return;
  call->seen = NULL;
  call->late = true;
  report(cli, call, owner, wakes);
  _exit(EXIT_DONE);
}
