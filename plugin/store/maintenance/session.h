/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/session.h: repairs one session of a damaged store from its remaining rows.
 */
#ifndef STORE_MAINTENANCE_SESSION_H
#define STORE_MAINTENANCE_SESSION_H

#include "store/maintenance/gather.h"
#include "store/maintenance/target.h"

/* The rows that are to be saved: one for each key, sorted by key. */
struct maintenance_saved {
  const struct maintenance_rows *rows;
  const struct maintenance_row *const *list;
  size_t count;
};

/* Writes all rows of one session; the caller writes session numbers and names. If no head can be
 * read, makes a new one: the items that the remaining deliveries ended stay ended, all others are
 * pending again, the run is idle, and its messages are queued. */
int maintenance_session_put(struct maintenance_target *target,
                            const struct maintenance_saved *saved,
                            struct maintenance_report *report, struct tidings_error *error);

#endif
