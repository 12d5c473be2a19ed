/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/machine.c: tells on which other machine an owner runs.
 */
#include <string.h>

#include "store/db/postgres/engine.h"

void db_owner_machine(const struct db *db, const struct owner *owner,
                      char ret_name[DB_MACHINE_BYTES]) {
  bool here = owner->pid_namespace == db->self.pid_namespace &&
              memcmp(owner->boot_id, db->self.boot_id, sizeof owner->boot_id) == 0;
  if (here || !owner->pid) ret_name[0] = '\0';
  else owner_machine(owner, ret_name);
}
