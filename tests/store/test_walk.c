/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_walk.c: what LMDB writes is sound to the walk, whatever was put and deleted; and
 * each kind of damage is found where it is. Damage at random is in tests/faults/open.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/page.h"
#include "store/db/lmdb/walk.h"
#include "store/handle.h"

TestSuite(walk, .init = kit_begin, .fini = kit_end, .timeout = 300);

enum { PAGE = 4096, KEYS = 3000, LARGEST_VALUE = 40000 };

static const char *data_path(void) { return kit_path("store/data.mdb"); }

static bool walk_data(struct walk *walk) {
  int fd = open(data_path(), O_RDONLY);
  cr_assert_geq(fd, 0);
  bool sound = walk_begin(walk, fd, datafile_map_bytes()) && walk_run(walk);
  cr_assert_eq(walk->err, 0, "%s", strerror(walk->err));
  walk_end(walk);
  close(fd);
  return sound;
}

static void expect_sound(const char *when, unsigned step) {
  struct walk walk;
  cr_assert(walk_data(&walk), "%s %u: page %llu %s", when, step, (unsigned long long)walk.page,
            walk.finding);
}

/* -- what LMDB writes -------------------------------------------------------------------------- */

static struct db_key key_of(size_t number) {
  struct db_key key = {{0xf0}}; /* no kind of row has it */
  for (int i = 0; i < 8; i++) key.bytes[5 + i] = (uint8_t)((number * 0x9e3779b97f4a7c15u) >> 8 * i);
  return key;
}

static size_t some_length(struct random *random) {
  switch (random_below(random, 4)) {
  case 0: return random_below(random, 64);
  case 1: return random_below(random, 2100); /* around the largest that stays in its page */
  case 2: return random_below(random, 3 * PAGE);
  default: return random_below(random, LARGEST_VALUE);
  }
}

static void change_rows(struct store *store, struct random *random, unsigned deleted_percent) {
  static char value[LARGEST_VALUE];
  struct tidings_error error = new_error();
  struct db_txn txn = {.touched_count = 0};
  store_deadline deadline = store_deadline_in(KIT_BUDGET_MS);
  cr_assert_eq(db_write(store->db, NULL, deadline, &txn, &error), 0, "%s", error.text);
  cr_assert_eq(db_reserve(&txn, (uint64_t)60 * LARGEST_VALUE, &error), 0);
  for (size_t changes = 1 + random_below(random, 40); changes; changes--) {
    struct db_key key = key_of(random_below(random, KEYS));
    if (random_below(random, 100) < deleted_percent) cr_assert_eq(db_delete(&txn, &key), 0);
    else cr_assert_eq(db_put(&txn, &key, span_of(value, some_length(random))), 0);
  }
  if (random_below(random, 10) == 0) db_end(&txn);
  else cr_assert_eq(db_commit(&txn, &error), 0, "%s", error.text);
}

/* The store grows, shrinks to almost nothing, and grows again, while readers keep old pages. */
Test(walk, whatever_lmdb_writes_is_sound) {
  struct random random = {.state = 11};
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct db_txn reader = {.touched_count = 0};
  bool reading = false;
  for (unsigned step = 0; step < 1500; step++) {
    unsigned phase = step / 300 % 2;
    change_rows(store, &random, phase ? 90 : 15);
    if (step % 50 == 49) {
      if (reading) db_end(&reader);
      else
        cr_assert_eq(db_read(store->db, NULL, store_deadline_in(KIT_BUDGET_MS), &reader, &error),
                     0);
      reading = !reading;
    }
    if (step % 5 == 0) expect_sound("step", step);
  }
  if (reading) db_end(&reader);
  store_close(store);
  expect_sound("closed", 0);
}

/* -- damage ------------------------------------------------------------------------------------ */

static uint8_t *data;
static size_t data_len;

static void read_data(void) {
  struct stat entry;
  int fd = open(data_path(), O_RDONLY);
  cr_assert_eq(fstat(fd, &entry), 0);
  data_len = (size_t)entry.st_size;
  data = malloc(data_len);
  cr_assert_eq(pread(fd, data, data_len, 0), (ssize_t)data_len);
  close(fd);
}

static void write_data(const uint8_t *bytes) {
  int fd = open(data_path(), O_WRONLY);
  cr_assert_eq(pwrite(fd, bytes, data_len, 0), (ssize_t)data_len);
  close(fd);
}

/* A store with branches, large values and free pages; *ret_walk has its trees. */
static void make_data(struct walk *ret_walk) {
  struct random random = {.state = 5};
  struct store *store = store_at(kit_store);
  for (int i = 0; i < 200; i++) change_rows(store, &random, 30);
  store_close(store);
  cr_assert(walk_data(ret_walk));
  cr_assert_geq(ret_walk->rows.depth, 2);
  cr_assert_geq(ret_walk->free_pages.entries, 1);
  cr_assert_geq(ret_walk->rows.overflows, 1);
  read_data();
}

