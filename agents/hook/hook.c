/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook.c: `tidings hook HOST`: answers one hook call of an agent, JSON in, JSON out. If
 * tidings fails, the agent must continue: the answer is then an empty object and the exit status 0.
 * Status 2 would stop the agent, so only the waiter returns it, in order to wake the agent.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/call/log.h"
#include "agents/call/owner.h"
#include "agents/call/strangers.h"
#include "agents/deliver/notes.h"
#include "agents/deliver/say.h"
#include "agents/deliver/status.h"
#include "agents/hook/hook.h"
#include "agents/turn/ours.h"
#include "agents/turn/start.h"
#include "agents/turn/turns.h"
#include "agents/wait/after_end.h"
#include "agents/wait/again.h"
#include "agents/wait/alert.h"
#include "agents/wait/limit.h"
#include "agents/wait/place.h"
#include "agents/wait/reload.h"
#include "agents/wait/scheduler.h"
#include "agents/wait/wait.h"
#include "agents/wait/window.h"
#include "command/careful_write.h"
#include "command/host.h"
#include "command/json_value.h"
#include "command/project.h"
#include "common/clock.h"
#include "host_lists.h"

enum { OPTION_WAIT = CLI_LONG_ONLY, OPTION_WAKE, OPTION_ROOM, OPTION_BUDGET };
enum { EXIT_MISTAKE = 1 };
/* How long all calls of the plugin may take together, because the agent waits for them. */
enum { HOOK_BUDGET_MS = 500, LONGEST_BUDGET_MS = 60000 };

static int write_text(const char *text) {
  char *line = NULL;
  int len = asprintf(&line, "%s\n", text);
  int reason = len < 0 ? ENOMEM : careful_write(STDOUT_FILENO, line, (size_t)len);
  free(line);
  return reason;
}

/* Writes the answer, and rolls its delivery back if that fails. The next call finds out whether the
 * agent has the answer; for that it may need the notes (deliver/notes.h). */
static void write_answer(struct hostkit *kit, const struct hook_call *call,
                         const struct hook_answer *answer) {
  struct tidings_error error = {.size = sizeof error};
  char *text = answer->output ? json_dumps(answer->output, JSON_COMPACT) : NULL;
  int reason = answer->output && !text ? ENOMEM : write_text(text ? text : "{}");
  if (reason) hook_log("cannot write to stdout: %s", strerror(reason));
  if (reason && answer->delivery &&
      hostkit_settle(kit, answer->delivery, TIDINGS_ROLLED_BACK, NULL, &error))
    hook_log("cannot settle: %s", error.text);
  if (!reason && answer->delivery && call->moment == HOOK_STOP)
    (void)hook_note_reason(call, answer->delivery);
  if (!reason && answer->delivery) hook_note_answered(call, answer->delivery);
  free(text);
}

/* The plugin stays open if a settle was put off because another process is writing. That is
 * harmless: the next call finds the delivery in the store. */
static void close_kit(struct hostkit *kit) {
  static struct hostkit *volatile left_open; /* a leak checker finds it here */
  left_open = kit;
  kit_close(left_open);
}

/* Logs that the session's process has changed although its hooks did not report an end: it has
 * ended, or a wrapper was taken for it. A daemon's window may be closed at any time; then nobody
 * sees the session. */
static void note_owner(const json_t *attachment, struct hook_call *call, uint32_t owner) {
  uint32_t pid = (uint32_t)json_value_count(attachment, "pid");
  bool is_gone = pid && pid != owner && !json_is_true(json_object_get(attachment, "alive")) &&
                 !json_object_get(attachment, "machine");
  bool begins = call->moment == HOOK_SESSION_START || call->moved || call->unseen;
  if (!is_gone || !owner || begins || call->of_subagent) return;
  if (call->of_daemon) call->unseen = true;
  else hook_log(OWNER_HAS_ENDED ": pid %u, and now it is pid %u", pid, owner);
}

/* Adds the project's configuration, for the folder that the session's host has named, or else for
 * the call's. If the store cannot be asked, the next call says why. */
