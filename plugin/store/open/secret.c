/* SPDX-License-Identifier: MIT
 *
 * store/open/secret.c: 16 random bytes that a store keeps, so that what is derived from them is
 * the same in every process and after every restart.
 */
#include "store/rows/rows.h"

enum { SECRET_ROW = 1 }; /* beside the schema's, which is 0 */

/* *ret_found false: there is none, or it is damaged. */
static int read_secret(struct store_txn *txn, uint8_t ret_secret[STORE_SECRET_BYTES],
                       bool *ret_found, struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, SECRET_ROW);
  struct record_reader reader;
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read its secret");
  *ret_found = false;
  if (!value.ptr || !record_open(&reader, &key, value)) return 0;
  struct tidings_span stored = record_read_bytes(&reader);
  *ret_found = record_close(&reader) && stored.len == STORE_SECRET_BYTES;
  if (*ret_found) memcpy(ret_secret, stored.ptr, STORE_SECRET_BYTES);
  return 0;
}

static int write_secret(struct store_txn *txn, const uint8_t secret[STORE_SECRET_BYTES],
                        struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, SECRET_ROW);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_bytes(&body, span_of((const char *)secret, STORE_SECRET_BYTES));
  return row_put(txn, &key, &body, error);
}

int store_secret(struct store *store, const uint8_t fresh[STORE_SECRET_BYTES],
                 store_deadline deadline, uint8_t ret_secret[STORE_SECRET_BYTES],
                 struct tidings_error *error) {
  struct store_txn *txn;
  bool found = false;
  int code = store_read(store, NULL, deadline, &txn, error);
  if (code) return code;
  code = read_secret(txn, ret_secret, &found, error);
  store_end(txn);
  if (code || found) return code;
  code = store_write(store, NULL, deadline, &txn, error);
  if (code) return code;
  code = read_secret(txn, ret_secret, &found, error);
  if (!code && !found) code = write_secret(txn, fresh, error);
  if (code || found) {
    store_end(txn);
    return code;
  }
  code = store_commit(txn, error);
  if (!code) memcpy(ret_secret, fresh, STORE_SECRET_BYTES);
  return code;
}