static void put_u16(uint8_t *at, uint16_t value) { memcpy(at, &value, sizeof value); }
static void put_u64(uint8_t *at, uint64_t value) { memcpy(at, &value, sizeof value); }

/* Where the first leaf of the tree of rows is. */
static uint8_t *first_leaf(uint8_t *bytes, const struct walk *walk) {
  uint8_t *page = bytes + walk->rows.root * PAGE;
  while (page_u16(page, PAGE_KIND_AT) == PAGE_BRANCH) {
    const uint8_t *node = page + page_u16(page, PAGE_HEAD_BYTES);
    page = bytes + (size_t)page_u32(node, NODE_LOW_AT) * PAGE;
  }
  return page;
}

static void damage_number(uint8_t *bytes, const struct walk *walk) {
  put_u64(first_leaf(bytes, walk), 7777);
}
static void damage_kind(uint8_t *bytes, const struct walk *walk) {
  put_u16(first_leaf(bytes, walk) + PAGE_KIND_AT, PAGE_LEAF | 0x10);
}
static void damage_upper(uint8_t *bytes, const struct walk *walk) {
  put_u16(first_leaf(bytes, walk) + PAGE_UPPER_AT, PAGE + 2);
}
static void damage_lower(uint8_t *bytes, const struct walk *walk) {
  put_u16(first_leaf(bytes, walk) + PAGE_LOWER_AT, PAGE_HEAD_BYTES - 2);
}
static void damage_overlap(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = first_leaf(bytes, walk);
  put_u16(leaf + PAGE_HEAD_BYTES, page_u16(leaf, PAGE_HEAD_BYTES + 2));
}
static void damage_order(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = first_leaf(bytes, walk);
  uint16_t first = page_u16(leaf, PAGE_HEAD_BYTES);
  put_u16(leaf + PAGE_HEAD_BYTES, page_u16(leaf, PAGE_HEAD_BYTES + 2));
  put_u16(leaf + PAGE_HEAD_BYTES + 2, first);
}
static void damage_range(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = first_leaf(bytes, walk);
  uint8_t *last = leaf + page_u16(leaf, (size_t)page_u16(leaf, PAGE_LOWER_AT) - 2);
  last[NODE_HEAD_BYTES] = 0xff;
}
static void damage_key(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = first_leaf(bytes, walk);
  put_u16(leaf + page_u16(leaf, PAGE_HEAD_BYTES) + NODE_KEY_BYTES_AT, DB_KEY_BYTES + 1);
}
static void damage_child(uint8_t *bytes, const struct walk *walk) {
  uint8_t *root = bytes + walk->rows.root * PAGE;
  uint8_t *node = root + page_u16(root, PAGE_HEAD_BYTES + 2);
  uint32_t beyond = (uint32_t)walk->last_page + 1;
  memcpy(node, &beyond, sizeof beyond);
}
static void damage_twice(uint8_t *bytes, const struct walk *walk) {
  uint8_t *root = bytes + walk->rows.root * PAGE;
  memcpy(root + page_u16(root, PAGE_HEAD_BYTES + 2), root + page_u16(root, PAGE_HEAD_BYTES), 4);
}
static void damage_depth(uint8_t *bytes, const struct walk *walk) {
  size_t at = HEAD_TREES_AT + TREE_BYTES + TREE_DEPTH_AT;
  put_u16(bytes + (walk->transaction & 1) * PAGE + at, (uint16_t)(walk->rows.depth + 1));
}
static void damage_count(uint8_t *bytes, const struct walk *walk) {
  size_t at = HEAD_TREES_AT + TREE_BYTES + TREE_ENTRIES_AT;
  put_u64(bytes + (walk->transaction & 1) * PAGE + at, walk->rows.entries + 1);
}
static void damage_flags(uint8_t *bytes, const struct walk *walk) {
  put_u16(bytes + (walk->transaction & 1) * PAGE + HEAD_TREES_AT + TREE_BYTES + TREE_FLAGS_AT, 4);
}
static void damage_last(uint8_t *bytes, const struct walk *walk) {
  put_u64(bytes + (walk->transaction & 1) * PAGE + HEAD_LAST_PAGE_AT, UINT64_MAX);
}
static void damage_heads(uint8_t *bytes, const struct walk *walk) {
  uint8_t first[PAGE];
  (void)walk;
  memcpy(first, bytes, PAGE);
  memcpy(bytes, bytes + PAGE, PAGE);
  memcpy(bytes + PAGE, first, PAGE);
}
/* A page of the tree of rows is free as well. */
static void damage_free(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = bytes + walk->free_pages.root * PAGE;
  while (page_u16(leaf, PAGE_KIND_AT) == PAGE_BRANCH)
    leaf = bytes + (size_t)page_u32(leaf + page_u16(leaf, PAGE_HEAD_BYTES), NODE_LOW_AT) * PAGE;
  uint8_t *node = leaf + page_u16(leaf, PAGE_HEAD_BYTES), *value = node + NODE_HEAD_BYTES + 8;
  if (page_u16(node, NODE_FLAGS_AT) == NODE_BIG)
    value = bytes + page_u64(value, 0) * PAGE + PAGE_HEAD_BYTES;
  put_u64(value, 1);
  put_u64(value + 8, walk->rows.root);
}