static void lay_project(const struct cli *cli, struct hostkit *kit, struct hook_call *call,
                        uint32_t owner) {
  json_t *status = NULL;
  if (cli->no_config || hook_status(kit, call, &status, NULL)) return;
  const json_t *attachment = json_object_get(status, "attachment");
  const char *named = json_value_text(attachment, "cwd");
  note_owner(attachment, call, owner);
  project_lay_in(cli, kit, named[0] ? named : call->cwd);
  json_decref(status);
}

/* Is nothing left to do after the answer but to close the store? So it is for the most frequent
 * call, a tool's result, and the agent waits until the process has ended. */
static bool ends_with_answer(const struct hook_call *call) {
  return !hook_reports_again(call) && call->moment != HOOK_SESSION_START &&
         call->moment != HOOK_SESSION_END && call->moment != HOOK_STOP &&
         call->moment != HOOK_TURN_FAILED && call->moment != HOOK_INTERRUPTED;
}

/* The bounds are only for this call, because a process that waits for the session goes on using
 * `cli`. */
static int32_t open_for_call(struct cli *cli, const struct hook_call *call, uint32_t owner,
                             struct hostkit **ret_kit, struct tidings_error *error) {
  if (call->moment == HOOK_OTHER) return TIDINGS_OK;
  cli->total_budget_ms = cli->budget_ms;
  cli->ends_after_close = ends_with_answer(call);
  int32_t code = kit_open(cli, TIDINGS_ROLE_HOST, owner, ret_kit, error);
  cli->total_budget_ms = 0;
  cli->ends_after_close = false;
  return code;
}

/* Adds the paragraph, at a session's start even if the store was too busy for the rest. */
static void instruct(struct hostkit *kit, const struct hook_call *call, int32_t code,
                     struct hook_answer *answer) {
  struct tidings_error error = {.size = sizeof error};
  bool can = !code || (code == TIDINGS_E_BUSY && call->moment == HOOK_SESSION_START);
  int32_t failed = kit && can ? hook_start_instruct(kit, call, answer, &error) : code;
  if (failed && !code) hook_log("%s", error.text);
  if (failed && call->moment == HOOK_SESSION_START) hook_start_missed(call);
}

static void answer_call(struct cli *cli, struct hook_call *call, uint32_t owner, bool wake) {
  struct tidings_error error = {.size = sizeof error};
  struct hook_answer answer = {.output = NULL};
  struct hostkit *kit = NULL;
  int32_t code = open_for_call(cli, call, owner, &kit, &error);
  if (!code && kit) code = hook_pass_over_reason(kit, call, &error);
  if (code) hook_note_unread_reason(call);
  if (!code && kit) code = hook_pass_over_command(kit, call, &error);
  if (!code && kit) lay_project(cli, kit, call, owner);
  if (!code && kit && call->moment != HOOK_OTHER)
    code = hook_answer_call(kit, call, owner, &answer, &error);
  if (code) hook_log("%s", error.text);
  instruct(kit, call, code, &answer);
  bool answered = answer.output != NULL;
  if (!call->of_subagent) hook_say_late(call, &answer.output);
  write_answer(kit, call, &answer);
  hook_limit_end();
  if (!code && kit) hook_start_late(kit, call);
  hook_start_environment(cli, call); /* also if the store is busy, because no later call writes
                                        it */
  if (!code && kit) hook_alert_begin(cli, kit, call, owner);
  bool ends = call->moment == HOOK_SESSION_END && !call->of_subagent,
       unsettled = !code && kit && ends && hook_status_has_leases(kit, call);
  close_kit(kit);
  if (ends_with_answer(call)) kit_end_process(EXIT_DONE);
  json_decref(answer.output);
  bool idles = call->moment == HOOK_STOP && !code && !answered,
       starts = call->moment == HOOK_SESSION_START && call->host->scheduler;
  if (starts) hook_scheduler_note(call, owner);
  if (wake && !call->unseen && (idles || starts)) hook_wait_apart(cli, call, owner);
  /* After an interruption, Codex takes nothing from its queue until the person prompts again. */
  if (ends || (call->moment == HOOK_INTERRUPTED && !call->of_subagent))
    hook_wait_end(cli, call, owner);
  if (call->moment == HOOK_STOP && !answered) hook_wait_look(cli, call, owner);
  if (unsettled) hook_settle_after_end(cli, call, owner);
  if (code) hook_report_again(cli, call, owner, code, wake && !call->unseen);
}

