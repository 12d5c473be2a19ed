/* SPDX-License-Identifier: MIT
 *
 * run/supervise.c: a single loop around poll. It has a timeout, one second, only if it may have to
 * watch a terminal.
 */
#include "cli/run/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/leftover.h"
#include "cli/run/tail.h"
#include "cli/run/waiting.h"
#include "command/terminal.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/utf8.h"

/* -- progress ---------------------------------------------------------------------------------- */

struct progress {
  int fd; /* the terminal; -1: there is none */
  bool shown;
};

static const char erase_line[] = "\r\033[K";

/* Shows progress on stderr if that is a terminal that can erase a line. */
static void progress_begin(struct progress *progress) {
  const char *kind = getenv("TERM");
  bool able = isatty(STDERR_FILENO) && kind && kind[0] && strcmp(kind, "dumb") != 0;
  *progress = (struct progress){.fd = able ? STDERR_FILENO : -1};
}

/* "12 s", "4 min 5 s", "2 h 10 min". */
static void write_elapsed(uint64_t ms, char text[32]) {
  unsigned long long seconds = ms / 1000;
  if (seconds < 60) snprintf(text, 32, "%llu s", seconds);
  else if (seconds < 3600) snprintf(text, 32, "%llu min %llu s", seconds / 60, seconds % 60);
  else snprintf(text, 32, "%llu h %llu min", seconds / 3600, seconds % 3600 / 60);
}

/* `last`: the newest output, which is also shown; NULL: the screen has it. */
static void progress_show(struct progress *progress, const char *name, uint64_t elapsed_ms,
                          const struct tail *last) {
  struct winsize size = {.ws_col = 0};
  char *line = NULL;
  size_t len = 0;
  if (progress->fd < 0 || tcgetpgrp(progress->fd) != getpgrp())
    return; /* a run in the background shows nothing */
  if (ioctl(progress->fd, TIOCGWINSZ, &size) || size.ws_col < 10) size.ws_col = 80;
  char *words = last ? tail_text(last, 1, 512, true) : NULL;
  char elapsed[32];
  write_elapsed(elapsed_ms, elapsed);
  FILE *out = open_memstream(&line, &len);
  if (out) {
    terminal_text(out, name);
    fprintf(out, ": %s%s", elapsed, words && words[0] ? " | " : "");
    for (char *at = words; at && *at; at++) {
      if (*at == '\t') *at = ' ';
    }
    if (words) terminal_text(out, words);
  }
  free(words);
  if (out && !fclose(out)) {
    (void)file_write_all(progress->fd, erase_line, sizeof erase_line - 1);
    /* Wide characters may make the line too long; then the terminal wraps it. */
    (void)file_write_all(progress->fd, line, utf8_characters(span_of(line, len), size.ws_col - 1u));
    progress->shown = true;
  }
  free(line);
}

static void progress_erase(struct progress *progress) {
  if (progress->shown) (void)file_write_all(progress->fd, erase_line, sizeof erase_line - 1);
  progress->shown = false;
}

enum { STREAM_BYTES = 65536, TICK_MS = 1000, MOST_DRAINED = 1 << 20 };

struct stream {
  int *from;    /* the command's descriptor; -1: it has ended */
  int to;       /* our descriptor; -1: the output is not passed on */
  size_t chunk; /* how much `to` surely takes when it is ready */
  size_t start, end;
  bool at_line_start;
  char bytes[STREAM_BYTES];
};

struct supervision {
  struct run *run;
  struct progress progress;
  struct stream out, err;
  bool has_terminal, reported_waiting, ended;
  unsigned seen_waiting; /* how many looks in a row saw the command wait */
  int status;
  uint64_t tick_ms;
};

/* -- the output -------------------------------------------------------------------------------- */

static void stream_begin(struct stream *stream, int *from, int to) {
  struct stat info;
  stream->from = from;
  stream->to = to;
  stream->at_line_start = true;
  stream->chunk =
      to >= 0 && fstat(to, &info) == 0 && S_ISREG(info.st_mode) ? STREAM_BYTES : PIPE_BUF;
}

static void stream_close(struct stream *stream) {
  if (*stream->from >= 0) close(*stream->from);
  *stream->from = -1;
}

/* Reads only after the earlier bytes were passed on: a slow reader makes the command wait, as
 * without us. Returns how many bytes. */
static size_t stream_read(struct supervision *all, struct stream *stream) {
  struct run *run = all->run;
  if (stream->end || *stream->from < 0) return 0;
  ssize_t got = read(*stream->from, stream->bytes, sizeof stream->bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    stream_close(stream);
    return 0;
  }
  run_log_write(&run->log, stream->bytes, (size_t)got);
  tail_add(&run->tail, stream->bytes, (size_t)got);
  excerpt_add(&run->excerpt, stream->bytes, (size_t)got);
  if (stream->to < 0) return (size_t)got;
  stream->start = 0;
  return stream->end = (size_t)got;
}

static void stream_write(struct supervision *all, struct stream *stream) {
  size_t left = stream->end - stream->start;
  if (!stream->end) return;
  progress_erase(&all->progress);
  ssize_t put =
      write(stream->to, stream->bytes + stream->start, left < stream->chunk ? left : stream->chunk);
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (put < 0) {
    int reason = errno;
    stream->to = -1;
    stream->start = stream->end = 0;
    if (reason == EPIPE) stream_close(stream); /* the command gets the same error as without us */
    else
      cli_warn(all->run->cli, "cannot pass the output on: %s; all of it is in %s", strerror(reason),
               all->run->log.path);
    return;
  }
  stream->start += (size_t)put;
  stream->at_line_start = stream->bytes[stream->start - 1] == '\n';
  if (stream->start == stream->end) stream->start = stream->end = 0;
}

