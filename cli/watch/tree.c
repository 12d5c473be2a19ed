/* SPDX-License-Identifier: MIT
 *
 * watch/tree.c: handles the kernel's events: turns names into paths, and follows new, deleted and
 * renamed folders.
 */
#include "cli/watch/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/paths.h"

/* -- folders ----------------------------------------------------------------------------------- */

/* Notes a change of a folder. `existed`: the folder existed before, if this is its first change. */
static struct change *note_folder(struct tree *tree, const char *path, bool existed) {
  bool is_new = false;
  struct change *change = changes_of(tree->changes, path, &is_new);
  if (!change) tree->no_memory = true;
  else if (is_new) change->existed = existed;
  if (change) change->folder = true;
  return change;
}

static void folder_came(struct tree *tree, const struct folder *parent, const char *path,
                        uint32_t cookie) {
  struct change *gone = changes_by_cookie(tree->changes, cookie);
  bool renamed = gone && gone->folder;
  const struct root *root = parent->root;
  struct repository *repository = parent->repository;
  if (!parent->deep || (repository && repository_ignores(repository, path))) return;
  if (renamed) {
    gone->renamed = true;
    gone->cookie = 0;
    tree->old_name = strdup(gone->path); /* `gone` moves when the list grows */
    tree->no_memory = tree->no_memory || !tree->old_name;
    renamed = tree->old_name;
  }
  struct change *change = note_folder(tree, path, false);
  if (change && renamed) change->made = true;
  tree->new_name = path;
  scan_below(tree, path, root, repository, renamed ? SCAN_RENAMED : SCAN_NOTE_ALL);
  free(tree->old_name);
  tree->old_name = NULL;
  tree->new_name = NULL;
}

static void folder_went(struct tree *tree, const char *path, uint32_t cookie) {
  struct change *change = note_folder(tree, path, true);
  if (!change) return;
  change->renamed = false;
  change->cookie = cookie;
}

/* -- files ------------------------------------------------------------------------------------- */

static void file_happened(struct tree *tree, const char *path, const struct inotify_event *event) {
  struct change *gone =
      event->mask & IN_MOVED_TO ? changes_by_cookie(tree->changes, event->cookie) : NULL;
  if (gone) {
    gone->renamed = true;
    gone->cookie = 0;
  }
  struct change *change = scan_note(tree, path);
  if (change && event->mask & IN_MOVED_FROM) {
    change->renamed = false;
    change->cookie = event->cookie;
  }
}

static bool is_git_ignore(const char *name) { return strcmp(name, ".gitignore") == 0; }

/* Notes that something happened to a name in a folder. */
static void happened_in(struct tree *tree, const struct folder *folder,
                        const struct inotify_event *event) {
  char *path = paths_join(strcmp(folder->path, "/") == 0 ? "" : folder->path, event->name);
  if (!path) {
    tree->no_memory = true;
    return;
  }
  if (!filter_leaves_out(tree->filter, folder->root->path, path)) {
    bool is_folder = event->mask & IN_ISDIR;
    if (is_folder && event->mask & (IN_CREATE | IN_MOVED_TO))
      folder_came(tree, folder, path, event->cookie);
    else if (is_folder && event->mask & (IN_DELETE | IN_MOVED_FROM))
      folder_went(tree, path, event->cookie);
    else if (!is_folder) file_happened(tree, path, event);
    if (is_git_ignore(event->name) && folder->repository) repository_restart(folder->repository);
  }
  free(path);
}

static bool is_meant(const struct folder *folder, const char *name) {
  const char *only = folder->root->only;
  return folder->deep || !only || strcmp(only, name) == 0;
}

static void take_event(struct tree *tree, const struct inotify_event *event) {
  if (event->mask & IN_Q_OVERFLOW) {
    tree->overflowed = true;
    return;
  }
  const struct folder *folder = folders_find(tree, event->wd);
  if (!folder) return;
  if (event->mask & IN_IGNORED) folders_drop(tree, event->wd);
  else if (event->len && is_meant(folder, event->name)) happened_in(tree, folder, event);
  else if (event->mask & IN_MOVE_SELF && strcmp(folder->path, folder->root->path) == 0) {
    /* A root that was moved is no longer the folder that the user named. */
    struct stat info;
    char *path = lstat(folder->path, &info) ? strdup(folder->path) : NULL;
    if (path) folders_drop_below(tree, path);
    free(path);
  }
}

