/* SPDX-License-Identifier: MIT
 */
#include "cli/watch/changes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/fnv.h"

enum { FIRST_ROOM = 64 };

static size_t hash_change(const char *path) {
  uint64_t hash = fnv_span(FNV_START, span_text(path));
  return (size_t)(hash ^ hash >> 32);
}

static size_t *find(const struct changes *changes, const char *path) {
  size_t at = hash_change(path) & changes->mask;
  while (changes->index[at] && strcmp(changes->list[changes->index[at] - 1].path, path) != 0)
    at = (at + 1) & changes->mask;
  return &changes->index[at];
}

static int grow_changes(struct changes *changes) {
  size_t room = changes->room ? changes->room * 2 : FIRST_ROOM;
  struct change *list = realloc(changes->list, room * sizeof *list);
  if (list) changes->list = list;
  size_t *index = list ? calloc(room * 2, sizeof *index) : NULL;
  if (!index) return -1;
  free(changes->index);
  changes->index = index;
  changes->mask = room * 2 - 1;
  changes->room = room;
  for (size_t i = 0; i < changes->count; i++) *find(changes, list[i].path) = i + 1;
  return 0;
}

struct change *changes_of(struct changes *changes, const char *path, bool *ret_new) {
  size_t *place = changes->room ? find(changes, path) : NULL;
  *ret_new = false;
  int64_t now_ms = clock_wall_ms();
  if (place && *place) {
    changes->list[*place - 1].last_ms = now_ms;
    return &changes->list[*place - 1];
  }
  if (changes->count == changes->room && grow_changes(changes)) return NULL;
  char *copy = strdup(path);
  if (!copy) return NULL;
  changes->list[changes->count] =
      (struct change){.path = copy, .first_ms = now_ms, .last_ms = now_ms};
  *find(changes, path) = changes->count + 1;
  *ret_new = true;
  return &changes->list[changes->count++];
}

struct change *changes_by_cookie(struct changes *changes, uint32_t cookie) {
  for (size_t i = changes->count; cookie && i > 0;
       i--) { /* from the newest on, because both halves of a rename come together */
    if (changes->list[i - 1].cookie == cookie) return &changes->list[i - 1];
  }
  return NULL;
}

bool changes_below(const struct changes *changes, const char *path) {
  char above[PATH_MAX];
  struct stat info;
  size_t len = strlen(path);
  if (!changes->room || len >= sizeof above) return false;
  memcpy(above, path, len + 1);
  for (char *slash = strrchr(above, '/'); slash && slash != above; slash = strrchr(above, '/')) {
    *slash = '\0';
    size_t place = *find(changes, above);
    if (place && changes->list[place - 1].folder && lstat(above, &info)) return true;
  }
  return false;
}

void changes_clear(struct changes *changes) {
  for (size_t i = 0; i < changes->count; i++) free(changes->list[i].path);
  if (changes->index) memset(changes->index, 0, (changes->mask + 1) * sizeof *changes->index);
  changes->count = 0;
}

void changes_free(struct changes *changes) {
  changes_clear(changes);
  free(changes->list);
  free(changes->index);
  *changes = (struct changes){.list = NULL};
}
