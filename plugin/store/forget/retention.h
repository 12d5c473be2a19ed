/* SPDX-License-Identifier: MIT
 *
 * store/forget/retention.h: goes through the rows of one session that may be forgotten. Private to
 * forget/.
 */
#ifndef STORE_FORGET_RETENTION_H
#define STORE_FORGET_RETENTION_H

#include "store/rows/rows.h"

/* The rules, in the order in which they are applied. */
enum {
  RETENTION_ITEMS,
  RETENTION_DELIVERIES,
  RETENTION_DEDUP,
  RETENTION_MEMORY,
  RETENTION_CONTENTS,
  RETENTION_MESSAGES,
  RETENTION_MESSAGE_IDS,
  RETENTION_TRANSITIONS,
  RETENTION_RATES,
  RETENTION_TOOLS,
  RETENTION_DELIVERY_IDS,
  RETENTION_OUTLINES,
  RETENTION_RULES
};

#define RETENTION_AGE_MS ((int64_t)STORE_RETAIN_DAYS * 86400000)

/* The oldest deliveries have ended these items. Deliveries are read as far as they are needed. */
struct old_ends {
  struct old_end {
    uint64_t first, last;
    bool recent; /* the delivery ended less than RETENTION_AGE_MS ago */
  } * list;
  size_t count, capacity;
  uint64_t next; /* number of the delivery with which the next read begins */
  size_t read;   /* how many deliveries were read */
  enum { ENDS_UNREAD, ENDS_RECENT, ENDS_ALL_READ } rest;
};

/* A session being visited. The caller fills the first block. */
struct visit {
  struct store_txn *txn; /* the transaction that reads */
  uint32_t session;
  const struct head *head;
  uint64_t last; /* number of its newest item */
  int64_t now_ms;
  struct arena *arena;
  /* Forgets the row under `cursor`. 0, or the engine's error. */
  int (*forget)(struct visit *visit, enum row_kind kind, uint64_t n);
  size_t may_look, may_forget; /* how many more rows may be visited and forgotten */
  void *context;
  const struct disposition_range *ended; /* by this write */
  size_t ended_count;
  bool pressed; /* the disk is full: the newest few stay, however young the others are */

  bool everything;                 /* the session was closed a while ago, and nothing waits in it */
  struct db_cursor cursor, beside; /* `beside` reads other rows */
  uint64_t next;                   /* from which number to go on, if the row is skipped */
  size_t taken;   /* index in head->taken of the first range that does not end before the row under
                     the cursor */
  size_t staying; /* how many items stay although they were pushed long ago */
  struct old_ends ends;
};

/* Did the ended item under the cursor end more than RETENTION_AGE_MS ago? If no delivery has it, it
 * counts as ended when it was due. Returns 0, or the engine's error. */
int visit_is_long_over(struct visit *visit, uint64_t n, bool *ret_over);
/* Finds the key of the row that has the id of the delivery under the cursor. False: there is
 * none. */
bool visit_delivery_id(const struct visit *visit, struct db_key *ret_key);
/* For `forget`: deletes the row under the cursor; for a delivery, also the row of its id. */
int visit_delete(struct visit *visit, enum row_kind kind, uint64_t n);

int visit_begin(struct visit *visit); /* these return 0, or the engine's error */
void visit_end(struct visit *visit);
/* Visits rows of one kind from number *n on, and sets *n to the number at which the next call
 * continues. *ret_done: no more rows of this kind may be forgotten. */
int visit_rows(struct visit *visit, size_t rule, uint64_t *n, bool *ret_done);
/* Is nothing left of a closed session but its name and its head? */
int visit_is_purgeable(struct visit *visit, bool *ret_purgeable);

bool retention_is_older(int64_t now_ms, int64_t time_ms, int64_t age_ms);

#endif
