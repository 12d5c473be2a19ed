/* SPDX-License-Identifier: MIT
 *
 * store/db/limits.h: limits that all users of a store share.
 */
#ifndef STORE_DB_LIMITS_H
#define STORE_DB_LIMITS_H

enum {
  STORE_CHANGE_COUNTERS = 4096, /* counters; sessions share them by their number modulo this */
  STORE_RINGS = 4096,           /* likewise */
  RING_GROUP = 64, /* how many rings share a counter that moves with any of them, so that a look at
                      all is short */
  RING_GROUPS = STORE_RINGS / RING_GROUP,
  STORE_PHASES = 4096,     /* words, shared likewise; one session at a time occupies one */
  STORE_CALL_PLACES = 128, /* likewise */
  STORE_CALL_LOCKS = 16,
  STORE_WAITERS = 256, /* processes that may wait on one store */
};

/* The number of a store's layout, which its first row has. 2: the rows of version 0.2, the first
 * release. 3: the same, in a folder whose heads have digests (lmdb/digest.h). 4:
 * deliveries have random ids, which have rows of their own; the first row has the store's
 * identity. */
enum { DB_LAYOUT_FIRST_ROWS = 2, DB_LAYOUT = 4 };

#endif
