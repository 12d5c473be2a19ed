/* SPDX-License-Identifier: MIT
 *
 * log.c: `tidings log`: prints the output of a command of `tidings run`. If the assistant reads it,
 * reports the command as polled.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/log.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/owner.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/file.h"
#include "common/mask.h"
#include "common/plain_text.h"
#include "common/utf8.h"

enum { OPTION_PEEK = CLI_LONG_ONLY, OPTION_NO_MASK };
enum { CHUNK_BYTES = 65536, LOOK_AGAIN_MS = 1000, MOST_PENDING = 10000 };

/* -- printing ---------------------------------------------------------------------------------- */

struct printing {
  const char *path;
  int fd;
  size_t at;
  bool safely;        /* the output goes to a terminal, as text only */
  bool unmasked;      /* secrets are shown */
  bool in_key;        /* inside of a private key */
  struct buffer line; /* the incomplete last line */
};

static int print_text(const struct printing *printing, struct buffer *text) {
  if (!printing->safely) return file_write_all(STDOUT_FILENO, text->bytes, text->len);
  buffer_byte(text, '\0');
  if (text->failed) return ENOMEM;
  terminal_lines(stdout, text->bytes, 0);
  return fflush(stdout) ? errno : 0;
}

/* Prints the first `len` kept bytes, and drops them. */
static int show_kept(struct printing *printing, size_t len) {
  struct buffer text = BUFFER_EMPTY, shown = BUFFER_EMPTY;
  struct tidings_span kept = span_of(printing->line.bytes, len);
  if (printing->safely) plain_text(kept, &text);
  else buffer_span(&text, kept);
  if (printing->unmasked) buffer_span(&shown, buffer_view(&text));
  else mask_lines(&printing->in_key, buffer_view(&text), &shown);
  int reason = text.failed || shown.failed ? ENOMEM : print_text(printing, &shown);
  buffer_free(&text);
  buffer_free(&shown);
  printing->line.len -= len;
  memmove(printing->line.bytes, printing->line.bytes + len, printing->line.len);
  return reason;
}

/* Prints whole lines, so that text that a carriage return overwrites is not shown, and secrets are
 * recognized. A line may be too long for memory. */
static int print_chunk(struct printing *printing, const char *bytes, size_t len) {
  if (!printing->safely && printing->unmasked) return file_write_all(STDOUT_FILENO, bytes, len);
  const char *end = memrchr(bytes, '\n', len);
  size_t whole = end ? printing->line.len + (size_t)(end - bytes) + 1 : 0;
  buffer_append(&printing->line, bytes, len);
  if (printing->line.failed) return ENOMEM;
  if (!whole && !printing->safely && printing->line.len >= CHUNK_BYTES) whole = printing->line.len;
  return whole ? show_kept(printing, whole) : 0;
}

/* Returns the present size of the log, which may grow faster than it is printed. */
static size_t log_size(int fd) {
  struct stat info;
  return fstat(fd, &info) ? 0 : (size_t)info.st_size;
}

/* Prints from the current place up to `size`. Returns 0 or an errno. */
static int print_up_to(struct printing *printing, size_t size) {
  static char bytes[CHUNK_BYTES];
  int reason = 0;
  while (!reason && printing->at < size) {
    size_t left = size - printing->at;
    ssize_t got = read(printing->fd, bytes, left < sizeof bytes ? left : sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    printing->at += (size_t)got;
    reason = print_chunk(printing, bytes, (size_t)got);
  }
  return reason;
}

/* Prints until the run has released its log, and then once more. Without inotify it looks once a
 * second. */
static int print_while_it_grows(struct printing *printing) {
  struct pollfd watch = {.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .events = POLLIN};
  char events[4096];
  int reason = 0;
  if (watch.fd >= 0)
    (void)inotify_add_watch(watch.fd, printing->path, IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE_SELF);
  for (bool grows = true; grows && !reason;) {
    grows = run_log_grows(printing->fd);
    reason = print_up_to(printing, log_size(printing->fd));
    if (!grows || reason) break;
    if (poll(&watch, 1, LOOK_AGAIN_MS) > 0)
      while (read(watch.fd, events, sizeof events) > 0) continue;
  }
  if (watch.fd >= 0) close(watch.fd);
  return reason;
}

struct log_options {
  bool follow, peek, unmasked;
};

static int print_log(const struct cli *cli, const char *path, int fd,
                     const struct log_options *options) {
  struct printing printing = {
      .path = path, .fd = fd, .safely = isatty(STDOUT_FILENO), .unmasked = options->unmasked};
  int reason =
      options->follow ? print_while_it_grows(&printing) : print_up_to(&printing, log_size(fd));
  if (!reason && printing.line.len) {
    reason = show_kept(&printing, printing.line.len);
    if (printing.safely) putchar('\n');
    if (!reason && fflush(stdout)) reason = errno;
  }
  buffer_free(&printing.line);
  if (reason == EPIPE) return EXIT_PIPE;
  return reason ? cli_fail(cli, "cannot print %s: %s", path, strerror(reason)) : 0;
}

static int print_as_json(const struct cli *cli, const char *handle, const char *path, int fd,
                         bool unmasked) {
  struct buffer repaired = BUFFER_EMPTY, text = BUFFER_EMPTY, repaired_path = BUFFER_EMPTY;
  char *bytes = NULL;
  size_t len = 0;
  bool grows = run_log_grows(fd);
  int reason = file_read_beyond(fd, log_size(fd), &bytes, &len);
  if (reason) return cli_fail(cli, "cannot read %s: %s", path, strerror(reason));
  utf8_repair(span_of(bytes, len), &repaired);
  if (unmasked) buffer_span(&text, buffer_view(&repaired));
  else mask_text(buffer_view(&repaired), &text);
  if (repaired.failed) text.failed = true;
  utf8_repair(span_text(path), &repaired_path);
  json_t *content = text.failed ? NULL : json_stringn(text.len ? text.bytes : "", text.len);
  json_t *log = json_pack("{s:s, s:s%, s:b, s:o}", "handle", handle, "log", repaired_path.bytes,
                          repaired_path.len, "running", grows, "content", content);
  int code = log ? print_json(cli, log) : cli_fail(cli, "out of memory");
  if (!code && fflush(stdout))
    code = errno == EPIPE ? EXIT_PIPE : cli_fail(cli, "cannot print it: %s", strerror(errno));
  json_decref(log);
  buffer_free(&repaired);
  buffer_free(&text);
  buffer_free(&repaired_path);
  free(bytes);
  return code;
}

/* -- reporting --------------------------------------------------------------------------------- */

/* Did the session's host start this command? Only then does the assistant read the log. A person
 * who reads it must not withdraw notifications. */
static int is_assistants(const struct cli *cli, struct hostkit *kit, const char *session,
                         bool *ret_is) {
  json_t *status = NULL;
  int code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status);
  if (code) return code;
  const json_t *owner = json_object_get(status, "attachment");
  *ret_is = json_is_true(json_object_get(owner, "alive")) &&
            !json_value_text(owner, "machine")[0] &&
            owner_is_above((uint32_t)json_value_count(owner, "pid"));
  json_decref(status);
  return 0;
}

