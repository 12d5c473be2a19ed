/* SPDX-License-Identifier: MIT
 *
 * store/care/session.h: repairs one session of a damaged store from the rows that are left of it.
 */
#ifndef STORE_CARE_SESSION_H
#define STORE_CARE_SESSION_H

#include "store/care/gather.h"
#include "store/care/target.h"

/* The rows that are to be saved, one of a key, by key. */
struct care_saved {
  const struct care_rows *rows;
  const struct care_row *const *list;
  size_t count;
};

/* Writes all rows of one session; session numbers and names are the caller's matter. Without a
 * head that can be read, one is made: what the deliveries that are left say has ended is ended,
 * everything else is pending again, the run is idle and its messages are queued. */
int care_session_put(struct care_target *target, const struct care_saved *saved,
                     struct care_report *report, struct tidings_error *error);

#endif