int tree_read(struct tree *tree) {
  char buffer[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
  for (;;) {
    ssize_t got = read(tree->fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? 0 : errno;
    for (char *at = buffer; at < buffer + got;) {
      const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
      take_event(tree, event);
      at += sizeof *event + event->len;
    }
    if (tree->no_memory) return ENOMEM;
  }
}

void tree_settle(struct tree *tree) {
  for (size_t i = 0; i < tree->changes->count; i++) {
    struct change *change = &tree->changes->list[i];
    if (change->folder && change->cookie)
      folders_drop_below(tree, change->path); /* it was moved to an unwatched folder */
    change->cookie = 0;
  }
}

void tree_look_again(struct tree *tree) {
  tree->overflowed = false;
  for (size_t i = 0; i < tree->root_count; i++) {
    const struct root *root = &tree->roots[i];
    struct repository *repository = repository_above(&tree->repositories, root->path);
    (void)scan_folder(tree, root->path, root, repository, !root->only, SCAN_NOTE_CHANGED);
  }
}

/* -- from the beginning to the end ------------------------------------------------------------- */

int tree_open(struct tree *tree, const struct cli *cli, const struct filter *filter,
              struct changes *changes, size_t most_roots) {
  *tree = (struct tree){.cli = cli, .filter = filter, .changes = changes};
  tree->roots = calloc(most_roots, sizeof *tree->roots);
  if (!tree->roots) return cli_fail(cli, "out of memory");
  tree->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (tree->fd >= 0) return 0;
  int reason = errno;
  free(tree->roots);
  if (reason == EMFILE)
    return cli_fail(cli, "too many programs of yours watch files already "
                         "(fs.inotify.max_user_instances, or open files); end some, or as root: "
                         "sysctl fs.inotify.max_user_instances=1024");
  return cli_fail(cli, "cannot watch files: %s", strerror(reason));
}

static int refuse(const struct tree *tree, const char *path, int reason) {
  if (reason == EACCES)
    return cli_fail(tree->cli,
                    "cannot watch '%s': you may not read it; name another folder, or run this as a "
                    "user who may",
                    path);
  if (reason != ENOSPC) return cli_fail(tree->cli, "cannot watch '%s': %s", path, strerror(reason));
  return cli_fail(tree->cli,
                  "'%s' has more folders than may be watched (fs.inotify.max_user_watches); leave "
                  "some out with --ignore, or as root: "
                  "sysctl fs.inotify.max_user_watches=524288",
                  path);
}

int tree_add_root(struct tree *tree, const char *path) {
  struct stat info;
  char *real = realpath(path, NULL);
  if (!real || stat(real, &info)) {
    int reason = errno;
    free(real);
    return refuse(tree, path, reason);
  }
  struct root *root = &tree->roots[tree->root_count];
  *root = (struct root){.path = real};
  if (!S_ISDIR(info.st_mode)) { /* the folder of a file is watched, because programs replace files
                                   by renaming */
    char *slash = strrchr(real, '/');
    root->only = strdup(slash + 1);
    slash[slash == real] = '\0';
    if (!root->only) tree->no_memory = true;
  }
  tree->root_count++;
  struct repository *repository = repository_above(&tree->repositories, root->path);
  int reason = scan_folder(tree, root->path, root, repository, !root->only, SCAN_LEARN);
  if (!reason && tree->limit) reason = tree->limit;
  if (!reason && tree->no_memory) reason = ENOMEM;
  return reason ? refuse(tree, path, reason) : 0;
}

const struct folder *tree_folder_above(const struct tree *tree, const char *path) {
  const struct folder *best = NULL;
  size_t best_len = 0;
  for (size_t i = 0; tree->folders && i <= tree->folder_mask; i++) {
    const struct folder *folder = tree->folders[i];
    size_t len = folder ? strlen(folder->path) : 0;
    if (!folder || len < best_len || strncmp(folder->path, path, len) != 0 ||
        (path[len] != '/' && len > 1))
      continue;
    best = folder;
    best_len = len;
  }
  return best;
}

void tree_close(struct tree *tree) {
  for (size_t i = 0; tree->folders && i <= tree->folder_mask; i++) {
    if (!tree->folders[i]) continue;
    free(tree->folders[i]->path);
    free(tree->folders[i]);
  }
  free((void *)tree->folders);
  for (size_t i = 0; i < tree->root_count; i++) {
    free(tree->roots[i].path);
    free(tree->roots[i].only);
  }
  free(tree->roots);
  free(tree->unreadable);
  repository_free_all(tree->repositories);
  known_free(&tree->known);
  close(tree->fd);
}
