/* SPDX-License-Identifier: MIT
 *
 * watch/outbox.c: decides the kind of a path's change by looking at the file after the changes have
 * stopped.
 */
#include "cli/watch/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool outbox_empty(const struct outbox *outbox) {
  return !outbox->count && !outbox->dropped && !outbox->too_many;
}

/* Adds a change, or updates it if it is among the first `before`, which a failed push has left. The
 * others have other paths. */
static int add(struct outbox *outbox, const struct change *change, enum file_event_kind kind,
               size_t before) {
  const char *path = change->path;
  for (size_t i = 0; i < before; i++) {
    if (outbox->list[i].kind != kind || strcmp(outbox->list[i].path, path) != 0) continue;
    outbox->list[i].stamp = stamp_of_file(path);
    outbox->list[i].last_ms = change->last_ms;
    return 0;
  }
  if (outbox->count == outbox->room) {
    size_t room = outbox->room ? outbox->room * 2 : 32;
    struct file_event *list = realloc(outbox->list, room * sizeof *list);
    if (!list) return -1;
    outbox->list = list;
    outbox->room = room;
  }
  char *copy = strdup(path);
  if (!copy) return -1;
  outbox->list[outbox->count++] = (struct file_event){.path = copy,
                                                      .kind = kind,
                                                      .stamp = stamp_of_file(path),
                                                      .first_ms = change->first_ms,
                                                      .last_ms = change->last_ms};
  return 0;
}

/* Is the folder itself reported? A new folder is not, because its contents are; a renamed or
 * deleted one is. */
static bool of_folder(const struct change *change, bool is_there, enum file_event_kind *ret_kind) {
  if (is_there == change->existed) return false;
  if (is_there && !change->made) return false;
  *ret_kind = is_there          ? FILE_EVENT_CREATED
              : change->renamed ? FILE_EVENT_RENAMED
                                : FILE_EVENT_DELETED;
  return true;
}

static bool of_file(const struct change *change, int64_t time, enum file_event_kind *ret_kind) {
  bool is_there = time >= 0;
  if (!is_there && !change->existed) return false;
  if (is_there && change->existed && time == change->time)
    return false; /* it was opened for writing, but not written */
  *ret_kind = !is_there         ? (change->renamed ? FILE_EVENT_RENAMED : FILE_EVENT_DELETED)
              : change->existed ? FILE_EVENT_MODIFIED
                                : FILE_EVENT_CREATED;
  return true;
}

static bool is_ignored(const struct tree *tree, const char *path) {
  const struct folder *folder = tree_folder_above(tree, path);
  return folder && folder->repository && repository_ignores(folder->repository, path);
}

static int take_batch(struct outbox *outbox, struct tree *tree, const struct change *change,
                      size_t before) {
  enum file_event_kind kind = FILE_EVENT_MODIFIED;
  int64_t time = scan_time(change->path);
  bool matters =
      change->folder ? of_folder(change, time >= 0, &kind) : of_file(change, time, &kind);
  if (!change->folder && time >= 0 && known_put(&tree->known, change->path, time)) return -1;
  if (!change->folder && time < 0) known_remove(&tree->known, change->path);
  if (!matters || is_ignored(tree, change->path)) return 0;
  if (time < 0 && changes_below(tree->changes, change->path))
    return 0; /* the folder's own change reports it */
  return add(outbox, change, kind, before);
}

int outbox_take(struct outbox *outbox, struct tree *tree) {
  int status = 0;
  size_t before = outbox->count;
  for (size_t i = 0; !status && i < tree->changes->count; i++)
    status = take_batch(outbox, tree, &tree->changes->list[i], before);
  changes_clear(tree->changes);
  if (tree->limit) outbox->too_many = true;
  tree->limit = 0;
  return status;
}

void outbox_free(struct outbox *outbox) {
  for (size_t i = 0; i < outbox->count; i++) free(outbox->list[i].path);
  free(outbox->list);
  json_decref(outbox->pushed_bursts);
  *outbox = (struct outbox){.list = NULL};
}
