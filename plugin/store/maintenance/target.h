/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/target.h: makes a new store row by row, in a few large transactions. The store
 * has another name until it is complete, so that an incomplete one is never taken for a store.
 */
#ifndef STORE_MAINTENANCE_TARGET_H
#define STORE_MAINTENANCE_TARGET_H

#include "store/maintenance/maintenance.h"
#include "store/rows/rows.h"

struct maintenance_target {
  char *path, *unfinished; /* the store's place, and the folder in which it is made */
  int mark_fd;             /* the locked mark (target.c); open if `unfinished` is set */
  struct store *store;
  struct store_txn *txn; /* NULL: none is open */
  uint64_t bytes;        /* a high estimate of the bytes written in `txn` */
};

/* Begins a new store in *target, which the caller has zeroed. Removes what a run that was killed
 * has left; *report says so. Call maintenance_target_end even after an error. Errors: STATE (`to`
 * is not empty, or another run makes it), BUSY, STORE, NOMEM. */
int maintenance_target_begin(struct maintenance_target *target, const char *to,
                             struct maintenance_report *report, struct tidings_error *error);
/* Copies a record of another store. Its checksum stays right, because the key stays the same. */
int maintenance_target_put(struct maintenance_target *target, const struct db_key *key,
                           struct tidings_span value, struct tidings_error *error);
/* Returns the open transaction, for functions of rows/ that write about `bytes` bytes. Do not
 * commit it. */
int maintenance_target_txn(struct maintenance_target *target, uint64_t bytes,
                           struct store_txn **ret_txn, struct tidings_error *error);
/* Commits what was written, so that it can be read back; more may be written after that. */
int maintenance_target_commit(struct maintenance_target *target, struct tidings_error *error);
/* Ends the work. `code`: the caller's result so far. If it is 0, moves the complete store to its
 * place; otherwise removes it. Returns `code`, or the error of completing and moving. */
int maintenance_target_end(struct maintenance_target *target, int code,
                           struct tidings_error *error);

#endif
