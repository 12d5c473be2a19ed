/* SPDX-License-Identifier: MIT
 *
 * maintenance/gather.h: every row of a file that may be damaged anywhere, found without trusting
 * its tree: all leaves are read, and a row counts if its checksum, which is over key and contents,
 * holds.
 *
 * How much a row is worth depends on its page. IN_TREE: the newest sound head leads to it. LOST:
 * nothing leads to it, and it is not in the list of free pages, which could be read whole; so a
 * page that led to it is damaged. STALE: it is free, or could be: an old version of a row, or one
 * that was deleted. Pages that hold a large value are not read as leaves, because whoever wrote the
 * value chose what is in them.
 */
#ifndef STORE_MAINTENANCE_GATHER_H
#define STORE_MAINTENANCE_GATHER_H

#include "store/maintenance/from.h"
#include "store/rows/rows.h"

enum maintenance_worth { MAINTENANCE_IN_TREE, MAINTENANCE_LOST, MAINTENANCE_STALE };

struct maintenance_row {
  struct db_key key;
  uint8_t worth;  /* enum maintenance_worth */
  uint32_t bytes; /* of the value, */
  uint64_t at;    /* which is here in the file */
};

struct maintenance_rows {
  int fd;
  uint64_t page_bytes, pages;
  uint64_t flushed;             /* as recover_noted has it */
  uint8_t *uses;                /* the use of each page, enum page_use in gather.c */
  struct maintenance_row *list; /* by key; of one key by worth, then from the end of the file */
  size_t count, capacity;
  uint64_t damaged; /* how many rows in leaves of the tree have a wrong checksum */
  uint8_t *page;    /* room for one */
};

/* After an error too, maintenance_rows_free is to be called. Errors: STORE (it cannot be read),
 * NOMEM. */
int maintenance_gather(const struct maintenance_from *from, struct maintenance_rows *ret_rows,
                       struct tidings_error *error);
void maintenance_rows_free(struct maintenance_rows *rows);

/* The record of a row, in `buffer`, which it replaces. False: it cannot be read, or no memory. */
bool maintenance_row_read(const struct maintenance_rows *rows, const struct maintenance_row *row,
                          struct buffer *buffer);

/* -- private to gather.c and pages.c: what leads to a page --------------------------------------
 */

enum page_use {
  USE_UNKNOWN,
  USE_LEAF,    /* of the tree of rows */
  USE_OTHER,   /* a branch, or of the tree of free pages */
  USE_FREE,    /* in the list of free pages */
  USE_CONTENT, /* of a large value */
};

/* pages.c: fills `uses` from the newest sound head. *ret_known: the list of free pages was read
 * whole. Errors: STORE, NOMEM. */
int maintenance_pages(struct maintenance_rows *rows, bool *ret_known, struct tidings_error *error);
/* Reads page `number` to rows->page. False: it cannot be read. */
bool maintenance_page_read(const struct maintenance_rows *rows, uint64_t number, uint8_t *page);
/* How many nodes it has, if it is page `number`, of this kind, and has bounds that can be; else
 * 0. */
unsigned maintenance_page_nodes(const struct maintenance_rows *rows, const uint8_t *page,
                                uint64_t number, uint16_t kind);
/* Node `index`, if its head and key are inside the page; else NULL. */
const uint8_t *maintenance_page_node(const struct maintenance_rows *rows, const uint8_t *page,
                                     unsigned index);

#endif
