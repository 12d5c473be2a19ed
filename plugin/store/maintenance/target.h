/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/target.h: a new store, made row by row, in some large transactions. It has
 * another name until it is complete, so that an incomplete one is never taken for a store.
 */
#ifndef STORE_MAINTENANCE_TARGET_H
#define STORE_MAINTENANCE_TARGET_H

#include "store/maintenance/maintenance.h"
#include "store/rows/rows.h"

struct maintenance_target {
  char *path, *unfinished; /* its place, and where it is made */
  int mark_fd;             /* locked while it is made; only with `unfinished` */
  struct store *store;
  struct store_txn *txn; /* NULL: none is open */
  uint64_t bytes;        /* a high estimate of the bytes written in it */
};

/* Removes what a run that was killed had begun; *report says so. If *target was zero before, call
 * maintenance_target_end after an error too. Errors: STATE (`to` is not empty, or another run makes
 * it), BUSY, STORE, NOMEM. */
int maintenance_target_begin(struct maintenance_target *target, const char *to,
                             struct maintenance_report *report, struct tidings_error *error);
/* Puts a record as it is in another store. Its checksum covers its key too, so it stays right. */
int maintenance_target_put(struct maintenance_target *target, const struct db_key *key,
                           struct tidings_span value, struct tidings_error *error);
/* A transaction for functions of rows/, which is committed with the others. */
int maintenance_target_txn(struct maintenance_target *target, uint64_t bytes,
                           struct store_txn **ret_txn, struct tidings_error *error);
/* Commits what was put, so that it can be read back; more may be put after that. */
int maintenance_target_commit(struct maintenance_target *target, struct tidings_error *error);
/* `code` is the caller's so far. 0: closes the store and moves it to its place. Else removes what
 * was made. Returns `code`, or why it failed. */
int maintenance_target_end(struct maintenance_target *target, int code,
                           struct tidings_error *error);

#endif