struct hook_options {
  const struct host *host;
  uint32_t owner;
  bool wait, wake;
  uint64_t room;      /* 0: the host's */
  uint64_t budget_ms; /* 0: HOOK_BUDGET_MS */
};

static int run_call(struct cli *cli, const struct hook_options *options) {
  const struct host *host = options->host;
  struct tidings_error error = {.size = sizeof error};
  struct hook_call call;
  int code = EXIT_DONE;
  int64_t begun_ms = clock_wall_ms();
  char why[OWNER_WHY_SIZE] = "";
  uint32_t owner =
      options->owner ? options->owner : hook_owner(host, why); /* now, because the agent may end
                                                                  meanwhile */
  (void)signal(SIGXFSZ, SIG_IGN); /* a store larger than the agent's `ulimit -f` then causes an
                                     error, not a kill */
  hook_log_about(host->name, NULL, NULL);
  cli->log = hook_log_plugin;
  cli->budget_ms = options->budget_ms ? (uint32_t)options->budget_ms : HOOK_BUDGET_MS;
  if (!options->wait) hook_limit_begin();
  int32_t refused = hook_call_read(host, STDIN_FILENO, &call, &error);
  if (refused) {
    hook_log("%s", error.text);
    if (!options->wait) (void)write_text("{}");
    return EXIT_DONE;
  }
  call.begun_ms = begun_ms;
  call.process = getpid();
  cli->preset = host_preset(call.host);
  hook_log_about(call.host->name, call.event, call.session);
  if (why[0] && call.known) hook_log("%s", why);
  if (options->room && call.moment != HOOK_STOP) call.room = (size_t)options->room;
  const uint32_t caller = owner;
  if (call.known) owner = hook_window(cli, &call, caller);
  bool notes = host->leaves_out_reasons || call.moment == HOOK_SESSION_START ||
               call.moment == HOOK_PROMPT || call.host->proof == HOST_PROOF_NEXT_CALL;
  if (call.known && owner && notes) call.place = hook_place_path(cli, &call, owner);
  if (!call.known) {
    if (!options->wait) (void)write_text("{}");
    hook_stranger_note(&call, owner);
  } else if (options->wait) code = hook_wait_rewake(cli, &call, owner);
  else {
    struct hook_seen seen = {.status = NULL};
    call.seen = &seen;
    call.wakes = options->wake && call.moment == HOOK_STOP && hook_scheduler_takes(&call, owner);
    answer_call(cli, &call, owner, options->wake);
    hook_seen_finish(&seen);
    if (call.moment == HOOK_SESSION_END && !call.of_subagent)
      hook_window_forget(cli, &call, caller);
    if (call.moment == HOOK_SESSION_END && !call.of_subagent && options->wake)
      hook_reload_watch(cli, &call, caller);
  }
  hook_call_finish(&call);
  return code;
}

/* Answers nothing and reports a mistake in the host's configuration, which does no harm. */
static int refuse(void) {
  (void)write_text("{}");
  return EXIT_MISTAKE;
}

static const struct host *find_host(const struct cli *cli, const struct hook_options *options) {
  const struct host *host = host_find(cli->words[0]);
  if (!host) (void)cli_fail(cli, "HOST: '%s' is not one of " HOSTS_WITH_HOOKS_NAMES, cli->words[0]);
  else if (host->kind == HOST_BORROWS)
    (void)cli_fail(cli, "HOST: %s calls the hooks of '%s'", host->title, host->borrows[0]);
  else if (host->kind != HOST_HOOKS)
    (void)cli_fail(cli, "HOST: %s calls no hooks; it loads a module: see 'tidings setup %s'",
                   host->title, host->name);
  else if (options->wait && !host->rewakes)
    (void)cli_fail(cli, "--wait: %s is not woken by a hook in the background", host->title);
  else if (options->wake && !host_is_woken_apart(host))
    (void)cli_fail(cli, "--wake: %s has no command and no task that wakes it", host->title);
  else return host;
  return NULL;
}