/* Prints the first line of each pending notification about the handle, because a log does not say
 * how its command ended. */
static void show_pending(const struct cli *cli, const json_t *answer, const char *handle) {
  const json_t *item = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(answer, "items"), i, item) {
    const char *message = json_value_text(item, "message");
    if (strcmp(json_value_text(item, "handle"), handle) == 0)
      cli_warn(cli, "%.*s", (int)strcspn(message, "\n"), message);
  }
}

static int report_polled(const struct cli *cli, const char *handle, bool peek) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  char *session = NULL;
  bool reports = false;
  int code = session_open(cli, &kit, &session);
  if (!code && !peek) code = is_assistants(cli, kit, session, &reports);
  if (!code)
    code = ask(cli, kit,
               json_pack("{s:s, s:s, s:i}", "name", "pending", "session", session, "limit",
                         (int)MOST_PENDING),
               &answer);
  if (!code) show_pending(cli, answer, handle);
  if (!code && reports) {
    json_t *data = json_pack("{s:s}", "handle", handle);
    int32_t refused = kit_event(kit, kit_new_event("handle.polled", session, data), NULL, &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
  }
  json_decref(answer);
  kit_close(kit);
  free(session);
  return code;
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int log_verb(struct cli *cli) {
  struct log_options options = {.follow = false};
  char *handle = NULL, *path = NULL;
  int fd = -1;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == 'f') options.follow = true;
    else if (key == OPTION_PEEK) options.peek = true;
    else if (key == OPTION_NO_MASK) options.unmasked = true;
    else return cli->exit_code;
  }
  int code = cli_take_words(cli, 1, 1, "a handle is");
  if (!code && options.follow && cli->json)
    code = cli_usage(cli, "--follow and --json exclude each other");
  if (!code) code = run_log_find(cli, cli->words[0], &handle, &path, &fd);
  if (code) return code;
  if (cli->json) code = print_as_json(cli, handle, path, fd, options.unmasked);
  else code = print_log(cli, path, fd, &options);
  if (!code) code = report_polled(cli, handle, options.peek);
  close(fd);
  free(handle);
  free(path);
  return code;
}

const struct cli_verb verb_log = {
    .name = "log",
    .usage = "[OPTION]... HANDLE",
    .summary = "print what a command of 'tidings run' has printed",
    .help = "Prints the log of a run, as far as it is written. The first line of what is pending "
            "about it goes to stderr; it says how the command ended. If the session's host has "
            "started this command, it is the assistant who asks: the handle is reported as polled, "
            "and what is pending about it is withdrawn. What a person types withdraws nothing.\n\n"
            "Passwords and tokens are masked. A pipe or a file gets all other bytes as they are. A "
            "terminal gets them as text, without "
            "escape sequences and other control characters.\n\n"
            "HANDLE is the name that 'tidings run' gives the run, and that notifications mention. "
            "The beginning of it is enough, if no other run's begins so. "
            "If no run has it, the error lists the known handles. If the log cannot be printed "
            "whole, nothing is reported.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS,
    .options =
        (const struct cli_option[]){
            {.key = 'f',
             .name = "follow",
             .help = "Go on printing until the run ends, and report then."},
            {.key = OPTION_PEEK, .name = "peek", .help = "Report nothing, whoever asks."},
            {.key = OPTION_NO_MASK,
             .name = "no-mask",
             .help = "Print passwords and tokens, too; without this they read [masked]."},
            {.name = NULL},
        },
    .run = log_verb,
    .examples = (const struct cli_example[]){{"tidings log make-3f9a2c", "What did make print?"},
                                             {"tidings log --follow tests-07be44",
                                              "Watch the tests, and wait for their end."},
                                             {NULL, NULL}},
};
