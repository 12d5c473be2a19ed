/* SPDX-License-Identifier: MIT
 */
#include "agents/call/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tidings/tidings.h>
#include <unistd.h>

#include "command/paths.h"
#include "command/terminal.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/json_write.h"

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

/* Writes the time without the C library, which would read the system's time zone at each call of a
 * hook. */
static void write_time(FILE *out) {
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  json_put_time(&writer, NULL, clock_wall_ms());
  if (!text.failed && text.len > 2)
    fwrite(text.bytes + 1, 1, text.len - 2, out); /* without the quotes */
  buffer_free(&text);
}

static void write_line(FILE *out, const char *text) {
  write_time(out);
  fprintf(out, " pid %ld", (long)getpid());
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

/* Returns a line; free it. NULL: no memory. */
__attribute__((format(printf, 1, 0))) static char *make_line(const char *format, va_list arguments,
                                                             size_t *ret_len) {
  char *text = NULL, *line = NULL;
  if (vasprintf(&text, format, arguments) < 0) return NULL;
  FILE *memory = open_memstream(&line, ret_len); /* for one write: processes share the file */
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
  if (line && folder && len < sizeof prepared.line) {
    (void)snprintf(prepared.path, sizeof prepared.path, "%s/hook.log", folder);
    memcpy(prepared.line, line, len);
    prepared.len = len;
  }
  free(line);
  free(folder);
}

/* Opens the log in a signal's handler. Its folders mostly exist; the functions that make them are
 * safe there. */
static int open_prepared(void) {
  int fd = open_to_append(prepared.path);
  if (fd >= 0 || errno != ENOENT) return fd;
  for (char *end = prepared.path + 1; (end = strchr(end, '/')); end++) {
    *end = '\0';
    (void)mkdir(prepared.path, 0700);
    *end = '/';
  }
  return open_to_append(prepared.path);
}

void hook_log_prepared(void) {
  int fd = prepared.len ? open_prepared() : -1;
  if (fd >= 0) (void)!write(fd, prepared.line, prepared.len);
  if (fd >= 0) close(fd);
}

void hook_log_plugin(uint32_t severity, const char *text, size_t len) {
  if (severity <= TIDINGS_LOG_WARNING) hook_log("%.*s", (int)len, text);
}
