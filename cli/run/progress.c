/* SPDX-License-Identifier: MIT
 */
#include "cli/run/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/terminal.h"
#include "common/file.h"
#include "common/utf8.h"

static const char erase_line[] = "\r\033[K";

void progress_begin(struct progress *progress) {
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

void progress_show(struct progress *progress, const char *name, uint64_t elapsed_ms,
                   const struct tail *last) {
  struct winsize size = {.ws_col = 0};
  char *line = NULL;
  size_t len = 0;
  if (progress->fd < 0 || tcgetpgrp(progress->fd) != getpgrp())
    return; /* in the background it keeps still */
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
    /* Wide characters may make it longer by a little, and then the terminal wraps. */
    (void)file_write_all(progress->fd, line, utf8_characters(span_of(line, len), size.ws_col - 1u));
    progress->shown = true;
  }
  free(line);
}

void progress_erase(struct progress *progress) {
  if (progress->shown) (void)file_write_all(progress->fd, erase_line, sizeof erase_line - 1);
  progress->shown = false;
}
