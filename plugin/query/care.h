/* SPDX-License-Identifier: MIT
 *
 * query/care.h: what the extension tidings.store/1 answers, as JSON. It needs no instance.
 */
#ifndef QUERY_CARE_H
#define QUERY_CARE_H

#include <tidings/store.h>

#include "common/span.h"

enum care_task {
  CARE_CHECK,
  CARE_BACKUP,
  CARE_SALVAGE,
  CARE_MIGRATE,
  CARE_INIT,
  CARE_UPGRADE,
  CARE_DROP,
  CARE_DUMP,
  CARE_LOAD
};

/* `to` is used by BACKUP, SALVAGE, MIGRATE, DUMP and LOAD; `flags` are TIDINGS_STORE_*. Errors:
 * those of store/care/care.h; INVAL (a path with a NUL, or none). */
int query_care(enum care_task task, struct tidings_span from, struct tidings_span to,
               uint32_t flags, const struct tidings_answer **ret_answer,
               struct tidings_error *error);
void query_care_release(const struct tidings_answer *answer); /* NULL is allowed */

#endif
