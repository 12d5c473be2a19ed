/* SPDX-License-Identifier: MIT
 *
 * query/maintenance.h: what the extension tidings.store/1 answers, as JSON. It needs no instance.
 */
#ifndef QUERY_MAINTENANCE_H
#define QUERY_MAINTENANCE_H

#include <tidings/store.h>

#include "common/span.h"

enum maintenance_task {
  MAINTENANCE_CHECK,
  MAINTENANCE_BACKUP,
  MAINTENANCE_SALVAGE,
  MAINTENANCE_MIGRATE,
  MAINTENANCE_INIT,
  MAINTENANCE_UPGRADE,
  MAINTENANCE_DROP,
  MAINTENANCE_DUMP,
  MAINTENANCE_LOAD,
  MAINTENANCE_FORGET
};

/* `to` is used by BACKUP, SALVAGE, MIGRATE, DUMP and LOAD, `session` by FORGET. Errors: those of
 * store/maintenance/maintenance.h; INVAL (a path with a NUL, or none). */
int query_maintenance(enum maintenance_task task, const struct tidings_store_request *request,
                      const struct tidings_answer **ret_answer, struct tidings_error *error);
void query_maintenance_release(const struct tidings_answer *answer); /* NULL is allowed */

#endif
