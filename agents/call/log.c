/* SPDX-License-Identifier: MIT
 *
 * agents/call/log.c: see the header.
 */
#include "agents/call/log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tidings/tidings.h>
#include <time.h>
#include <unistd.h>

#include "command/paths.h"
#include "command/terminal.h"
#include "common/clock.h"

enum { LARGEST_LOG = 1 << 20 };

static struct { const char *host, *event, *session; } about;

void hook_log_about(const char *host, const char *event, const char *session) {
  if (host) about.host = host;
  if (event) about.event = event;
  if (session) about.session = session;
}

static struct {
  char path[PATH_MAX], line[1024];
  size_t len;
} prepared;

static char *log_folder(void) {
  return paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs");
}

static int open_to_append(const char *path) {
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

/* A log that has grown too large becomes hook.log.1. */
static FILE *open_log(void) {
  char *folder = log_folder(), *path = NULL, *old = NULL;
  FILE *log = NULL;
  struct stat info;
  if (!folder || paths_make_folders(folder)) goto out;
  path = paths_join(folder, "hook.log");
  old = paths_join(folder, "hook.log.1");
  if (!path || !old) goto out;
  if (lstat(path, &info) == 0 && info.st_size > LARGEST_LOG) (void)rename(path, old);
  int fd = open_to_append(path);
  if (fd >= 0 && !(log = fdopen(fd, "a"))) close(fd);
out:
  free(folder);
  free(path);
  free(old);
  return log;
}

static void write_line(FILE *out, const char *text) {
  char stamp[32];
  time_t now = (time_t)(clock_wall_ms() / 1000);
  struct tm utc;
  if (!gmtime_r(&now, &utc) || !strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc))
    stamp[0] = '\0';
  fprintf(out, "%s pid %ld", stamp, (long)getpid());
  const char *const words[] = {about.host, about.event, about.session};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (!words[i]) continue;
    fputc(' ', out);
    terminal_text(out, words[i]);
  }
  fputs(": ", out);
  terminal_text(out, text);
  fputc('\n', out);
}

/* Free it. NULL: no memory. */
__attribute__((format(printf, 1, 0))) static char *make_line(const char *format, va_list arguments,
                                                             size_t *ret_len) {
  char *text = NULL, *line = NULL;
  if (vasprintf(&text, format, arguments) < 0) return NULL;
  FILE *memory = open_memstream(&line, ret_len); /* one write: processes share the file */
  if (memory) write_line(memory, text);
  free(text);
  if (memory && fclose(memory) == 0) return line;
  free(line);
  return NULL;
}

void hook_log(const char *format, ...) {
  size_t len = 0;
  va_list arguments;
  va_start(arguments, format);
  char *line = make_line(format, arguments, &len);
  va_end(arguments);
  FILE *log = line ? open_log() : NULL;
  if (log) {
    fwrite(line, 1, len, log);
    fclose(log);
  }
  if (line && isatty(STDERR_FILENO)) fwrite(line, 1, len, stderr);
  free(line);
}

void hook_log_prepare(const char *format, ...) {
  size_t len = 0;
  char *folder = log_folder();
  va_list arguments;
  va_start(arguments, format);
  char *line = make_line(format, arguments, &len);
  va_end(arguments);
  if (line && folder && len < sizeof prepared.line && !paths_make_folders(folder)) {
    (void)snprintf(prepared.path, sizeof prepared.path, "%s/hook.log", folder);
    memcpy(prepared.line, line, len);
    prepared.len = len;
  }
  free(line);
  free(folder);
}

void hook_log_prepared(void) {
  int fd = prepared.len ? open_to_append(prepared.path) : -1;
  if (fd >= 0) (void)!write(fd, prepared.line, prepared.len);
  if (fd >= 0) close(fd);
}

void hook_log_plugin(uint32_t severity, const char *text, size_t len) {
  if (severity <= TIDINGS_LOG_WARNING) hook_log("%.*s", (int)len, text);
}
