/* SPDX-License-Identifier: MIT
 *
 * watch/scan.c: watches folders, and learns or notes their files. A folder is watched before it is
 * read, so that a file that is made meanwhile is seen twice rather than never.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "cli/watch/tree.h"
#include "command/paths.h"

enum {
  WATCHED = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
            IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK
};

int64_t scan_time(const char *path) {
  struct stat info;
  if (lstat(path, &info)) return -1;
  return (int64_t)info.st_ctim.tv_sec * 1000000000 + info.st_ctim.tv_nsec;
}

struct change *scan_note(struct tree *tree, const char *path) {
  bool is_new = false;
  struct change *change = changes_of(tree->changes, path, &is_new);
  if (!change) tree->no_memory = true;
  else if (is_new) change->existed = known_find(&tree->known, path, &change->time);
  return change;
}

static int watch(struct tree *tree, const char *path, const struct root *root,
                 struct repository *repository, bool deep) {
  int wd = inotify_add_watch(tree->fd, path, WATCHED);
  if (wd < 0) return errno;
  struct folder *folder = folders_find(tree, wd);
  if (folder) { /* it was watched before, perhaps for another root or under another name */
    folder->deep = folder->deep || deep;
    char *copy = strcmp(folder->path, path) == 0 ? NULL : strdup(path);
    if (copy) {
      free(folder->path);
      folder->path = copy;
    }
    return 0;
  }
  folder = calloc(1, sizeof *folder);
  if (folder)
    *folder = (struct folder){
        .wd = wd, .path = strdup(path), .root = root, .repository = repository, .deep = deep};
  if (folder && folder->path && !folders_put(tree, folder)) return 0;
  if (folder) free(folder->path);
  free(folder);
  (void)inotify_rm_watch(tree->fd, wd);
  return ENOMEM;
}

/* Copies the known state of a file to its folder's new name, because renaming a folder does not
 * change its files. */
static void copy_from_old_name(struct tree *tree, const char *path) {
  int64_t time = 0;
  char *old = paths_join(tree->old_name, path + strlen(tree->new_name) + 1);
  if (!old || (known_find(&tree->known, old, &time) && known_put(&tree->known, path, time)))
    tree->no_memory = true;
  free(old);
}

static void take_file(struct tree *tree, const char *path, enum scan what) {
  int64_t before = 0, time = scan_time(path);
  if (time < 0) return; /* it is gone */
  if (what == SCAN_RENAMED) {
    copy_from_old_name(tree, path);
    what = SCAN_NOTE_CHANGED;
  }
  bool known = known_find(&tree->known, path, &before);
  if (what == SCAN_NOTE_ALL || (what == SCAN_NOTE_CHANGED && (!known || before != time)))
    (void)scan_note(tree, path);
  else if (known_put(&tree->known, path, time)) tree->no_memory = true;
}

struct names { /* names of subfolders, kept so that a folder is closed before those below it are
                  opened */
  char **list;
  size_t count, room;
};

static void names_add(struct tree *tree, struct names *names, char *name) {
  if (names->count == names->room) {
    size_t room = names->room ? names->room * 2 : 16;
    char **list = realloc((void *)names->list, room * sizeof *list);
    if (!list) {
      tree->no_memory = true;
      free(name);
      return;
    }
    names->list = list;
    names->room = room;
  }
  names->list[names->count++] = name;
}

static bool is_folder(const struct dirent *entry, const char *path) {
  struct stat info;
  if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
  return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void read_folder(struct tree *tree, const char *path, const struct root *root, bool deep,
                        enum scan what, struct names *names) {
  DIR *dir = opendir(path);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (root->only && strcmp(root->path, path) == 0 && strcmp(entry->d_name, root->only) != 0)
      continue;
    char *whole = paths_join(strcmp(path, "/") == 0 ? "" : path, entry->d_name);
    if (!whole) {
      tree->no_memory = true;
      continue;
    }
    if (filter_leaves_out(tree->filter, root->path, whole)) {
      free(whole);
    } else if (is_folder(entry, whole)) {
      if (deep) names_add(tree, names, whole);
      else free(whole);
    } else {
      take_file(tree, whole, what);
      free(whole);
    }
  }
  if (dir) closedir(dir);
}

int scan_folder(struct tree *tree, const char *path, const struct root *root,
                struct repository *repository, bool deep, enum scan what) {
  struct names names = {.list = NULL};
  struct repository *own = deep ? repository_at(&tree->repositories, path) : NULL;
  if (own) repository = own;
  int reason = watch(tree, path, root, repository, deep);
  if (reason == ENOSPC) tree->limit = reason;
  if (reason == ENOMEM) tree->no_memory = true;
  if (reason) return reason;
  read_folder(tree, path, root, deep, what, &names);
  for (size_t i = 0; i < names.count; i++) {
    bool left_out = tree->limit || (repository && repository_ignores(repository, names.list[i]));
    if (!left_out) scan_below(tree, names.list[i], root, repository, what);
    free(names.list[i]);
  }
  free((void *)names.list);
  return 0;
}

/* Files and folders that are gone are skipped. */
void scan_below(struct tree *tree, const char *path, const struct root *root,
                struct repository *repository, enum scan what) {
  int reason = scan_folder(tree, path, root, repository, true, what);
  if (reason != EACCES) return;
  tree->unreadable_count++;
  if (tree->unreadable) return;
  tree->unreadable = strdup(path);
  if (!tree->unreadable) tree->no_memory = true;
}
