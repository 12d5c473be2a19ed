/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/tables.c: refuses the tasks for tables, because a store in a folder has none.
 */
#include "common/error.h"
#include "store/maintenance/maintenance.h"

int maintenance_tables(enum maintenance_tables task, const char *place, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error) {
  (void)task;
  (void)dry_run;
  (void)ret_report;
  return fail(error, TIDINGS_E_INVAL,
              "store %s: a folder is made when it is first opened, and goes when it is removed; "
              "expected postgresql://USER@HOST/DATABASE?schema=NAME",
              place);
}
