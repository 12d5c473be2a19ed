/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/machine.c: one machine uses a folder, so these answers are constant.
 */
#include "store/db/lmdb/engine.h"

void db_owner_machine(const struct db *db, const struct owner *owner,
                      char ret_name[DB_MACHINE_BYTES]) {
  (void)db;
  (void)owner;
  ret_name[0] = '\0';
}
