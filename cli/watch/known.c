/* SPDX-License-Identifier: MIT
 *
 * watch/known.c: a hash table with open addressing; a deleted file keeps its place until the table
 * grows.
 */
#include "cli/watch/known.h"

#include <stdlib.h>

#include "common/fnv.h"

enum { FIRST_PLACES = 1024 };

static uint64_t hash_known(const char *path) { /* mixes all bits into the low ones */
  uint64_t hash = fnv_span(FNV_START, span_text(path));
  hash ^= hash >> 32;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

/* Returns the place of the hash, or the empty place where it belongs. The table is never full. */
static struct known_file *place(const struct known *known, uint64_t hash) {
  size_t at = (size_t)hash & known->mask;
  while (known->files[at].hash && known->files[at].hash != hash) at = (at + 1) & known->mask;
  return &known->files[at];
}

static int grow_known(struct known *known) {
  size_t places = known->files ? (known->mask + 1) * 2 : FIRST_PLACES;
  struct known larger = {.files = calloc(places, sizeof *larger.files), .mask = places - 1};
  if (!larger.files) return -1;
  for (size_t i = 0; known->files && i <= known->mask; i++) {
    const struct known_file *file = &known->files[i];
    if (!file->hash || file->time == KNOWN_GONE) continue;
    *place(&larger, file->hash) = *file;
    larger.count++;
  }
  free(known->files);
  *known = larger;
  return 0;
}

bool known_find(const struct known *known, const char *path, int64_t *ret_time) {
  if (!known->files) return false;
  const struct known_file *file = place(known, hash_known(path));
  if (!file->hash || file->time == KNOWN_GONE) return false;
  *ret_time = file->time;
  return true;
}

int known_put(struct known *known, const char *path, int64_t time) {
  uint64_t hash = hash_known(path);
  if ((!known->files || known->count * 2 > known->mask) && grow_known(known)) return -1;
  struct known_file *file = place(known, hash);
  if (!file->hash) known->count++;
  *file = (struct known_file){hash, time == KNOWN_GONE ? 1 : time};
  return 0;
}

void known_remove(struct known *known, const char *path) {
  struct known_file *file = known->files ? place(known, hash_known(path)) : NULL;
  if (file && file->hash) file->time = KNOWN_GONE;
}

void known_free(struct known *known) {
  free(known->files);
  *known = (struct known){.files = NULL};
}
