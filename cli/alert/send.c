/* SPDX-License-Identifier: MIT
 */
#include "cli/alert/send.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/alert/text.h"
#include "common/spawn.h"

enum { PATIENCE_MS = 5000 };

/* Without a desktop it fails. */
static bool send_to_desktop(const char *summary, const char *body, bool urgent) {
  char *markup = alert_markup(body), printed[64];
  size_t len = 0;
  int status = 0;
  const char *const argv[] = {"notify-send",
                              "--app-name=tidings",
                              urgent ? "--urgency=critical" : "--urgency=normal",
                              "--",
                              summary,
                              markup,
                              NULL};
  bool sent = markup && !spawn_capture(argv, PATIENCE_MS, printed, sizeof printed, &len, &status) &&
              WIFEXITED(status) && WEXITSTATUS(status) == 0;
  free(markup);
  return sent;
}

/* Returns the descriptor of a terminal; -1: it is none. A terminal that is stopped holds nobody up.
 */
static int open_terminal(const char *path) {
  int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || isatty(fd)) return fd;
  close(fd);
  return -1;
}

static int find_terminal(uint32_t owner) {
  static const char *const own[] = {"/proc/self/fd/2", "/proc/self/fd/1", "/dev/tty"};
  char path[64];
  int fd = -1;
  for (size_t i = 0; i < sizeof own / sizeof *own && fd < 0; i++) fd = open_terminal(own[i]);
  for (unsigned i = 1; owner && i <= 3 && fd < 0; i++) {
    (void)snprintf(path, sizeof path, "/proc/%u/fd/%u", owner, i % 3);
    fd = open_terminal(path);
  }
  return fd;
}

static bool send_to_terminal(const char *summary, const char *body, uint32_t owner) {
  char *sequence = alert_sequence(summary, body);
  int fd = sequence ? find_terminal(owner) : -1;
  void (*before)(int) = signal(SIGTTOU, SIG_IGN); /* a process in the background may print there */
  bool sent = fd >= 0 && write(fd, sequence, strlen(sequence)) == (ssize_t)strlen(sequence);
  (void)signal(SIGTTOU, before);
  if (fd >= 0) close(fd);
  free(sequence);
  return sent;
}

bool alert_send(const char *summary, const char *body, bool urgent, uint32_t owner) {
  return send_to_desktop(summary, body, urgent) || send_to_terminal(summary, body, owner);
}
