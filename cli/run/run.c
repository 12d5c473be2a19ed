/* SPDX-License-Identifier: MIT
 *
 * run/run.c: `tidings run`: runs a command and notifies an agent when it ends or waits for input.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/run/supervise.h"
#include "command/destination.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "common/clock.h"
#include "common/libc.h"
#include "common/utf8.h"

/* -- going on in the background ---------------------------------------------------------------- */

struct message {
  int reason, pid;
};

/* Tells the caller whether the command could be started: 0, or an errno. */
static void detach_started(int report, int reason) {
  const struct message message = {.reason = reason, .pid = (int)getpid()};
  ssize_t put;
  do put = write(report, &message, sizeof message);
  while (put < 0 && errno == EINTR);
  close(report);
}

/* Closes the caller's pipes, whose readers must see the end when the caller ends. */
static void close_others(int keep, int keep_too) {
  unsigned low = (unsigned)(keep < keep_too ? keep : keep_too),
           high = (unsigned)(keep < keep_too ? keep_too : keep);
  if (low > 3) libc_close_range(3, low - 1);
  if (high > low + 1) libc_close_range(low + 1, high - 1);
  libc_close_range(high + 1, ~0u);
}

/* Forks again, so that the process that goes on is no child of the caller, which may wait for its
 * children. */
static int become_detached(int log, int report, int *ret_report) {
  int reason = 0;
  if (setsid() < 0) reason = errno;
  pid_t second = reason ? -1 : fork();
  if (second > 0) _exit(0);
  if (!reason && second < 0) reason = errno;
  int nothing = reason ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
  if (!reason && (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
                  dup2(nothing, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0))
    reason = errno;
  close_others(log, report);
  *ret_report = report;
  if (!reason) return 0;
  detach_started(report, reason);
  _exit(EXIT_REFUSED);
}

static int wait_for_start(pid_t first, int from, int *ret_reason, int *ret_pid) {
  struct message message = {.reason = 0};
  ssize_t got;
  do got = read(from, &message, sizeof message);
  while (got < 0 && errno == EINTR);
  while (waitpid(first, NULL, 0) < 0 && errno == EINTR) continue;
  if (got != (ssize_t)sizeof message) {
    errno = ECHILD;
    return -1;
  }
  *ret_reason = message.reason;
  *ret_pid = message.pid;
  return 1;
}

/* Forks twice. Returns 0 in the process that goes on, which has no terminal and `log` as its
 * stderr, and must call detach_started with *ret_report. Waits for that in the caller, and returns
 * 1 there; *ret_reason is 0 or the errno of the start, *ret_pid the process that goes on. Returns
 * -1 with errno set if it fails. */
static int detach(int log, int *ret_report, int *ret_reason, int *ret_pid) {
  int report[2];
  if (pipe2(report, O_CLOEXEC)) return -1;
  pid_t first = fork();
  if (first == 0) {
    close(report[0]);
    return become_detached(log, report[1], ret_report);
  }
  int reason = errno;
  close(report[1]);
  int answer = first < 0 ? -1 : wait_for_start(first, report[0], ret_reason, ret_pid);
  if (first >= 0) reason = errno;
  close(report[0]);
  errno = reason;
  return answer;
}

enum { OPTION_DETACH = CLI_LONG_ONLY, OPTION_NO_TTY, OPTION_LOG_LIMIT, OPTION_NO_MASK };
enum { LOG_LIMIT = 64 << 20, LEAST_LOG = 1024, NAME_BYTES = 255 };
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* Is there a session in this folder? If not, the next one that starts here is notified. */
static int is_anybody_here(struct cli *cli, bool *ret_found) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  *ret_found = true;
  if (cli->to || session_named(cli)) return 0;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code) code = session_used_last_here(cli, kit, &session);
  kit_close(kit);
  *ret_found = session != NULL;
  free(session);
  return code;
}

/* Finds out whom to notify, and whether the store can be opened, before anything is started. */
static int find_session(struct cli *cli, char **ret_session) {
  struct destination destination = {.kit = NULL};
  bool found = false;
  int code = is_anybody_here(cli, &found);
  if (!code && !found) cli->to = "folder:.";
  if (!code) code = destination_open(cli, &destination);
  if (code) return code;
  if (!found)
    cli_warn(cli, "no running session works here; the next one that starts here is notified (%s)",
             destination.session);
  *ret_session = strdup(destination.session);
  destination_close(&destination);
  return *ret_session ? 0 : cli_fail(cli, "out of memory");
}

