/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/map.c: the map is an array, because most new rows come last of their kind.
 */
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/map.h"

static bool is_before(const struct pg_row *row, uint8_t kind, uint64_t n) {
  return row->kind != kind ? row->kind < kind : row->n < n;
}

size_t pg_map_find(const struct pg_map *map, uint8_t kind, uint64_t n) {
  size_t low = 0, high = map->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (is_before(&map->rows[middle], kind, n)) low = middle + 1;
    else high = middle;
  }
  return low;
}

struct pg_row *pg_map_get(const struct pg_map *map, uint8_t kind, uint64_t n) {
  size_t at = pg_map_find(map, kind, n);
  if (at == map->count || map->rows[at].kind != kind || map->rows[at].n != n) return NULL;
  return &map->rows[at];
}

static int make_room(struct pg_map *map) {
  if (map->count < map->capacity) return 0;
  size_t capacity = map->capacity ? map->capacity * 2 : 32;
  struct pg_row *rows = realloc(map->rows, capacity * sizeof *rows);
  if (!rows) return -1;
  map->rows = rows;
  map->capacity = capacity;
  return 0;
}

struct pg_row *pg_map_put(struct pg_map *map, uint8_t kind, uint64_t n, size_t len) {
  size_t at = pg_map_find(map, kind, n);
  bool there = at < map->count && map->rows[at].kind == kind && map->rows[at].n == n;
  char *value = malloc(len ? len : 1);
  if (!value || (!there && make_room(map))) {
    free(value);
    return NULL;
  }
  struct pg_row *row = &map->rows[at];
  if (there) {
    free(row->value);
  } else {
    memmove(row + 1, row, (map->count - at) * sizeof *row);
    map->count++;
  }
  *row = (struct pg_row){.value = value, .len = len, .n = n, .kind = kind};
  return row;
}

void pg_map_remove(struct pg_map *map, size_t at) {
  free(map->rows[at].value);
  map->count--;
  memmove(&map->rows[at], &map->rows[at + 1], (map->count - at) * sizeof *map->rows);
}

void pg_map_free(struct pg_map *map) {
  for (size_t i = 0; i < map->count; i++) free(map->rows[i].value);
  free(map->rows);
  *map = (struct pg_map){.rows = NULL};
}
