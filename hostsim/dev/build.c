/* SPDX-License-Identifier: MIT
 */
#include "dev/build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/spawn.h"

enum { MOST_LINES = 16, MOST_OUTPUT = 4 << 20 };

int build_start(struct build *build) {
  const char *const arguments[] = {"sh", "-c", build->command, NULL};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return errno;
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  struct spawn spawn = {.argv = arguments,
                        .in = SPAWN_NULL,
                        .out = ends[1],
                        .err = SPAWN_AS_OUT,
                        .own_group = true,
                        .fresh_signals = true};
  int reason = spawn_start(&spawn, &build->pid);
  close(ends[1]);
  if (reason) {
    close(ends[0]);
    return reason;
  }
  build->fd = ends[0];
  build->began_ms = clock_mono_ms();
  build->output.len = 0;
  return 0;
}

bool build_has_ended(struct build *build, int *ret_status) {
  char bytes[4096];
  ssize_t got = 0;
  while ((got = read(build->fd, bytes, sizeof bytes)) > 0)
    if (build->output.len < MOST_OUTPUT) buffer_append(&build->output, bytes, (size_t)got);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  close(build->fd);
  build->fd = -1;
  (void)spawn_wait(build->pid, -1, ret_status);
  return true;
}

void build_cancel(struct build *build) {
  if (build->fd >= 0) (void)kill(-build->pid, SIGTERM);
}

void build_finish(struct build *build) {
  int status = 0;
  build_cancel(build);
  if (build->fd >= 0) {
    close(build->fd);
    (void)spawn_wait(build->pid, -1, &status);
  }
  buffer_free(&build->output);
  build->fd = -1;
}

/* -- what is wrong ----------------------------------------------------------------------------- */

static bool has(struct tidings_span line, const char *words) {
  return memmem(line.ptr, line.len, words, strlen(words)) != NULL;
}

static bool is_error(struct tidings_span line) {
  return has(line, " error: ") || has(line, "CMake Error") ||
         has(line, ": undefined reference to ") || has(line, "ninja: error:");
}

/* Is it a line of ninja, "[3/5] Linking ..." or "FAILED: ...", or the failed command? */
static bool is_command(struct tidings_span line) {
  return has(line, "FAILED: ") || has(line, " -o ") || has(line, "ninja: build stopped") ||
         (line.len && line.ptr[0] == '[');
}

static bool next_line(struct tidings_span *rest, struct tidings_span *ret_line) {
  if (!rest->len) return false;
  const char *end = memchr(rest->ptr, '\n', rest->len);
  size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
  *ret_line = span_of(rest->ptr, len);
  *rest = span_of(rest->ptr + len + (end != NULL), rest->len - len - (end != NULL));
  return true;
}

/* Returns the last MOST_LINES lines. */
static struct tidings_span last_lines(struct tidings_span all) {
  struct tidings_span rest = all, line;
  size_t count = 0;
  while (next_line(&rest, &line)) count++;
  for (rest = all; count > MOST_LINES; count--) (void)next_line(&rest, &line);
  return rest;
}

void build_errors(const struct build *build, struct buffer *lines, unsigned *ret_errors,
                  unsigned *ret_left) {
  struct tidings_span all = buffer_view(&build->output), rest = all, line;
  unsigned errors = 0, shown = 0, left = 0;
  while (next_line(&rest, &line)) errors += is_error(line);
  rest = errors ? all : last_lines(all);
  bool begun = !errors;
  while (next_line(&rest, &line)) {
    begun = begun || is_error(line);
    if (!begun || is_command(line)) continue;
    if (shown == MOST_LINES) {
      left++;
      continue;
    }
    shown++;
    while (line.len > 3 &&
           !memcmp(line.ptr, "../", 3)) /* paths are relative to the build's folder */
      line = span_of(line.ptr + 3, line.len - 3);
    buffer_span(lines, line);
    buffer_byte(lines, '\n');
  }
  *ret_errors = errors;
  *ret_left = left;
}
