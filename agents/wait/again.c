/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/again.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/turn/person.h"
#include "agents/turn/report.h"
#include "agents/turn/start.h"
#include "agents/turn/stop.h"
#include "agents/turn/subagent.h"
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

bool hook_reports_again(const struct hook_call *call) {
  switch (call->moment) {
  case HOOK_SUBAGENT_STOP: return true;
  case HOOK_SESSION_START:
  case HOOK_STOP:
  case HOOK_TURN_FAILED:
  case HOOK_INTERRUPTED:
  case HOOK_CONFIGURED:
  case HOOK_SESSION_END: return !call->of_subagent;
  case HOOK_NOTICE: return !call->of_subagent && hook_person_awaited(call);
  case HOOK_AFTER_TOOL:
    return !call->of_subagent && (hook_person_stopped_tool(call) || hook_runs_subagent(call));
  default: return false;
  }
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

/* Reports the call's event. A tool that a person has stopped ends the turn. */
static int32_t report_by_moment(struct cli *cli, struct hostkit *kit, const struct hook_call *call,
                                uint32_t owner, bool keeps, struct tidings_error *error) {
  switch (call->moment) {
  case HOOK_SESSION_START: return start(cli, kit, call, owner, error);
  case HOOK_SUBAGENT_STOP: return hook_report_subagent(kit, call, error);
  case HOOK_CONFIGURED: return hook_report_configured(kit, call, error);
  case HOOK_NOTICE: return hook_person_noticed(kit, call, error);
  default:
    return hook_runs_subagent(call) && !hook_person_stopped_tool(call)
               ? hook_subagent_ended_late(kit, call, error)
               : hook_turn_ended_late(kit, call, keeps, error);
  }
}

/* Will a process start the offered turn: one that waits, or one that is started after this? */
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
  if (!code) code = report_by_moment(cli, kit, call, owner, keeps, error);
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
  if (!may_pass(cli, code) || !hook_reports_again(call) || !hook_fork_apart()) return;
  call->seen = NULL;
  call->late = true;
  report(cli, call, owner, wakes);
  _exit(EXIT_DONE);
}
