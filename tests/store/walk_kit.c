/* SPDX-License-Identifier: MIT
 */
#include "walk_kit.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/heads.h"
#include "store/handle.h"

uint8_t *walk_kit_data;
size_t walk_kit_len;

const char *walk_kit_path(void) { return kit_path("store/data.mdb"); }

enum { KEYS = 3000, LARGEST_VALUE = 40000 };

bool walk_kit_walk(struct walk *walk) {
  int fd = open(walk_kit_path(), O_RDONLY);
  cr_assert_geq(fd, 0);
  bool sound = walk_begin(walk, fd, datafile_map_bytes()) && walk_run(walk);
  cr_assert_eq(walk->err, 0, "%s", strerror(walk->err));
  walk_end(walk);
  close(fd);
  return sound;
}

struct db_key walk_kit_key(size_t number) {
  struct db_key key = {{0xf0}}; /* no kind of row has it */
  for (int i = 0; i < 8; i++) key.bytes[5 + i] = (uint8_t)((number * 0x9e3779b97f4a7c15u) >> 8 * i);
  return key;
}

static size_t some_length(struct random *random) {
  switch (random_below(random, 4)) {
  case 0: return random_below(random, 64);
  case 1: return random_below(random, 2100); /* around the largest that stays in its page */
  case 2: return random_below(random, (size_t)3 * PAGE);
  default: return random_below(random, LARGEST_VALUE);
  }
}

void walk_kit_change(struct store *store, struct random *random, unsigned deleted_percent) {
  static char value[LARGEST_VALUE];
  struct tidings_error error = new_error();
  struct db_txn txn = {.touched_count = 0};
  store_deadline deadline = store_deadline_in(KIT_BUDGET_MS);
  cr_assert_eq(db_write(store->db, NULL, deadline, &txn, &error), 0, "%s", error.text);
  cr_assert_eq(db_reserve(&txn, (uint64_t)60 * LARGEST_VALUE, &error), 0);
  for (size_t changes = 1 + random_below(random, 40); changes; changes--) {
    struct db_key key = walk_kit_key(random_below(random, KEYS));
    if (random_below(random, 100) < deleted_percent) cr_assert_eq(db_delete(&txn, &key), 0);
    else cr_assert_eq(db_put(&txn, &key, span_of(value, some_length(random))), 0);
  }
  if (random_below(random, 10) == 0) db_end(&txn);
  else cr_assert_eq(db_commit(&txn, &error), 0, "%s", error.text);
}

void walk_kit_read(void) {
  struct stat entry;
  int fd = open(walk_kit_path(), O_RDONLY);
  cr_assert_eq(fstat(fd, &entry), 0);
  walk_kit_len = (size_t)entry.st_size;
  walk_kit_data = malloc(walk_kit_len);
  cr_assert_eq(pread(fd, walk_kit_data, walk_kit_len, 0), (ssize_t)walk_kit_len);
  close(fd);
}

/* Gives both heads digests, so that only the walk can find the damage. */
static void seal_heads(int fd) {
  struct heads heads;
  cr_assert_eq(heads_read(&heads, fd, PAGE, datafile_map_bytes()), 0);
  for (unsigned i = 0; i < PAGE_HEADS; i++) {
    const struct digest digest = {.transaction = heads.head[i].transaction,
                                  .head_crc = digest_head_crc(heads.head[i].bytes)};
    uint8_t bytes[DIGEST_BYTES];
    size_t len = digest_encode(&digest, bytes);
    if (heads.head[i].state == HEAD_LOST) continue;
    cr_assert_eq(heads_write_at(fd, bytes, len, (uint64_t)i * PAGE + DIGEST_AT), 0);
  }
}

void walk_kit_write(const uint8_t *bytes) {
  int fd = open(walk_kit_path(), O_RDWR);
  cr_assert_eq(pwrite(fd, bytes, walk_kit_len, 0), (ssize_t)walk_kit_len);
  seal_heads(fd);
  close(fd);
}

/* A store with branches, large values and free pages; *ret_walk has its trees. */
void walk_kit_make(struct walk *ret_walk) {
  struct random random = {.state = 5};
  struct store *store = store_at(kit_store);
  for (int i = 0; i < 200; i++) walk_kit_change(store, &random, 30);
  store_close(store);
  cr_assert(walk_kit_walk(ret_walk));
  cr_assert_geq(ret_walk->rows.depth, 2);
  cr_assert_geq(ret_walk->free_pages.entries, 1);
  cr_assert_geq(ret_walk->rows.overflows, 1);
  walk_kit_read();
}

uint8_t *walk_kit_leaf(uint8_t *bytes, const struct walk *walk) {
  uint8_t *page = bytes + walk->rows.root * PAGE;
  while (page_u16(page, PAGE_KIND_AT) == PAGE_BRANCH) {
    const uint8_t *node = page + page_u16(page, PAGE_HEAD_BYTES);
    page = bytes + (size_t)page_u32(node, NODE_LOW_AT) * PAGE;
  }
  return page;
}

void walk_kit_miscount(uint8_t *bytes, const struct walk *walk) {
  size_t at = HEAD_TREES_AT + TREE_BYTES + TREE_ENTRIES_AT;
  put_u64(bytes + (walk->transaction & 1) * PAGE + at, walk->rows.entries + 1);
}