static int read_room(const struct cli *cli, uint64_t *ret_room) {
  if (!cli_number(cli->value, 1, SIZE_MAX, ret_room)) return 0;
  return cli_usage(cli, "--room: '%s' is not a number of bytes", cli->value);
}

static int read_budget(const struct cli *cli, uint64_t *ret_budget_ms) {
  uint64_t budget_ms = 0;
  if (cli_duration(cli->value, &budget_ms) || budget_ms < 1 || budget_ms > LONGEST_BUDGET_MS)
    return cli_usage(cli, "--budget: '%s' is not a duration from 1ms to 60s", cli->value);
  *ret_budget_ms = budget_ms;
  return 0;
}

static int hook_verb(struct cli *cli) {
  struct hook_options options = {.host = NULL};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code == EXIT_DONE ? EXIT_DONE : refuse();
    if (key == OPTION_WAIT) options.wait = true;
    if (key == OPTION_WAKE) options.wake = true;
    if (key == OPTION_OWNER && host_read_owner(cli, &options.owner)) return refuse();
    if (key == OPTION_ROOM && read_room(cli, &options.room)) return refuse();
    if (key == OPTION_BUDGET && read_budget(cli, &options.budget_ms)) return refuse();
  }
  if (cli_take_words(cli, 1, 1, "HOST is")) return refuse();
  options.host = find_host(cli, &options);
  return options.host ? run_call(cli, &options) : refuse();
}

const struct cli_verb verb_hook = {
    .name = "hook",
    .usage = "[OPTION]... HOST",
    .summary = "answer one hook call of an agent",
    .help = "'tidings setup' adds this command to an agent's configuration. It reads "
            "the hook's JSON from stdin and writes the answer to stdout. At prompts "
            "and tool results, the answer has the session's pending notifications. "
            "When the agent is about to stop, the answer has the queued message or "
            "the urgent notification that becomes its next turn.\n\n"
            "HOST is " HOSTS_WITH_HOOKS_NAMES
            ". If tidings fails, the answer is an empty object, the exit status is 0, and "
            "$XDG_STATE_HOME/tidings/logs/hook.log has the error. The agent waits "
            "at most as long as --budget says, and never fails because of tidings.",
    .with = WITH_STORE | WITH_CONFIG,
    .completion = COMPLETE_WORDS,
    .words = HOSTS_WITH_HOOKS_WORDS,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_WAIT,
             .name = "wait",
             .help = "For a hook that runs in the background (Claude Code's "
                     "asyncRewake): sleep until the idle session has to act, print "
                     "the reason on stderr, and exit with status 2, which wakes the "
                     "agent."},
            {.key = OPTION_WAKE,
             .name = "wake",
             .help = "For the ends of turns and sessions of Codex, and Qwen Code's ends of turns "
                     "and starts of sessions: leave one background process per session. It sleeps "
                     "until the idle session has to act, wakes it with 'codex queue' or a "
                     "scheduled task of Qwen Code's window, and ends with the agent."},
            {.key = OPTION_ROOM,
             .name = "room",
             .argument = "BYTES",
             .help = "How many bytes of one answer the agent shows its model, where its "
                     "configuration raises that. Default: what was measured."},
            {.key = OPTION_BUDGET,
             .name = "budget",
             .argument = "DURATION",
             .help = "How long the agent may wait for the store, 1ms to 60s. What is "
                     "late comes with a later call. Default: 500ms."},
            {.key = OPTION_OWNER,
             .name = "owner",
             .argument = "PID",
             .help = "The agent's process. Default: the nearest ancestor of this "
                     "command that is the agent, or else that is not a shell."},
            {.name = NULL},
        },
    .run = hook_verb,
    .examples =
        (const struct cli_example[]){
            {"echo "
             "'{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"hi\"}' "
             "| tidings hook codex",
             "Do what Codex does with each prompt."},
            {NULL, NULL}},
};
