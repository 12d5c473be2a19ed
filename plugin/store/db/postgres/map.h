/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/map.h: the rows of a session in order, as an array. It does not use a database.
 */
#ifndef STORE_DB_POSTGRES_MAP_H
#define STORE_DB_POSTGRES_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_row {
  char *value; /* malloc'ed */
  size_t len;
  uint64_t n;
  uint8_t kind;
  bool dirty; /* changed, and not on the server yet */
  bool fresh; /* the server has no row with this key */
};

struct pg_map {
  struct pg_row *rows;
  size_t count, capacity;
};
/* Returns the index of the first row that is not before the key. */
size_t pg_map_find(const struct pg_map *map, uint8_t kind, uint64_t n);
struct pg_row *pg_map_get(const struct pg_map *map, uint8_t kind, uint64_t n); /* NULL: none */
/* Adds or replaces a row, with room for `len` bytes. NULL: no memory. */
struct pg_row *pg_map_put(struct pg_map *map, uint8_t kind, uint64_t n, size_t len);
void pg_map_remove(struct pg_map *map, size_t at);
void pg_map_free(struct pg_map *map);

#endif
