/* SPDX-License-Identifier: MIT
 *
 * store/keys.h: the order of rows in the tree.
 */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include <stdint.h>

/* Stored: the numbers never change. Session number 0 is the store itself. */
enum row_kind {
  ROW_META = 1,
  ROW_NAME = 2,
  ROW_HEAD = 3,
  ROW_ITEM = 4,
  ROW_DELIVERY = 5,
  ROW_DEDUP = 6,
  ROW_MEMORY = 7,
  ROW_MESSAGE = 8,
  ROW_CONTENT = 9,     /* of a message */
  ROW_MESSAGE_ID = 10, /* n: a hash of the id */
  ROW_TRANSITION = 11
};

enum { KEY_BYTES = 13 };

struct row_key {
  uint8_t bytes[KEY_BYTES];
};

static inline struct row_key row_key(uint32_t session, enum row_kind kind, uint64_t n) {
  struct row_key key;
  for (int i = 0; i < 4; i++) key.bytes[i] = (uint8_t)(session >> (24 - 8 * i));
  key.bytes[4] = (uint8_t)kind;
  for (int i = 0; i < 8; i++) key.bytes[5 + i] = (uint8_t)(n >> (56 - 8 * i));
  return key;
}

static inline uint32_t row_key_session(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The n of a key. */
static inline uint64_t row_key_n(const uint8_t *bytes) {
  uint64_t n = 0;
  for (int i = 0; i < 8; i++) n = n << 8 | bytes[5 + i];
  return n;
}

#endif
