/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/from.h: reads an existing store without the engine.
 */
#ifndef STORE_MAINTENANCE_FROM_H
#define STORE_MAINTENANCE_FROM_H

#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/walk.h"
#include "store/maintenance/maintenance.h"

struct maintenance_from {
  const char *path; /* borrowed */
  int directory_fd, data_fd;
  int alone_fd; /* until shared_leave, no process can open the store; -1: no process ever used it */
  uint32_t user; /* pid of a process that uses the store; 0: none, and none can until
                  * maintenance_from_close */
};

/* Errors: NOT_FOUND, BUSY, STORE. */
int maintenance_from_open(const char *path, struct maintenance_from *ret_from,
                          struct tidings_error *error);
void maintenance_from_close(struct maintenance_from *from);
/* Refuses a store that a process uses. Errors: STATE. */
int maintenance_from_unused(const struct maintenance_from *from, struct tidings_error *error);

/* Counts a sound row. */
void maintenance_count(struct maintenance_report *report, const struct db_key *key);
void maintenance_find(struct maintenance_report *report, const uint64_t *page, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

#endif
