/* SPDX-License-Identifier: MIT
 *
 * store/rows/memory.c: what producers remember of a session, one row.
 */
#include "store/rows/rows.h"

int memory_get(struct store_txn *txn, uint32_t session, struct memory *ret_memory,
               struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MEMORY, 0);
  struct record_reader reader;
  struct tidings_span value = span_of(NULL, 0);
  int rc = session ? row_get(txn, &key, &value) : 0;
  if (rc) return db_failed(error, rc, "read what is remembered of a session");
  *ret_memory = (struct memory){0};
  if (!value.ptr) return 0;
  if (!record_open(&reader, &key, value)) return 0; /* damaged: a threshold speaks once more */
  uint8_t budget_percent = record_read_below(&reader, 101);
  if (record_close(&reader)) ret_memory->budget_percent = budget_percent;
  return 0;
}

int memory_put(struct store_txn *txn, uint32_t session, const struct memory *memory,
               struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MEMORY, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, memory->budget_percent);
  return row_put(txn, &key, &body, error);
}
