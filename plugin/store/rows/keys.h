/* SPDX-License-Identifier: MIT
 *
 * store/rows/keys.h: the order of rows in the tree.
 */
#ifndef STORE_ROWS_KEYS_H
#define STORE_ROWS_KEYS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "store/db/db.h"

/* These numbers are stored, so they never change. Rows of session number 0 belong to the store
 * itself. */
enum row_kind {
  ROW_META = 1,
  ROW_NAME = 2,
  ROW_HEAD = 3,
  ROW_ITEM = 4,
  ROW_DELIVERY = 5,
  ROW_DEDUP = 6,
  ROW_MEMORY = 7,
  ROW_MESSAGE = 8,
  ROW_CONTENT = 9,     /* a message's content */
  ROW_MESSAGE_ID = 10, /* n: a hash of the id */
  ROW_TRANSITION = 11,
  ROW_RATE = 12, /* n: a hash of the source */
  ROW_TOOLS = 13,
  ROW_DELIVERY_ID = 14, /* n: the mark of a delivery */
  ROW_OUTLINES = 15     /* see outlines.c */
};

static inline struct db_key row_key(uint32_t session, enum row_kind kind, uint64_t n) {
  struct db_key key;
  uint32_t session_be = htobe32(session);
  uint64_t n_be = htobe64(n);
  memcpy(key.bytes, &session_be, 4);
  key.bytes[4] = (uint8_t)kind;
  memcpy(key.bytes + 5, &n_be, 8);
  return key;
}

/* Does `key`, which may be NULL, have the session and the kind of `like`? */
static inline bool row_key_is_like(const uint8_t *key, const struct db_key *like) {
  return key && memcmp(key, like->bytes, 5) == 0;
}

static inline uint32_t row_key_session(const uint8_t *bytes) {
  uint32_t session;
  memcpy(&session, bytes, 4);
  return be32toh(session);
}

/* The n of a key. */
static inline uint64_t row_key_n(const uint8_t *bytes) {
  uint64_t n;
  memcpy(&n, bytes + 5, 8);
  return be64toh(n);
}

#endif
