/* SPDX-License-Identifier: MIT
 *
 * watch/repository.h: asks git which files it ignores. Each work tree has a process `git
 * check-ignore`.
 */
#ifndef TIDINGS_CLI_WATCH_REPOSITORY_H
#define TIDINGS_CLI_WATCH_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct repository {
  struct repository *next;
  char *root; /* the root of the work tree, absolute */
  pid_t pid;  /* git's pid; 0: it is not running */
  int to, from;
  unsigned failures;
  bool useless; /* git is not installed, or it failed too often: nothing is ignored */
};

/* Returns the repository whose work tree has the root `folder`. NULL: there is none, or no
 * memory. */
struct repository *repository_at(struct repository **all, const char *folder);
/* Returns the repository that contains `folder`. */
struct repository *repository_above(struct repository **all, const char *folder);

/* Does git ignore `path` (absolute, inside the work tree)? Tracked files are not ignored. Also
 * false if git fails. */
bool repository_ignores(struct repository *repository, const char *path);

/* Call it when a .gitignore has changed, because a running git does not read that file again. */
void repository_restart(struct repository *repository);
void repository_free_all(struct repository *all);

#endif
