/* SPDX-License-Identifier: MIT
 *
 * watch/folders.c: the watched folders by their watch descriptors.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "cli/watch/tree.h"

enum { FIRST_PLACES = 64 };

static size_t start_of(const struct tree *tree, int wd) {
  return ((size_t)wd * 0x9e3779b9u) & tree->folder_mask;
}

static size_t place_of(const struct tree *tree, int wd) {
  size_t at = start_of(tree, wd);
  while (tree->folders[at] && tree->folders[at]->wd != wd) at = (at + 1) & tree->folder_mask;
  return at;
}

struct folder *folders_find(const struct tree *tree, int wd) {
  return tree->folders ? tree->folders[place_of(tree, wd)] : NULL;
}

static int grow_folders(struct tree *tree) {
  struct folder **old = tree->folders;
  size_t places = old ? tree->folder_mask + 1 : 0, more = old ? places * 2 : FIRST_PLACES;
  struct folder **larger = calloc(more, sizeof(struct folder *));
  if (!larger) return -1;
  tree->folders = larger;
  tree->folder_mask = more - 1;
  for (size_t i = 0; i < places; i++) {
    if (old[i]) larger[place_of(tree, old[i]->wd)] = old[i];
  }
  free((void *)old);
  return 0;
}

int folders_put(struct tree *tree, struct folder *folder) {
  if ((!tree->folders || tree->folder_count * 2 > tree->folder_mask) && grow_folders(tree))
    return -1;
  tree->folders[place_of(tree, folder->wd)] = folder;
  tree->folder_count++;
  return 0;
}

/* Moves entries after a freed place, so that they are still found. */
static void close_gap(struct tree *tree, size_t gap) {
  for (size_t at = (gap + 1) & tree->folder_mask; tree->folders[at];
       at = (at + 1) & tree->folder_mask) {
    size_t wanted = start_of(tree, tree->folders[at]->wd);
    bool stays = gap < at ? wanted > gap && wanted <= at : wanted > gap || wanted <= at;
    if (stays) continue;
    tree->folders[gap] = tree->folders[at];
    tree->folders[at] = NULL;
    gap = at;
  }
}

void folders_drop(struct tree *tree, int wd) {
  struct folder *folder = folders_find(tree, wd);
  if (!folder) return;
  size_t at = place_of(tree, wd);
  tree->folders[at] = NULL;
  tree->folder_count--;
  close_gap(tree, at);
  free(folder->path);
  free(folder);
}

static bool is_below(const char *path, const char *folder, size_t len) {
  return strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
}

/* The kernel answers each removal with IN_IGNORED for a folder that is not listed any more, which
 * is ignored. */
void folders_drop_below(struct tree *tree, const char *path) {
  size_t len = strlen(path);
  for (size_t i = 0; tree->folders && i <= tree->folder_mask;) {
    struct folder *folder = tree->folders[i];
    if (!folder || !is_below(folder->path, path, len)) {
      i++;
      continue;
    }
    (void)inotify_rm_watch(tree->fd, folder->wd);
    folders_drop(tree, folder->wd); /* now another folder may be at this place */
  }
}
