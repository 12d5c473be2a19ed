/* SPDX-License-Identifier: MIT
 */
#include "cli/run/report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/mailbox.h"
#include "command/project.h"
#include "command/session_now.h"
#include "common/clock.h"
#include "common/mask.h"
#include "common/utf8.h"

/* Returns a name such as "KILL"; NULL: the signal has none. */
static const char *signal_name(int number) {
  static const char *const names[] = {
      [SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
      [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
      [SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
      [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",     [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
      [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",     [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
      [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU",
      [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
      [SIGPOLL] = "POLL", [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
  };
  const size_t count = sizeof names / sizeof *names;
  return number > 0 && (size_t)number < count ? names[number] : NULL;
}

/* Limits of a report: more than the model reads, so that it sees where a text is cut. */
enum { SENT_LINES = 21, SENT_BYTES = 4000, COMMAND_BYTES = 500 };
enum { LINES_OF_FAILED = 6, LINES_OF_FINISHED = 3 };
/* As long as the longest secret, because secrets are masked before the command is cut. */
enum { LOOKED_AT_BYTES = 8192 };
enum { HASTY_ATTEMPTS = 2, PATIENT_ATTEMPTS = 8 };

int report_exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* -- what is said ------------------------------------------------------------------------------ */

/* Makes valid UTF-8, because an argument may have any bytes. NULL: no memory, or no `text`. */
static json_t *new_text(const char *text) {
  struct buffer buffer = BUFFER_EMPTY;
  if (!text) return NULL;
  utf8_repair(span_text(text), &buffer);
  char *repaired = buffer_take(&buffer);
  json_t *value = repaired ? json_string(repaired) : NULL;
  free(repaired);
  return value;
}

/* Writes a word as a shell would read it. */
static void write_word(const char *word, struct buffer *out) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "%+,-./:=@_^";
  size_t name = strspn(word, plain), sign = 0; /* as in NAME='a value' */
  while (sign < name && word[sign] != '=') sign++;
  if (sign && sign < name && word[name]) {
    buffer_append(out, word, sign + 1);
    word += sign + 1;
  }
  if (*word && strspn(word, plain) == strlen(word)) {
    buffer_text(out, word);
    return;
  }
  buffer_byte(out, '\'');
  for (; *word; word++) {
    if (*word == '\'') buffer_text(out, "'\\''");
    else buffer_byte(out, *word);
  }
  buffer_byte(out, '\'');
}

/* Returns the command as text, of which the model reads the beginning. */
static json_t *new_command(char *const *argv, bool unmasked) {
  struct buffer command = BUFFER_EMPTY, masked = BUFFER_EMPTY;
  for (size_t i = 0; argv[i] && command.len < LOOKED_AT_BYTES; i++) {
    if (i) buffer_byte(&command, ' ');
    write_word(argv[i], &command);
  }
  if (unmasked) buffer_span(&masked, buffer_view(&command));
  else mask_text(buffer_view(&command), &masked);
  if (masked.len > COMMAND_BYTES) masked.len = COMMAND_BYTES;
  if (command.failed) masked.failed = true;
  buffer_free(&command);
  char *text = buffer_take(&masked);
  json_t *value = new_text(text);
  free(text);
  return value;
}

/* Returns "SIGKILL", or for a signal without a name "signal 35". */
static json_t *new_signal(int number) {
  const char *name = signal_name(number);
  return name ? json_sprintf("SIG%s", name) : json_sprintf("signal %d", number);
}

/* Takes `value` over; NULL: out of memory. */
static int put(json_t *data, const char *name, json_t *value) {
  return json_object_set_new(data, name, value);
}

/* Puts the output, but not an empty text for invisible output, such as NULs, because it would say
 * that there was none. Takes `text` over; NULL: out of memory. */
static int put_output(json_t *data, const char *name, const struct report *report, char *text) {
  int failed = text ? 0 : -1;
  if (text && (text[0] || !report->tail->len)) failed = put(data, name, new_text(text));
  free(text);
  return failed;
}

/* Puts the last lines, or, if the last line is very long, its end. */
static int put_last_lines(json_t *data, const struct report *report, size_t count) {
  bool is_long = false;
  char *text = excerpt_last(report->excerpt, count, &is_long);
  if (text && is_long) {
    free(text);
    text = tail_text(report->tail, 1, SENT_BYTES, report->unmasked);
  }
  return put_output(data, "tail", report, text);
}

static int put_errors(json_t *data, const struct report *report) {
  char *text = excerpt_errors(report->excerpt, LINES_OF_FAILED, run_log_lines(report->log));
  int failed = text ? 0 : -1;
  if (text && text[0]) failed = put(data, "errors", new_text(text));
  free(text);
  return failed;
}

/* Says why the log is incomplete. NULL: out of memory. */
static json_t *new_log_error(const struct run_log *log) {
  if (log->failed) return json_string(strerror(log->failed));
  return json_sprintf("it has reached its limit of %llu bytes", (unsigned long long)log->limit);
}

/* `status` NULL: the status is not known. */
static json_t *new_end(const struct report *report, const int *status, uint64_t elapsed_ms) {
  const struct run_log *log = report->log;
  json_t *data = json_object();
  bool signalled = status && WIFSIGNALED(*status), fails = !status || report_exit_code(*status);
  bool failed = put(data, "command", new_command(report->argv, report->unmasked)) ||
                put(data, "handle", json_string(log->handle)) ||
                put(data, "tool", new_text(report->tool)) ||
                put(data, "duration_ms", json_integer((json_int_t)elapsed_ms)) ||
                put_last_lines(data, report, fails ? LINES_OF_FAILED : LINES_OF_FINISHED) ||
                (fails && put_errors(data, report)) || put(data, "log", new_text(log->path));
  if (!failed && !status) failed = put(data, "lost", json_true());
  if (!failed && signalled) failed = put(data, "signal", new_signal(WTERMSIG(*status)));
  if (!failed && status && !signalled)
    failed = put(data, "exit_code", json_integer(WEXITSTATUS(*status)));
  if (!failed && (log->failed || log->full)) failed = put(data, "log_error", new_log_error(log));
  if (!failed) return data;
  json_decref(data);
  return NULL;
}

static json_t *new_state(const struct report *report, bool waits) {
  json_t *data = json_pack("{s:s, s:s}", "handle", report->log->handle, "state",
                           waits ? "waiting" : "running");
  bool failed = put(data, "tool", new_text(report->tool));
  if (!failed && waits)
    failed = put_output(data, "content", report,
                        tail_text(report->tail, SENT_LINES, SENT_BYTES, report->unmasked));
  if (!failed) return data;
  json_decref(data);
  return NULL;
}

/* -- how it gets there ------------------------------------------------------------------------- */

/* Leaves out errors for an older plugin, which does not know them. */
static void leave_out_errors(struct hostkit *kit, json_t *event) {
  enum { MINOR_WITH_ERRORS = 2 };
  struct hostkit_info info = {.size = sizeof info};
  if (hostkit_info(kit, &info) || info.abi_minor >= MINOR_WITH_ERRORS) return;
  (void)json_object_del(json_object_get(event, "data"), "errors");
}

/* Lets the session that now works there collect the mailbox. The report is stored in any case. */
static void forward(const struct report *report, struct hostkit *kit) {
  struct tidings_error error = {.size = sizeof error};
  struct address address = {.name = NULL};
  struct mailbox_moved moved;
  char *session = NULL;
  if (!address_is_mailbox(report->session)) return;
  int32_t code = address_parse(report->session, "/", &address, &error);
  if (!code) code = mailbox_forward(kit, &address, &session, &moved, &error);
  if (code) cli_warn(report->cli, "it waits in %s: %s", report->session, error.text);
  address_finish(&address);
  free(session);
}

/* Addresses the session that the window shows now: the command may outlive the conversation in
 * which it was begun. */
static void go_to_window(struct hostkit *kit, json_t *event, const char *session) {
  char *now = session_now(kit, session);
  if (now) (void)json_object_set_new(event, "session", json_string(now));
  free(now);
}

static int32_t try_once(const struct report *report, json_t *event, struct tidings_error *error) {
  struct hostkit *kit = NULL;
  int32_t code = kit_open(report->cli, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
  if (!code) {
    leave_out_errors(kit, event);
    go_to_window(kit, event, report->session);
    project_lay_here(report->cli, kit, report->session);
  }
  if (!code) code = kit_event(kit, json_incref(event), NULL, error);
  if (!code) forward(report, kit);
  kit_close(kit);
  return code;
}

static bool may_pass(int32_t code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_STORE || code == TIDINGS_E_FULL ||
         code == TIDINGS_E_OUTCOME_UNKNOWN || code == TIDINGS_E_NOMEM;
}

/* Sends the event, with the same id in each attempt, so that only one has an effect. `which` is the
 * end of the id. Takes `data` over; NULL: out of memory. */
static int deliver(const struct report *report, const char *type, const char *which, json_t *data) {
  struct tidings_error error = {.size = sizeof error};
  json_t *event = data ? kit_new_event(type, report->session, data) : NULL;
  char id[96];
  snprintf(id, sizeof id, "%s-%s", report->log->handle, which);
  if (!event || json_object_set_new(event, "id", json_string(id))) {
    json_decref(event);
    return cli_fail(report->cli, "cannot notify the session: out of memory");
  }
  int attempts = report->patient ? PATIENT_ATTEMPTS : HASTY_ATTEMPTS;
  int32_t code = try_once(report, event, &error);
  for (int i = 1; may_pass(code) && i < attempts; i++) {
    clock_sleep_ms(1000u << (i - 1));
    code = try_once(report, event, &error);
  }
  json_decref(event);
  if (!code) return 0;
  (void)cli_fail_with(report->cli, code, &error);
  return cli_fail(report->cli, "the session was not notified; the output is in %s",
                  report->log->path);
}

int report_waiting(struct report *report, bool waits) {
  char number[16];
  snprintf(number, sizeof number, "%u", ++report->state_count);
  return deliver(report, "handle.state", number, new_state(report, waits));
}

/* Both reports of an end have the same id, so the second has no effect if a run is killed after it
 * has reported its end and before its watchdog knows that. */
static const char end_id[] = "end";

int report_end(const struct report *report, int status, uint64_t elapsed_ms) {
  return deliver(report, report_exit_code(status) ? "run.failed" : "run.finished", end_id,
                 new_end(report, &status, elapsed_ms));
}

int report_lost(const struct report *report, uint64_t elapsed_ms) {
  return deliver(report, "run.failed", end_id, new_end(report, NULL, elapsed_ms));
}
