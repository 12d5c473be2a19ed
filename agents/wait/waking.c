/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/waking.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/deliver/deliver.h"
#include "agents/deliver/inbox.h"
#include "agents/turn/ours.h"
#include "command/interrupt.h"
#include "common/spawn.h"

enum { QUEUE_MS = 30000, TRIES = 20, BUSY_MS = 100 };

void hook_waking_decline(struct hostkit *kit, const struct hook_call *call) {
  (void)kit_event(kit, kit_new_event("turn.declined", call->session, json_object()), NULL, NULL);
}

/* -- the agent's command ----------------------------------------------------------------------- */

/* The agent's own program: the one in PATH may be another version. Free it. */
static char *program_of(const struct hook_call *call, uint32_t owner) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/%u/exe", owner);
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  const char *slash = strrchr(path, '/');
  bool same = slash && strncmp(slash + 1, call->host->program, strlen(call->host->program)) == 0 &&
              access(path, X_OK) == 0;
  return strdup(same ? path : call->host->program);
}

/* Returns its exit status, or -1. The signals that we hold back are not held back for it. */
static int run_program(const char *const argv[]) {
  pid_t child = -1;
  int status = -1;
  sigset_t none;
  sigemptyset(&none);
  const struct spawn spawn = {.argv = argv, .pipe_signal = true, .mask = &none};
  if (spawn_start(&spawn, &child)) return -1;
  if (!spawn_wait(child, QUEUE_MS, &status)) status = spawn_kill(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int hook_waking_queue(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                      const struct tidings_action *action, int failed_before) {
  char *program = program_of(call, owner), *session = strdup(call->session),
       *nudge = hook_nudge(kit, call, action);
  const char *const argv[] = {program, "queue", "--thread", session, "--message", nudge, NULL};
  int status = program && session && nudge ? run_program(argv) : -1;
  if (status && status != failed_before)
    hook_log("%s queue failed with status %d; the notifications wait for the next prompt, and "
             "tidings tries again with growing pauses",
             program ? program : "", status);
  if (status) hook_waking_decline(kit, call);
  free(program);
  free(session);
  free(nudge);
  return status;
}

/* -- the inbox --------------------------------------------------------------------------------- */

/* The turn that was taken cannot be given: what it has waits as it did before. */
static void take_back(struct hostkit *kit, const struct hook_call *call, uint64_t delivery) {
  struct tidings_reply *reply = NULL;
  if (delivery) (void)hostkit_settle(kit, delivery, TIDINGS_ROLLED_BACK, NULL, NULL);
  (void)kit_event(kit, kit_new_event("turn.aborted", call->session, json_object()), &reply, NULL);
  if (hook_start_turn(reply)) hook_waking_decline(kit, call);
  hostkit_reply_free(reply);
}

/* Nobody else takes the turn while other processes keep the store busy. */
static int32_t take_turn(struct hostkit *kit, const struct hook_call *call,
                         const struct tidings_action *action, char **ret_content,
                         struct tidings_reply **ret_carrier, struct tidings_error *error) {
  int32_t code = TIDINGS_E_BUSY;
  for (int tries = TRIES; tries && code == TIDINGS_E_BUSY; tries--) {
    code = hook_chat_request(kit, call, action, ret_content, ret_carrier, error);
    if (code == TIDINGS_E_BUSY) (void)interrupt_poll(NULL, 0, BUSY_MS);
  }
  return code;
}

int hook_waking_give(struct hostkit *kit, const struct hook_call *call,
                     struct tidings_reply **offer) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *carrier = NULL;
  struct hook_answer answer = {.output = NULL};
  char *content = NULL;
  int32_t code = hook_fit_offer(kit, call, offer, &error);
  const struct tidings_action *action = hook_start_turn(*offer);
  bool of_person = action && action->origin == TIDINGS_ORIGIN_USER;
  if (code || !action || !hook_inbox_takes(call, of_person)) {
    hook_waking_decline(kit, call);
    return code || action ? -1 : 0;
  }
  code = take_turn(kit, call, action, &content, &carrier, &error);
  bool taken = !code; /* else a person's turn may have begun */
  if (taken) code = hook_continuation(kit, call, content, carrier, &answer, &error);
  if (code && code != TIDINGS_E_STATE) hook_log("%s", error.text);
  if (!code) hook_inbox_give(call, of_person, &answer);
  if (!taken) hook_waking_decline(kit, call);
  else if (!answer.given) take_back(kit, call, answer.delivery);
  json_decref(answer.output);
  free(content);
  return answer.given ? 0 : -1;
}