/* Reads the command's last output from the pipes. Processes that it has left running may go on
 * printing, so this waits for neither their end nor a pause. */
static void drain(struct supervision *all) {
  struct stream *streams[] = {&all->out, &all->err};
  for (size_t i = 0; i < 2; i++) {
    for (size_t taken = 0; streams[i]->end || taken < MOST_DRAINED;) {
      taken += stream_read(all, streams[i]);
      if (!streams[i]->end) {
        struct pollfd more = {.fd = *streams[i]->from, .events = POLLIN};
        if (*streams[i]->from < 0 || poll(&more, 1, 0) <= 0) break;
        continue;
      }
      struct pollfd room = {.fd = streams[i]->to, .events = POLLOUT};
      if (poll(&room, 1, -1) > 0) stream_write(all, streams[i]);
    }
  }
  leftover_read(&all->run->log, *all->out.from, *all->err.from);
  for (size_t i = 0; i < 2; i++) stream_close(streams[i]);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static void update_waiting(struct supervision *all, bool waits) {
  if (all->reported_waiting == waits) return;
  progress_erase(&all->progress);
  (void)report_waiting(&all->run->report,
                       waits); /* it has printed an error; the end still has to be reported */
  all->reported_waiting = waits;
}

/* Reports waiting only after two looks, because the first may see a read that is about to
 * return. */
static void look_at_terminal(struct supervision *all) {
  if (!all->has_terminal) return;
  bool waits = waiting_for_input(all->run->child.pid);
  all->seen_waiting = waits ? all->seen_waiting + 1 : 0;
  if (!waits) update_waiting(all, false);
  else if (all->seen_waiting > 1) update_waiting(all, true);
}

/* Reading the terminal from the background stops the command. Then we stop too, because the shell
 * can continue only us. */
static void stop_too(struct supervision *all, int number) {
  if (number != SIGTTIN && number != SIGTTOU) return;
  update_waiting(all, true);
  (void)raise(SIGSTOP);
  child_continue(&all->run->child);
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void tick(struct supervision *all) {
  struct run *run = all->run;
  all->tick_ms = (uint64_t)clock_mono_ms() + TICK_MS;
  look_at_terminal(all);
  bool covered = !run->quiet &&
                 !(all->out.at_line_start && all->err.at_line_start); /* the cursor is in a prompt
                                                                         or half a line */
  if (!covered && !all->seen_waiting)
    progress_show(&all->progress, run->name, (uint64_t)clock_mono_ms() - all->run->begun_ms,
                  run->quiet ? &run->tail : NULL);
}

static int timeout(const struct supervision *all) {
  if (!all->has_terminal && all->progress.fd < 0) return -1;
  uint64_t now = (uint64_t)clock_mono_ms();
  return now >= all->tick_ms ? 0 : (int)(all->tick_ms - now);
}

static void take_signals(struct supervision *all) {
  int status = 0;
  while (child_signal(&all->run->child)) continue;
  for (int what; !all->ended && (what = child_look(&all->run->child, &status));) {
    if (what == 2) stop_too(all, status);
    all->ended = what == 1;
  }
  if (all->ended) all->status = status;
}

static struct pollfd of_stream(const struct stream *stream) {
  if (stream->end) return (struct pollfd){.fd = stream->to, .events = POLLOUT};
  return (struct pollfd){.fd = *stream->from, .events = POLLIN};
}

static void loop(struct supervision *all) {
  while (!all->ended) {
    struct pollfd fds[] = {{.fd = all->run->child.signals, .events = POLLIN},
                           of_stream(&all->out),
                           of_stream(&all->err)};
    int ready = poll(fds, 3, timeout(all));
    if (ready > 0 && fds[1].revents)
      all->out.end ? stream_write(all, &all->out) : (void)stream_read(all, &all->out);
    if (ready > 0 && fds[2].revents)
      all->err.end ? stream_write(all, &all->err) : (void)stream_read(all, &all->err);
    if (ready > 0 && fds[0].revents) take_signals(all);
    if (timeout(all) == 0) tick(all);
  }
}

static bool has_terminal(void) {
  int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static void begin(struct supervision *all, struct run *run) {
  bool passes = !run->quiet && !run->detached;
  all->run = run;
  all->has_terminal = !run->detached && has_terminal();
  all->tick_ms = run->begun_ms + TICK_MS;
  stream_begin(&all->out, &run->child.out, passes ? STDOUT_FILENO : -1);
  stream_begin(&all->err, &run->child.err, passes ? STDERR_FILENO : -1);
  all->progress.fd = -1;
  if (!run->detached) progress_begin(&all->progress);
}

int supervise(struct run *run) {
  struct supervision *all = calloc(1, sizeof *all);
  if (!all) return cli_fail(run->cli, "out of memory; the command goes on without supervision");
  begin(all, run);
  loop(all);
  uint64_t elapsed_ms = (uint64_t)clock_mono_ms() - run->begun_ms;
  drain(all);
  progress_erase(&all->progress);
  update_waiting(all, false); /* otherwise waiting and end would be reported */
  excerpt_end(&run->excerpt);
  (void)report_end(&run->report, all->status, elapsed_ms);
  watchdog_stop(&run->watchdog); /* until now it reports the end if we are killed */
  int code = report_exit_code(all->status);
  if (code && run->quiet && !run->detached)
    cli_warn(run->cli, "%s ended with exit code %d; its output is in %s", run->name, code,
             run->log.path);
  free(all);
  return code;
}
