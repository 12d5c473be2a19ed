/* SPDX-License-Identifier: MIT
 */
#include "cli/watch/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/paths.h"
#include "common/file.h"
#include "common/spawn.h"

enum { MOST_FAILURES = 5, ANSWER_MS = 5000, LONGEST_ANSWER = 16384, FIELDS = 4 };

/* -- git --------------------------------------------------------------------------------------- */

static void stop_git(struct repository *repository) {
  if (!repository->pid) return;
  close(repository->to);
  close(repository->from);
  int status = 0;
  (void)kill(repository->pid, SIGTERM);
  spawn_wait(repository->pid, -1, &status);
  repository->pid = 0;
}

/* Returns the environment without variables that would direct git to another repository. Free the
 * list, not its texts. */
static const char **environment(void) {
  static const char *const left_out[] = {
      "GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_PREFIX=", "GIT_CEILING_DIRECTORIES="};
  size_t count = 0, used = 0;
  while (environ[count]) count++;
  const char **list = calloc(count + 1, sizeof *list);
  for (size_t i = 0; list && i < count; i++) {
    bool keep = true;
    for (size_t k = 0; k < sizeof left_out / sizeof left_out[0]; k++)
      keep = keep && strncmp(environ[i], left_out[k], strlen(left_out[k])) != 0;
    if (keep) list[used++] = environ[i];
  }
  return list;
}

static int start_git(struct repository *repository, int in, int out) {
  const char *const arguments[] = {
      "git", "-C", repository->root, "check-ignore", "--stdin", "-z", "-v", "-n", NULL};
  const char **env = environment();
  sigset_t none;
  sigemptyset(&none);
  /* git gets its own process group, so that Ctrl-C does not end it while this process still asks
   * it. */
  const struct spawn spawn = {.argv = arguments,
                              .environment = env,
                              .in = in,
                              .out = out,
                              .err = SPAWN_NULL,
                              .own_group = true,
                              .pipe_signal = true,
                              .mask = &none};
  int reason = env ? spawn_start(&spawn, &repository->pid) : ENOMEM;
  free(env);
  return reason;
}

static int open_git(struct repository *repository) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC)) return errno;
  if (pipe2(out, O_CLOEXEC)) {
    int reason = errno;
    close(in[0]);
    close(in[1]);
    return reason;
  }
  int reason = start_git(repository, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  repository->to = in[1];
  repository->from = out[0];
  if (!reason) return 0;
  repository->pid = 0;
  close(repository->to);
  close(repository->from);
  return reason;
}

/* Reads the answer to one path: source, line, pattern and path, each ended by a NUL; the source is
 * empty if nothing matched. */
static int read_answer(const struct repository *repository, bool *ret_ignored) {
  char answer[LONGEST_ANSWER];
  size_t len = 0, fields = 0, pattern = 0;
  while (fields < FIELDS) {
    struct pollfd ready = {.fd = repository->from, .events = POLLIN};
    int waited = poll(&ready, 1, ANSWER_MS);
    if (waited < 0 && errno == EINTR) continue;
    if (waited <= 0) return -1;
    ssize_t got = read(repository->from, answer + len, sizeof answer - len);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    for (ssize_t i = 0; i < got; i++) {
      if (answer[len + (size_t)i]) continue;
      if (++fields == 2) pattern = len + (size_t)i + 1;
    }
    len += (size_t)got;
    if (len == sizeof answer) return -1;
  }
  *ret_ignored = answer[0] && answer[pattern] != '!'; /* "!x" un-ignores x */
  return 0;
}

static int ask_git(struct repository *repository, const char *path, bool *ret_ignored) {
  const char *inside = path + strlen(repository->root);
  while (*inside == '/') inside++;
  if (!*inside) { /* the root itself */
    *ret_ignored = false;
    return 0;
  }
  /* "./" comes first, because git gives some first characters of a name a special meaning */
  if (file_write_all(repository->to, "./", 2) ||
      file_write_all(repository->to, inside, strlen(inside) + 1))
    return -1;
  return read_answer(repository, ret_ignored);
}

bool repository_ignores(struct repository *repository, const char *path) {
  bool ignored = false;
  for (int attempt = 0; attempt < 2 && !repository->useless; attempt++) {
    int reason = repository->pid ? 0 : open_git(repository);
    if (!reason && ask_git(repository, path, &ignored) == 0) return ignored;
    stop_git(repository);
    /* git ends if it refuses a path, such as one in a submodule, or below a symbolic link. */
    if (reason == ENOENT || ++repository->failures > MOST_FAILURES) {
      repository->useless = true;
      fprintf(stderr, reason == ENOENT
                          ? "tidings watch: git is not installed, so files that it ignores are "
                            "not left out\n"
                          : "tidings watch: git cannot list the files that it ignores, so they "
                            "are not left out\n");
    }
  }
  return false;
}

void repository_restart(struct repository *repository) { stop_git(repository); }

/* -- finding ----------------------------------------------------------------------------------- */

struct repository *repository_at(struct repository **all, const char *folder) {
  struct stat info;
  for (struct repository *one = *all; one; one = one->next) {
    if (strcmp(one->root, folder) == 0) return one;
  }
  char *git = paths_join(strcmp(folder, "/") == 0 ? "" : folder, ".git");
  bool there = git && lstat(git, &info) == 0;
  free(git);
  struct repository *one = there ? calloc(1, sizeof *one) : NULL;
  if (one) one->root = strdup(folder);
  if (!one || !one->root) {
    free(one);
    return NULL;
  }
  one->next = *all;
  *all = one;
  return one;
}

struct repository *repository_above(struct repository **all, const char *folder) {
  char *at = strdup(folder);
  struct repository *found = NULL;
  for (char *slash; at && !found && at[0]; *slash = '\0') {
    found = repository_at(all, at);
    slash = strrchr(at, '/');
  }
  if (at && !found) found = repository_at(all, "/");
  free(at);
  return found;
}

void repository_free_all(struct repository *all) {
  while (all) {
    struct repository *next = all->next;
    stop_git(all);
    free(all->root);
    free(all);
    all = next;
  }
}