/* The power went while the head was written: the number is new, the trees are those before. */
static void damage_torn(uint8_t *bytes, const struct walk *walk) {
  uint8_t *head = bytes + (walk->transaction & 1) * PAGE,
          *other = bytes + (~walk->transaction & 1) * PAGE;
  memcpy(head + HEAD_TREES_AT, other + HEAD_TREES_AT, (size_t)2 * TREE_BYTES);
}

Test(walk, each_kind_of_damage_is_found) {
  static const struct {
    const char *words;
    void (*damage)(uint8_t *bytes, const struct walk *walk);
  } kinds[] = {
      {"not the page that it should be", damage_number},
      {"not the page that it should be", damage_kind},
      {"not the page that it should be", damage_upper},
      {"not the page that it should be", damage_lower},
      {"overlap", damage_overlap},
      {"out of order", damage_order},
      {"out of order", damage_range},
      {"overlap or leave it", damage_key},
      {"is not in the file", damage_child},
      {"two uses", damage_twice},
      {"not the page that it should be", damage_depth},
      {"counts other pages", damage_count},
      {"another kind", damage_flags},
      {"beyond the map", damage_last},
      {"is not a head", damage_heads},
      {"two uses", damage_free},
      {"was not written to its end", damage_torn},
  };
  struct walk sound, walk;
  make_data(&sound);
  uint8_t *bytes = malloc(data_len);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
    struct tidings_error error = new_error();
    struct store *store;
    memcpy(bytes, data, data_len);
    kinds[i].damage(bytes, &sound);
    write_data(bytes);
    cr_assert(!walk_data(&walk), "kind %zu", i);
    cr_assert(strstr(walk.finding, kinds[i].words), "kind %zu: %s", i, walk.finding);
    cr_assert_eq(store_open(&options, &store, &error), TIDINGS_E_STORE, "kind %zu", i);
    cr_assert(strstr(error.text, "data.mdb"), "kind %zu: %s", i, error.text);
  }
  write_data(data);
  store_close(store_at(kit_store));
  free(bytes);
  free(data);
}

/* The inode, the transaction and the time of change are those of the last clean close: a look at
 * every page would find nothing. What has changed since then is looked at. */
Test(walk, only_what_changed_since_a_clean_close_is_walked) {
  struct walk sound;
  struct stat entry;
  make_data(&sound);
  cr_assert_eq(stat(data_path(), &entry), 0);
  damage_count(data, &sound); /* which LMDB does not look at */
  write_data(data);
  const struct timespec times[2] = {entry.st_atim, entry.st_mtim};
  cr_assert_eq(utimensat(AT_FDCWD, data_path(), times, 0), 0);
  store_close(store_at(kit_store));
  cr_assert_eq(utimensat(AT_FDCWD, data_path(), NULL, 0), 0);
  struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct tidings_error error = new_error();
  struct store *store;
  cr_assert_eq(store_open(&options, &store, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "counts other pages"), "%s", error.text);
  free(data);
}

/* -- a large file ------------------------------------------------------------------------------ */

static void make_large(void) {
  static char value[1 << 20];
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  for (size_t i = 0; i < 72; i++) {
    struct db_key key = key_of(i);
    struct db_txn txn = {.touched_count = 0};
    store_deadline deadline = store_deadline_in(KIT_BUDGET_MS);
    cr_assert_eq(db_write(store->db, NULL, deadline, &txn, &error), 0);
    cr_assert_eq(db_reserve(&txn, 2 * sizeof value, &error), 0, "%s", error.text);
    cr_assert_eq(db_put(&txn, &key, span_of(value, sizeof value)), 0);
    cr_assert_eq(db_commit(&txn, &error), 0);
  }
  store_close(store);
}

Test(walk, a_large_file_is_walked_by_a_child_and_the_result_is_noted) {
  struct walk sound;
  make_large();
  cr_assert_eq(utimensat(AT_FDCWD, data_path(), NULL, 0), 0);
  store_close(store_at(kit_store));
  cr_assert(walk_data(&sound));
  read_data();
  damage_order(data, &sound);
  write_data(data);
  struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  for (int i = 0; i < 2; i++) { /* the second time from the note */
    struct tidings_error error = new_error();
    cr_assert_eq(store_open(&options, &store, &error), TIDINGS_E_STORE);
    cr_assert(strstr(error.text, "has keys out of order"), "%s", error.text);
  }
  /* Without any time the caller is told to come again, and the result is there one time. */
  cr_assert_eq(utimensat(AT_FDCWD, data_path(), NULL, 0), 0);
  options.create_budget_ms = 0;
  int code;
  do {
    struct tidings_error error = new_error();
    code = store_open(&options, &store, &error);
    cr_assert(code == TIDINGS_E_BUSY || code == TIDINGS_E_STORE, "%d %s", code, error.text);
  } while (code == TIDINGS_E_BUSY);
  free(data);
}
