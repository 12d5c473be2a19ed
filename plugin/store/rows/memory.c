/* SPDX-License-Identifier: MIT
 *
 * store/rows/memory.c: what producers remember of a session, one row.
 */
#include "store/internal.h"
#include "store/rows/record.h"

int memory_get(struct store_txn *txn, uint32_t session, struct memory *ret_memory,
               struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_MEMORY, 0);
  struct record_reader reader;
  MDB_val value;
  int rc = session ? row_get(txn, &key, &value) : MDB_NOTFOUND;
  *ret_memory = (struct memory){0};
  if (rc == MDB_NOTFOUND) return 0;
  if (rc) return lmdb_failed(error, rc, "read what is remembered of a session");
  if (!record_open(&reader, &key, value.mv_data, value.mv_size))
    return 0; /* damaged: a threshold speaks once more */
  uint8_t budget_percent = record_read_below(&reader, 101);
  if (record_close(&reader)) ret_memory->budget_percent = budget_percent;
  return 0;
}

int memory_put(struct store_txn *txn, uint32_t session, const struct memory *memory,
               struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_MEMORY, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, memory->budget_percent);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}
