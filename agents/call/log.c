/* SPDX-License-Identifier: MIT
 *
 * agents/call/log.c: see the header.
 */
#include "agents/call/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A log that has grown too large becomes hook.log.1. */
static FILE *open_log(void) {
  char *folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs"), *path = NULL,
       *old = NULL;
  FILE *log = NULL;
  struct stat info;
  if (!folder || paths_make_folders(folder)) goto out;
  path = paths_join(folder, "hook.log");
  old = paths_join(folder, "hook.log.1");
  if (!path || !old) goto out;
  if (lstat(path, &info) == 0 && info.st_size > LARGEST_LOG) (void)rename(path, old);
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
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

void hook_log(const char *format, ...) {
  char *text = NULL, *line = NULL;
  size_t len = 0;
  va_list arguments;
  va_start(arguments, format);
  int printed = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (printed < 0) return;
  FILE *memory = open_memstream(&line, &len); /* one write: processes share the file */
  if (memory) write_line(memory, text);
  if (memory && fclose(memory) == 0) {
    FILE *log = open_log();
    if (log) {
      fwrite(line, 1, len, log);
      fclose(log);
    }
    if (isatty(STDERR_FILENO)) fwrite(line, 1, len, stderr);
  }
  free(line);
  free(text);
}

void hook_log_plugin(uint32_t severity, const char *text, size_t len) {
  if (severity <= TIDINGS_LOG_WARNING) hook_log("%.*s", (int)len, text);
}