static int not_started(struct run *run, int reason) {
  run_log_remove(&run->log);
  (void)cli_fail(run->cli, "cannot run '%s': %s", run->argv[0], strerror(reason));
  return reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Starts the watchdog before the command, so that the command's end is reported in any case. */
static int start_command(struct run *run, const struct child_way *way) {
  run->report = (struct report){.cli = run->cli,
                                .session = run->session,
                                .argv = run->argv,
                                .tool = run->name,
                                .log = &run->log,
                                .tail = &run->tail,
                                .excerpt = &run->excerpt,
                                .unmasked = run->excerpt.unmasked,
                                .patient = run->detached};
  run->begun_ms = (uint64_t)clock_mono_ms();
  watchdog_start(&run->report, run->begun_ms, &run->watchdog);
  int reason = child_start(&run->child, run->argv, way);
  if (reason) watchdog_stop(&run->watchdog);
  return reason;
}

static int in_foreground(struct run *run) {
  int code = child_prepare(run->cli, &run->child);
  if (code) return code;
  const struct child_way way = {.terminal = !run->no_tty && !run->quiet,
                                .pipe_signal_ignored = run->cli->pipe_signal_ignored};
  int reason = start_command(run, &way);
  return reason ? not_started(run, reason) : supervise(run);
}

/* The log's path may have bytes that are not UTF-8. */
static int print_handle_as_json(const struct run *run, int pid) {
  struct buffer path = BUFFER_EMPTY;
  utf8_repair(span_text(run->log.path), &path);
  json_t *answer = path.failed
                       ? NULL
                       : json_pack("{s:s, s:s%, s:i, s:s}", "handle", run->log.handle, "log",
                                   path.bytes, path.len, "pid", pid, "session", run->session);
  char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
  int code = text ? EXIT_DONE : cli_fail(run->cli, "out of memory; it runs as %s", run->log.handle);
  if (text) print_json_text(stdout, text);
  if (text) putchar('\n');
  free(text);
  json_decref(answer);
  buffer_free(&path);
  return code;
}

static int print_handle(const struct run *run, int pid) {
  if (run->cli->json) return print_handle_as_json(run, pid);
  printf("handle %s\nlog %s\npid %d\n", run->log.handle, run->log.path, pid);
  return EXIT_DONE;
}

static int in_background(struct run *run) {
  int report = -1;
  int reason = 0, pid = 0;
  int who = detach(run->log.fd, &report, &reason, &pid);
  if (who < 0) return cli_fail(run->cli, "cannot detach: %s", strerror(errno));
  if (who > 0 && reason) return not_started(run, reason);
  if (who > 0) return print_handle(run, pid);
  int code = child_prepare(run->cli, &run->child);
  const struct child_way way = {.detached = true,
                                .pipe_signal_ignored = run->cli->pipe_signal_ignored};
  reason = code ? EAGAIN : start_command(run, &way);
  detach_started(report, reason);
  if (!reason) (void)supervise(run);
  _exit(EXIT_DONE);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static int run_it(struct cli *cli, struct run *run) {
  char *session = NULL;
  run->cli = cli;
  run->argv = cli->words;
  if (!run->name) run->name = base_name(cli->words[0]);
  int code = find_session(cli, &session);
  if (code) return code;
  run->session = session;
  code = run_log_open(cli, run->name, run->log.limit, &run->log);
  if (!code) {
    code = run->detached ? in_background(run) : in_foreground(run);
    child_finish(&run->child);
    run_log_close(&run->log);
  }
  free(session);
  return code;
}

/* Reads "1000000", "500K", "64M" or "2G". */
static int read_limit(const struct cli *cli, uint64_t *ret_limit) {
  static const char units[] = "KMG";
  char digits[24];
  size_t len = strlen(cli->value);
  const char *unit = len ? strchr(units, cli->value[len - 1]) : NULL;
  size_t count = unit ? len - 1 : len;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  uint64_t number = 0;
  if (count < sizeof digits) {
    memcpy(digits, cli->value, count);
    digits[count] = '\0';
  }
  if (count >= sizeof digits || cli_number(digits, 1, UINT64_MAX >> (shift + 1), &number) ||
      number << shift < LEAST_LOG)
    return cli_usage(cli,
                     "--log-limit: '%s' is not a number of at least %d bytes; expected one such as "
                     "500K, 64M or 2G",
                     cli->value, LEAST_LOG);
  *ret_limit = number << shift;
  return 0;
}

static int run_verb(struct cli *cli) {
  struct run *run = calloc(1, sizeof *run);
  if (!run) return cli_fail(cli, "out of memory");
  run->child = (struct child){.out = -1, .err = -1, .signals = -1};
  run->log.limit = LOG_LIMIT;
  int key, code = 0;
  while ((key = cli_next(cli)) != CLI_END && key != CLI_STOP) {
    if (key == 'n') run->name = cli->value;
    else if (key == 'q') run->quiet = true;
    else if (key == OPTION_NO_TTY) run->no_tty = true;
    else if (key == OPTION_NO_MASK) run->excerpt.unmasked = true;
    else if (key == OPTION_DETACH) run->detached = true;
    else if (read_limit(cli, &run->log.limit)) break;
  }
  if (key == OPTION_LOG_LIMIT) code = EXIT_USAGE;
  else if (key == CLI_STOP) code = cli->exit_code;
  else if (cli->print_session) code = session_print(cli);
  else if (run->name && !run->name[0]) code = cli_usage(cli, "--name: it is empty");
  else if (run->name && strlen(run->name) > NAME_BYTES)
    code = cli_usage(cli, "--name: it has more than %d bytes", NAME_BYTES);
  else if (cli->json && !run->detached)
    code = cli_usage(cli, "--json needs --detach, which prints a handle");
  else code = cli_take_words(cli, 1, cli->argc, "a command is");
  if (!code && key != CLI_STOP && !cli->print_session) code = run_it(cli, run);
  free(run);
  return code;
}

const struct cli_verb verb_run = {
    .name = "run",
    .usage = "[OPTION]... [--] COMMAND [ARGUMENT]...",
    .summary = "run a command and notify the agent when it ends",
    .help = "Runs the command. When it ends, pushes that it stopped or failed, with "
            "its exit code, its duration, its last lines and the path of the log "
            "that has all of its output. If it failed, the lines that state why come first, with "
            "their line numbers in the log. What looks like a password or a token is masked. "
            "Pushes a notification, too, when the "
            "command waits for input at its terminal. The command's output is passed "
            "on, signals are passed on to it, and this command exits with its exit "
            "code (128 + N if signal N killed it).\n\n"
            "With --detach the command runs in the background, without a terminal. "
            "This command then prints its handle, its log and the process to kill to "
            "stop it.\n\n"
            "Logs are in $XDG_STATE_HOME/tidings/logs. Of the complete ones, the 200 "
            "newest of the last 30 days are kept. If this command fails before it "
            "starts anything, its exit code is 1, or 2 for wrong usage. It is 127 if "
            "the command was not found, and 126 if it could not be executed.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options_first = true,
    .completion = COMPLETE_COMMAND,
    .options =
        (const struct cli_option[]){
            {.key = 'n',
             .name = "name",
             .argument = "NAME",
             .help = "The command's name in notifications; its file name if not given."},
            {.key = OPTION_NO_TTY,
             .name = "no-tty",
             .help = "Let the command print to a pipe even if stdout is a terminal."},
            {.key = OPTION_LOG_LIMIT,
             .name = "log-limit",
             .argument = "SIZE",
             .help =
                 "Keep at most SIZE bytes (suffixes K, M, G) in the log; if there is more output, "
                 "the log's last line says so. 64M if not given."},
            {.key = OPTION_NO_MASK,
             .name = "no-mask",
             .help = "Show passwords and tokens in the notification, too. Without this they read "
                     "[masked]; the log always has them."},
            {.key = OPTION_DETACH, .name = "detach", .help = "Run in the background."},
            {.key = 'q', .name = "quiet", .help = "Do not pass the output on, only log it."},
            {.name = NULL},
        },
    .run = run_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings run -- make -j8",
             "Build; the agent that works in this folder is notified when it ends."},
            {"tidings run --detach --name tests -- npm test", "Run the tests in the background."},
            {NULL, NULL}},
};
