/* SPDX-License-Identifier: MIT
 *
 * watch/tree.h: watches folders by inotify, and notes the changed paths.
 */
#ifndef TIDINGS_CLI_WATCH_TREE_H
#define TIDINGS_CLI_WATCH_TREE_H

#include "cli/watch/changes.h"
#include "cli/watch/filter.h"
#include "cli/watch/known.h"
#include "cli/watch/repository.h"
#include "command/cli.h"

struct root { /* a folder or file that the user named */
  char *path; /* the folder's path, absolute, with links resolved */
  char *only; /* the only file in it to watch; NULL: all */
};

struct folder { /* a watched folder */
  int wd;
  char *path;
  const struct root *root;
  struct repository *repository; /* NULL: none */
  bool deep;                     /* its subfolders are watched too */
};

struct tree {
  const struct cli *cli;
  const struct filter *filter;
  struct changes *changes;
  struct known known;
  struct repository *repositories;
  struct root *roots;
  size_t root_count;
  struct folder **folders; /* open addressing by wd */
  size_t folder_mask, folder_count;
  int fd;
  char *old_name; /* the former name of the folder that SCAN_RENAMED scans */
  const char *new_name;
  bool overflowed;  /* the kernel dropped events; the caller resets it */
  int limit;        /* ENOSPC: no watch was left for a new folder; 0: no error. The caller resets
                       it */
  char *unreadable; /* the first folder that could not be read; the caller takes it */
  size_t unreadable_count;
  bool no_memory;
};

/* Makes a tree whose `fd` can be polled. Prints errors with their remedies. Returns 0 or the exit
 * code. */
int tree_open(struct tree *tree, const struct cli *cli, const struct filter *filter,
              struct changes *changes, size_t most_roots);
int tree_add_root(struct tree *tree, const char *path);

/* Takes all available events. Returns 0, or an errno. */
int tree_read(struct tree *tree);
/* Call it when no event has come for a while: a file that was renamed away, and has not appeared
 * under another name, is gone. */
void tree_settle(struct tree *tree);
/* After an overflow: watches new folders, and notes differences. */
void tree_look_again(struct tree *tree);

/* Returns the nearest watched folder above `path`; NULL: none is watched. */
const struct folder *tree_folder_above(const struct tree *tree, const char *path);
void tree_close(struct tree *tree);

/* folders.c */
struct folder *folders_find(const struct tree *tree, int wd);
int folders_put(struct tree *tree, struct folder *folder); /* 0, or -1: out of memory */
void folders_drop(struct tree *tree, int wd);
void folders_drop_below(struct tree *tree, const char *path); /* also the folder itself */

/* scan.c: how to treat the files that are found */
enum scan {
  SCAN_LEARN,
  SCAN_NOTE_ALL,
  SCAN_NOTE_CHANGED,
  SCAN_RENAMED /* notes changes since the folder had the name tree->old_name */
};
/* Watches a folder and, if `deep`, the folders below it. Returns 0 or the errno of watching the
 * folder itself. */
int scan_folder(struct tree *tree, const char *path, const struct root *root,
                struct repository *repository, bool deep, enum scan what);
/* Watches a folder that was found in another one, and all folders below it; notes unreadable
 * ones. */
void scan_below(struct tree *tree, const char *path, const struct root *root,
                struct repository *repository, enum scan what);
/* Notes that something happened to a path. */
struct change *scan_note(struct tree *tree, const char *path);
/* Returns the time of a file's last change, in ns; -1: there is no such file. */
int64_t scan_time(const char *path);

#endif
