/* SPDX-License-Identifier: MIT
 *
 * agents/setup/version.c: which version of a host is installed.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents/setup/setup.h"

extern char **environ;

enum { PATIENCE_MS = 20000, MOST_SAID = 4096 };

static int64_t mono_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What it writes until it ends, or closes its output, or takes too long. */
static size_t listen_to(int fd, char *buffer, size_t size) {
  size_t len = 0;
  int64_t until = mono_ms() + PATIENCE_MS;
  while (len < size && mono_ms() < until) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, (int)(until - mono_ms())) <= 0) continue;
    ssize_t got = read(fd, buffer + len, size - len);
    if (got <= 0) break;
    len += (size_t)got;
  }
  return len;
}

/* "codex-cli 0.169.0", "2.1.329 (Claude Code)", "0.61.0" */
static char *version_in(const char *text) {
  for (const char *at = text; *at; at++) {
    size_t len = strspn(at, "0123456789.");
    if (isdigit((unsigned char)*at) && len > 2 && memchr(at, '.', len)) return strndup(at, len);
    if (len) at += len - 1;
  }
  return NULL;
}

int setup_version(const char *program, char **ret_version) {
  char *name = strdup(program), option[] = "--version", *argv[] = {name, option, NULL},
       said[MOST_SAID + 1];
  posix_spawn_file_actions_t actions;
  int pipes[2], status = 0;
  pid_t child = -1;
  if (!name || pipe2(pipes, O_CLOEXEC)) {
    free(name);
    return -1;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  int reason = posix_spawnp(&child, name, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[1]);
  size_t len = reason ? 0 : listen_to(pipes[0], said, MOST_SAID);
  said[len] = '\0';
  close(pipes[0]);
  free(name);
  if (reason) return -1;
  kill(child, SIGKILL); /* it has said what it had to, or never will */
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!len && WIFEXITED(status) && WEXITSTATUS(status) == 127) return -1;
  *ret_version = version_in(said);
  return 0;
}
