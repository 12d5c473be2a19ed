/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk.h: checks the structure of a data.mdb. LMDB does not check what it maps: one
 * wrong byte in a page's header can end the host by an assertion or a wild pointer. So the file is
 * walked before LMDB opens it. The walk reads both heads, and each page to which the newest one
 * leads, once, by pread and never through a map. It does not look into records, because each has a
 * checksum.
 *
 * Run it while no process writes. It takes no lock and changes nothing.
 */
#ifndef STORE_DB_WALK_H
#define STORE_DB_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

struct walk_tree {
  uint64_t root, branches, leaves, overflows, entries; /* counts as stated in the head */
  unsigned depth, key_bytes;
  bool numeric; /* its keys are numbers in this machine's byte order; else bytes */
};

/* The progress of a walk between two pages. Together with the bits of the pages that were seen, it
 * is enough to continue the walk. It has numbers only, because walk_kept.c writes it to a file. */
struct walk_place {
  uint64_t newest_freed; /* the newest transaction that the list of free pages names */
  uint64_t taken;        /* pages that were seen */
  struct walk_tree counted;
  uint32_t next[32]; /* the next node of each entered level */
  uint32_t entered;  /* how many levels are entered */
  bool at_leaves;    /* the branches of both trees have been walked */
  bool in_free;      /* it is in the tree of free pages; else in that of the rows */
};

struct walk {
  int fd;
  uint64_t page_bytes, last_page, file_pages, transaction;
  struct walk_tree free_pages, rows;
  struct walk_place place;
  uint64_t most;  /* about how many bytes walk_run may read before it pauses */
  bool paused;    /* it has paused; walk_run continues */
  uint8_t *seen;  /* a bit for each page */
  uint8_t *pages; /* room for one page of each level, and one more */
  int err;        /* an errno: the file could not be read, or there is no memory */
  /* Is called for each row in the order of the keys; NULL: rows are not read. `value` is borrowed
   * for the call. If it returns anything but 0, the walk ends, and walk_run returns false without a
   * finding. Set it between walk_begin and walk_run, which then takes memory for large values. */
  int (*visit)(void *context, const uint8_t *key, struct tidings_span value, uint64_t page);
  void *context;
  int stopped;         /* what `visit` returned */
  uint64_t page;       /* the page that is not sound, */
  const char *finding; /* and what is wrong with it; NULL: nothing was found */
};

/* Reads the heads and takes the memory that the walk needs. `map_bytes`: the size of the map with
 * which the file was made. False: `err` or `finding` says why. walk_end is to be called in any
 * case. */
bool walk_begin(struct walk *walk, int fd, uint64_t map_bytes);
/* True: the file is sound. False: it is not sound; or, with `paused`, the walk is not over: call
 * again, with a new `most`. */
bool walk_run(struct walk *walk);
void walk_end(struct walk *walk);

/* walk_kept.c: saves in the store's folder the progress of a walk that has paused, for the next
 * call of any process. It is valid until somebody writes the file; numbers that are saved with it
 * show that. */
struct db;
struct stat;
/* Returns 0 or an errno; then nothing is kept. */
int walk_keep(struct db *db, const struct walk *walk, const struct stat *entry);
/* After walk_begin: goes to the place that was kept, if there is one of this boot and this file. */
void walk_go_on(struct db *db, struct walk *walk, const struct stat *entry);
void walk_forget(struct db *db);

/* walk_free.c: a record of the list of free pages, whose value a walk reads in pieces. Private to
 * the walk. */
struct walk_list {
  uint64_t left;     /* how many numbers are still to be read */
  uint64_t previous; /* the last number that was read; each is lower than the one before */
};
bool walk_list_begin(struct walk *walk, struct walk_list *list, uint64_t count, uint64_t bytes);
bool walk_list_take(struct walk *walk, struct walk_list *list, const uint8_t *numbers,
                    size_t bytes);
/* walk.c, for walk_free.c: takes `count` pages from `first` on. False: one is not in the file, or
 * something else uses it. */
bool walk_take_pages(struct walk *walk, uint64_t first, uint64_t count);
bool walk_found(struct walk *walk, uint64_t page, const char *finding); /* false */

#endif
