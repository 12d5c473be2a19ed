/* SPDX-License-Identifier: MIT
 */
#include "subscribe/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/spawn.h"

enum { CHUNK_BYTES = 65536, LONGEST_MESSAGE = 16 << 20, PATIENCE_MS = 2000 };
enum { MOST_UNREAD = 1 << 20 }; /* the most bytes that wait for a program that does not read */

void process_begin(struct process *process, char **words) {
  *process = (struct process){.words = words, .to = -1, .from = -1};
  process->in.longest = LONGEST_MESSAGE;
}

static int make_pipes(int to[2], int from[2]) {
  if (pipe2(to, O_CLOEXEC)) return errno;
  if (!pipe2(from, O_CLOEXEC)) return 0;
  int reason = errno;
  close(to[0]);
  close(to[1]);
  return reason;
}

static int start(struct process *process) {
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  int reason = make_pipes(to, from);
  if (reason) return reason;
  const struct spawn spawn = {.argv = (const char *const *)process->words,
                              .in = to[0],
                              .out = from[1],
                              .close_others = true,
                              .fresh_signals = true};
  reason = spawn_start(&spawn, &process->pid);
  close(to[0]);
  close(from[1]);
  if (reason) {
    close(to[1]);
    close(from[0]);
    process->pid = 0;
    return reason;
  }
  process->to = to[1];
  process->from = from[0];
  (void)fcntl(process->to, F_SETFL, O_NONBLOCK);
  (void)fcntl(process->from, F_SETFL, O_NONBLOCK);
  return 0;
}

/* Writes as much as the pipe takes; the rest follows when it has room again. */
static void write_some(struct process *process) {
  struct buffer *out = &process->out;
  while (out->len && process->to >= 0) {
    ssize_t done = write(process->to, out->bytes, out->len);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return; /* if this is EPIPE, the end of the program's stdout reports it */
    memmove(out->bytes, out->bytes + done, out->len - (size_t)done);
    out->len -= (size_t)done;
  }
}

void process_send(struct process *process, struct tidings_span message) {
  if (!process->pid && !process->start_error) process->start_error = start(process);
  if (!process->pid || process->out.len > MOST_UNREAD) return; /* it fails when its time is over */
  buffer_span(&process->out, message);
  buffer_byte(&process->out, '\n');
  write_some(process);
}

static void forget(struct process *process) {
  if (process->to >= 0) close(process->to);
  if (process->from >= 0) close(process->from);
  process->to = process->from = -1;
  process->pid = 0;
  buffer_free(&process->out);
  input_free(&process->in);
  process->in = (struct input){.longest = LONGEST_MESSAGE};
}

/* Waits for the end of the program, and returns its wait status. */
static int await_end(struct process *process) {
  int status = 0;
  if (process->to >= 0) close(process->to);
  process->to = -1;
  if (spawn_wait(process->pid, PATIENCE_MS, &status)) return status;
  (void)kill(process->pid, SIGTERM);
  return spawn_wait(process->pid, PATIENCE_MS, &status) ? status : spawn_kill(process->pid);
}

void process_reset(struct process *process) {
  if (process->pid) (void)await_end(process);
  forget(process);
}

void process_end(struct process *process) { process_reset(process); }

bool process_is_ready(const struct process *process) { return process->start_error != 0; }

size_t process_fds(const struct process *process, struct pollfd fds[PROCESS_FDS]) {
  size_t count = 0;
  if (process->from >= 0) fds[count++] = (struct pollfd){.fd = process->from, .events = POLLIN};
  if (process->to >= 0 && process->out.len)
    fds[count++] = (struct pollfd){.fd = process->to, .events = POLLOUT};
  return count;
}

/* -- output of the program --------------------------------------------------------------------- */

static void report_status(int status, const struct wire_ears *ears) {
  char text[96];
  if (WIFSIGNALED(status))
    snprintf(text, sizeof text, "it was ended by signal %d", WTERMSIG(status));
  else snprintf(text, sizeof text, "it has ended with exit code %d", WEXITSTATUS(status));
  const struct events_failure failure = {.status = EVENTS_SERVER_ENDED, .reason = text};
  (void)ears->failed(ears->context, 0, &failure, 0);
}

static void report_start(struct process *process, const struct wire_ears *ears) {
  char text[160];
  snprintf(text, sizeof text, "it cannot be started: %s", strerror(process->start_error));
  process->start_error = 0;
  const struct events_failure failure = {.status = EVENTS_SERVER_ENDED, .reason = text};
  (void)ears->failed(ears->context, 0, &failure, 0);
}

/* Reports complete lines. The receiver of a message may reset the process. */
static bool report_lines(struct process *process, const struct wire_ears *ears) {
  struct tidings_span line;
  bool too_long = false;
  pid_t pid = process->pid;
  while (process->pid == pid && input_next(&process->in, &line, &too_long)) {
    while (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    if (too_long) ears->lost(ears->context, "a message of more than 16 MiB is left out");
    if (line.len && !too_long && !ears->message(ears->context, line)) return false;
  }
  return process->pid == pid;
}

static void read_some(struct process *process, const struct wire_ears *ears) {
  static char chunk[CHUNK_BYTES];
  ssize_t got = read(process->from, chunk, sizeof chunk);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0 && input_add(&process->in, chunk, (size_t)got)) {
    (void)report_lines(process, ears);
    return;
  }
  int status = await_end(process); /* an incomplete last line is not read */
  forget(process);
  report_status(status, ears);
}

void process_handle(struct process *process, const struct pollfd *fds, size_t count,
                    const struct wire_ears *ears) {
  if (process->start_error) report_start(process, ears);
  for (size_t i = 0; i < count; i++) {
    if (!fds[i].revents) continue;
    if (fds[i].fd == process->to) write_some(process);
    else if (fds[i].fd == process->from) read_some(process, ears);
  }
}
