/* SPDX-License-Identifier: MIT
 *
 * watch/repository.h: asks git which files it ignores: one `git check-ignore` runs beside us for
 * each work tree.
 */
#ifndef TIDINGS_CLI_WATCH_REPOSITORY_H
#define TIDINGS_CLI_WATCH_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct repository {
  struct repository *next;
  char *root; /* of the work tree, absolute */
  pid_t pid;  /* of git; 0: it does not run now */
  int to, from;
  unsigned failures;
  bool useless; /* git is not installed, or it failed too often: nothing is ignored */
};

/* The repository whose work tree has its root in `folder`, found before or new. NULL: there is
 * none, or no memory. */
struct repository *repository_at(struct repository **all, const char *folder);
/* The one that `folder` lies in. */
struct repository *repository_above(struct repository **all, const char *folder);

/* Does git ignore `path` (absolute, inside the work tree)? Tracked files are not ignored. False
 * when git fails. */
bool repository_ignores(struct repository *repository, const char *path);

/* A .gitignore has changed: git reads them once. */
void repository_restart(struct repository *repository);
void repository_free_all(struct repository *all);

#endif
