/* SPDX-License-Identifier: MIT
 *
 * store/care/from.h: reads an existing store without the engine.
 */
#ifndef STORE_CARE_FROM_H
#define STORE_CARE_FROM_H

#include "store/care/care.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/walk.h"

struct care_from {
  const char *path; /* borrowed */
  int directory_fd, data_fd;
  int alone_fd;  /* keeps others out while it is open; -1: there is no file for that */
  uint32_t user; /* the process that uses the store; 0: none, and none can until care_from_close */
};

/* Errors: NOT_FOUND, BUSY, STORE. */
int care_from_open(const char *path, struct care_from *ret_from, struct tidings_error *error);
void care_from_close(struct care_from *from);
/* STATE: a process uses it. */
int care_from_unused(const struct care_from *from, struct tidings_error *error);

/* Counts a sound row. */
void care_count(struct care_report *report, const struct db_key *key);
void care_find(struct care_report *report, const uint64_t *page, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
