/* SPDX-License-Identifier: MIT
 *
 * tests/store/walk_kit.h: makes, walks, reads and writes a data.mdb in kit_folder.
 */
#ifndef TESTS_STORE_WALK_KIT_H
#define TESTS_STORE_WALK_KIT_H

#include "kit.h"
#include "store/db/lmdb/page.h"
#include "store/db/lmdb/walk.h"

enum { PAGE = 4096 };

const char *walk_kit_path(void);

/* Walks the file. */
bool walk_kit_walk(struct walk *walk);

/* Returns a key that no kind of row has. */
struct db_key walk_kit_key(size_t number);
/* Makes a commit that puts and deletes some rows. */
void walk_kit_change(struct store *store, struct random *random, unsigned deleted_percent);

/* Makes a store with branches, large values and free pages; *ret_walk has its trees, and
 * walk_kit_data its file. */
void walk_kit_make(struct walk *ret_walk);

extern uint8_t *walk_kit_data; /* malloc'ed */
extern size_t walk_kit_len;
void walk_kit_read(void); /* the file into walk_kit_data */
/* Writes the file, with correct digests of its heads. */
void walk_kit_write(const uint8_t *bytes);

/* Makes damage that LMDB does not notice: the newest head states a wrong number of rows. */
void walk_kit_miscount(uint8_t *bytes, const struct walk *walk);
/* Returns the first leaf of the tree of rows. */
uint8_t *walk_kit_leaf(uint8_t *bytes, const struct walk *walk);
static inline void put_u16(uint8_t *at, uint16_t value) { memcpy(at, &value, sizeof value); }
static inline void put_u64(uint8_t *at, uint64_t value) { memcpy(at, &value, sizeof value); }

#endif
