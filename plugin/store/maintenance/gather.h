/* SPDX-License-Identifier: MIT
 *
 * maintenance/gather.h: finds every row of a file that may be damaged anywhere. It does not trust
 * the tree: it reads all leaves, and accepts a row whose checksum, which covers key and contents,
 * is right.
 *
 * The worth of a row depends on its page. IN_TREE: the newest sound head leads to the page. LOST:
 * nothing leads to the page, and the list of free pages was read whole and does not name it, so a
 * page that led to it must be damaged. STALE: the page is free, or may be free, so the row may be
 * an old version or may have been deleted. Pages that hold a large value are not read as leaves,
 * because whoever wrote the value chose what is in them.
 */
#ifndef STORE_MAINTENANCE_GATHER_H
#define STORE_MAINTENANCE_GATHER_H

#include "store/maintenance/from.h"
#include "store/rows/rows.h"

enum maintenance_worth { MAINTENANCE_IN_TREE, MAINTENANCE_LOST, MAINTENANCE_STALE };

struct maintenance_row {
  struct db_key key;
  uint8_t worth;  /* enum maintenance_worth */
  uint32_t bytes; /* the length of the value, */
  uint64_t at;    /* and its place in the file */
};

struct maintenance_rows {
  int fd;
  uint64_t page_bytes, pages;
  uint64_t flushed;             /* as returned by recover_noted */
  uint8_t *uses;                /* the use of each page: enum page_use, below */
  struct maintenance_row *list; /* by key, then worth, then from the end of the file */
  size_t count, capacity;
  uint64_t damaged; /* how many rows in leaves of the tree have a wrong checksum */
  uint8_t *page;    /* room for one page */
};

/* After an error too, maintenance_rows_free is to be called. Errors: STORE (it cannot be read),
 * NOMEM. */
int maintenance_gather(const struct maintenance_from *from, struct maintenance_rows *ret_rows,
                       struct tidings_error *error);
void maintenance_rows_free(struct maintenance_rows *rows);

/* Reads the record of a row into `buffer`, whose contents it replaces. False: the record cannot be
 * read, or there is no memory. */
bool maintenance_row_read(const struct maintenance_rows *rows, const struct maintenance_row *row,
                          struct buffer *buffer);

/* -- private to gather.c and pages.c: what leads to a page ------------------------------------- */

enum page_use {
  USE_UNKNOWN,
  USE_LEAF,    /* a leaf of the tree of rows */
  USE_OTHER,   /* a branch, or a page of the tree of free pages */
  USE_FREE,    /* in the list of free pages */
  USE_CONTENT, /* a page of a large value */
};

/* pages.c: fills `uses` from the newest sound head. *ret_known: the list of free pages was read
 * whole. Errors: STORE, NOMEM. */
int maintenance_pages(struct maintenance_rows *rows, bool *ret_known, struct tidings_error *error);
/* Reads page `number` to rows->page. False: it cannot be read. */
bool maintenance_page_read(const struct maintenance_rows *rows, uint64_t number, uint8_t *page);
/* Returns how many nodes the page has; 0: it is not page `number`, is of another kind, or has
 * impossible bounds. */
unsigned maintenance_page_nodes(const struct maintenance_rows *rows, const uint8_t *page,
                                uint64_t number, uint16_t kind);
/* Returns node `index`; NULL: its head or key is not inside the page. */
const uint8_t *maintenance_page_node(const struct maintenance_rows *rows, const uint8_t *page,
                                     unsigned index);

#endif
