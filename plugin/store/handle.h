/* SPDX-License-Identifier: MIT
 *
 * store/handle.h: what an open store and a transaction hold, for the folders inside store/.
 */
#ifndef STORE_HANDLE_H
#define STORE_HANDLE_H

#include "common/error.h"
#include "store/db/db.h"
#include "store/store.h"

/* db < rows < wake < push, forget < open: no folder knows one that stands after it. */
struct store {
  struct db *db;
};

struct store_txn {
  struct store *store;
  struct db_txn *db; /* `own`, or that of a batch */
  bool writing;
  uint32_t folded; /* session whose inbox is among its rows now, and whose head is not written; 0 */
  struct db_txn own;
};

#endif
