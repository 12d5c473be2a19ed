/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_walk_damage.c: each kind of damage is found by the check that is made for it.
 * Random damage is tested in tests/faults/open.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "store/db/lmdb/engine.h"
#include "walk_kit.h"

TestSuite(walk_damage, .init = kit_begin, .fini = kit_end, .timeout = 300);

/* -- pages and nodes -------------------------------------------------------------------------- */

static void damage_number(uint8_t *bytes, const struct walk *walk) {
  put_u64(walk_kit_leaf(bytes, walk), 7777);
}
static void damage_kind(uint8_t *bytes, const struct walk *walk) {
  put_u16(walk_kit_leaf(bytes, walk) + PAGE_KIND_AT, PAGE_LEAF | 0x10);
}
static void damage_upper(uint8_t *bytes, const struct walk *walk) {
  put_u16(walk_kit_leaf(bytes, walk) + PAGE_UPPER_AT, PAGE + 2);
}
static void damage_lower(uint8_t *bytes, const struct walk *walk) {
  put_u16(walk_kit_leaf(bytes, walk) + PAGE_LOWER_AT, PAGE_HEAD_BYTES - 2);
}
static void damage_overlap(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
  put_u16(leaf + PAGE_HEAD_BYTES, page_u16(leaf, PAGE_HEAD_BYTES + 2));
}
static void damage_order(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
  uint16_t first = page_u16(leaf, PAGE_HEAD_BYTES);
  put_u16(leaf + PAGE_HEAD_BYTES, page_u16(leaf, PAGE_HEAD_BYTES + 2));
  put_u16(leaf + PAGE_HEAD_BYTES + 2, first);
}
static void damage_range(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
  uint8_t *last = leaf + page_u16(leaf, (size_t)page_u16(leaf, PAGE_LOWER_AT) - 2);
  last[NODE_HEAD_BYTES] = 0xff;
}
static void damage_key(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
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

/* The power failed while the head was written: the number is new, and the trees are old. */
static void damage_torn(uint8_t *bytes, const struct walk *walk) {
  uint8_t *head = bytes + (walk->transaction & 1) * PAGE,
          *other = bytes + (~walk->transaction & 1) * PAGE;
  memcpy(head + HEAD_TREES_AT, other + HEAD_TREES_AT, (size_t)2 * TREE_BYTES);
}

/* -- the same, so that no other check finds it ------------------------------------------------- */

static uint8_t *newest_head(uint8_t *bytes, const struct walk *walk) {
  return bytes + (walk->transaction & 1) * PAGE;
}
static uint8_t *other_head(uint8_t *bytes, const struct walk *walk) {
  return bytes + (~walk->transaction & 1) * PAGE;
}

static unsigned nodes_of(const uint8_t *page) {
  return (page_u16(page, PAGE_LOWER_AT) - PAGE_HEAD_BYTES) / 2u;
}
static uint8_t *node_of(uint8_t *page, unsigned index) {
  return page + page_u16(page, PAGE_HEAD_BYTES + (size_t)index * 2);
}
static uint8_t *child_of(uint8_t *bytes, uint8_t *branch, unsigned index) {
  return bytes + (size_t)page_u32(node_of(branch, index), NODE_LOW_AT) * PAGE;
}

static void damage_version(uint8_t *bytes, const struct walk *walk) {
  bytes[HEAD_VERSION_AT] = HEAD_VERSION + 1;
  (void)walk;
}
static void damage_other_head(uint8_t *bytes, const struct walk *walk) {
  other_head(bytes, walk)[HEAD_MAGIC_AT] ^= 1;
}
static void damage_end(uint8_t *bytes, const struct walk *walk) {
  put_u64(newest_head(bytes, walk) + HEAD_LAST_PAGE_AT, walk->file_pages);
}
/* The number of pages, times 4096, is 0 in 64 bits. */
static void damage_overflow(uint8_t *bytes, const struct walk *walk) {
  put_u64(newest_head(bytes, walk) + HEAD_LAST_PAGE_AT, (UINT64_C(1) << 52) - 1);
}
static void damage_turn(uint8_t *bytes, const struct walk *walk) {
  put_u64(newest_head(bytes, walk) + HEAD_TRANSACTION_AT, walk->transaction + 1);
}
static void damage_deep(uint8_t *bytes, const struct walk *walk) {
  put_u16(newest_head(bytes, walk) + HEAD_TREES_AT + TREE_BYTES + TREE_DEPTH_AT, TREE_DEEPEST + 1);
}

/* The node that ends with the page ends after it. */
static void damage_beyond(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk), *last = node_of(leaf, 0);
  for (unsigned i = 1; i < nodes_of(leaf); i++)
    if (node_of(leaf, i) > last) last = node_of(leaf, i);
  if (page_u16(last, NODE_FLAGS_AT) == NODE_BIG) put_u16(last + NODE_FLAGS_AT, 0);
  put_u16(last, (uint16_t)(leaf + PAGE - last));
}
/* Adds a node within the value of another one. */
static void damage_within(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
  size_t head = NODE_HEAD_BYTES + DB_KEY_BYTES;
  for (unsigned i = 0; i < nodes_of(leaf); i++) {
    uint8_t *node = node_of(leaf, i), *within = node + head + (head & 1);
    if (page_u16(node, NODE_FLAGS_AT) || page_u32(node, NODE_LOW_AT) < 3 * head) continue;
    memset(within, 0, head);
    put_u16(within + NODE_KEY_BYTES_AT, DB_KEY_BYTES);
    size_t end = page_u16(leaf, PAGE_LOWER_AT);
    cr_assert_leq(end + 2, page_u16(leaf, PAGE_UPPER_AT));
    put_u16(leaf + end, (uint16_t)(within - leaf));
    put_u16(leaf + PAGE_LOWER_AT, (uint16_t)(end + 2));
    return;
  }
  cr_assert_fail("no value is long enough");
}
/* A key that is longer, of a value that is shorter. */
static void damage_width(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = walk_kit_leaf(bytes, walk);
  for (unsigned i = 0; i < nodes_of(leaf); i++) {
    uint8_t *node = node_of(leaf, i);
    if (page_u16(node, NODE_FLAGS_AT) || !page_u32(node, NODE_LOW_AT)) continue;
    put_u16(node + NODE_KEY_BYTES_AT, DB_KEY_BYTES + 1);
    put_u16(node, (uint16_t)(page_u16(node, NODE_LOW_AT) - 1));
    return;
  }
  cr_assert_fail("no value is long enough");
}
/* The second leaf begins below what its branch says. */
static void damage_below(uint8_t *bytes, const struct walk *walk) {
  uint8_t *above = bytes + walk->rows.root * PAGE;
  while (page_u16(child_of(bytes, above, 0), PAGE_KIND_AT) == PAGE_BRANCH)
    above = child_of(bytes, above, 0);
  memset(node_of(child_of(bytes, above, 1), 0) + NODE_HEAD_BYTES, 0, DB_KEY_BYTES);
}
static void damage_only_child(uint8_t *bytes, const struct walk *walk) {
  put_u16(bytes + walk->rows.root * PAGE + PAGE_LOWER_AT, PAGE_HEAD_BYTES + 2);
}

/* -- large values, free pages ------------------------------------------------------------------ */

/* Returns the first page of the first large value, which has a kind that only such values have. */
static uint8_t *large_value(uint8_t *bytes, const struct walk *walk) {
  uint8_t *above = bytes + walk->rows.root * PAGE;
  while (page_u16(child_of(bytes, above, 0), PAGE_KIND_AT) == PAGE_BRANCH)
    above = child_of(bytes, above, 0);
  for (unsigned i = 0; i < nodes_of(above); i++) {
    uint8_t *leaf = child_of(bytes, above, i);
    for (unsigned n = 0; n < nodes_of(leaf); n++) {
      uint8_t *node = node_of(leaf, n);
      if (page_u16(node, NODE_FLAGS_AT) == NODE_BIG && page_u32(node, NODE_LOW_AT) > 2 * PAGE)
        return bytes + page_u64(node, NODE_HEAD_BYTES + DB_KEY_BYTES) * PAGE;
    }
  }
  cr_assert_fail("no value is large enough");
  return NULL;
}
static void damage_large(uint8_t *bytes, const struct walk *walk) {
  put_u16(large_value(bytes, walk) + PAGE_KIND_AT, PAGE_LEAF);
}
static void damage_short_run(uint8_t *bytes, const struct walk *walk) {
  put_u16(large_value(bytes, walk) + PAGE_RUN_AT, 2);
}
static void damage_long_run(uint8_t *bytes, const struct walk *walk) {
  uint8_t *value = large_value(bytes, walk);
  put_u16(value + PAGE_RUN_AT, (uint16_t)(walk->last_page - (uint64_t)(value - bytes) / PAGE + 2));
}

/* The first record of the list of free pages. */
static uint8_t *free_record(uint8_t *bytes, const struct walk *walk) {
  uint8_t *leaf = bytes + walk->free_pages.root * PAGE;
  while (page_u16(leaf, PAGE_KIND_AT) == PAGE_BRANCH) leaf = child_of(bytes, leaf, 0);
  return node_of(leaf, 0);
}
static void damage_freed_when(uint8_t *bytes, const struct walk *walk) {
  put_u64(free_record(bytes, walk) + NODE_HEAD_BYTES, 0);
}
static void damage_free_count(uint8_t *bytes, const struct walk *walk) {
  uint8_t *node = free_record(bytes, walk), *value = node + NODE_HEAD_BYTES + 8;
  if (page_u16(node, NODE_FLAGS_AT) == NODE_BIG)
    value = bytes + page_u64(value, 0) * PAGE + PAGE_HEAD_BYTES;
  put_u64(value, UINT64_MAX / 8);
}

Test(walk_damage, each_kind_of_damage_is_found) {
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
      {"counts other pages", walk_kit_miscount},
      {"another kind", damage_flags},
      {"beyond the map", damage_last},
      {"is not a head", damage_heads},
      {"two uses", damage_free},
      {"was not written to its end", damage_torn},
      {"is not a head", damage_version},
      {"is not a head", damage_other_head},
      {"beyond the end of the file", damage_end},
      {"beyond the map", damage_overflow},
      {"belongs into the other head", damage_turn},
      {"deeper than any", damage_deep},
      {"overlap or leave it", damage_beyond},
      {"overlap or leave it", damage_within},
      {"overlap or leave it", damage_width},
      {"out of order", damage_below},
      {"not the page that it should be", damage_only_child},
      {"should begin a large value", damage_large},
      {"begins fewer pages", damage_short_run},
      {"is named, but is not in the file", damage_long_run},
      {"that never was", damage_freed_when},
      {"longer than its record", damage_free_count},
  };
  struct walk sound, walk;
  walk_kit_make(&sound);
  uint8_t *bytes = malloc(walk_kit_len);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
    struct tidings_error error = new_error();
    struct store *store;
    memcpy(bytes, walk_kit_data, walk_kit_len);
    kinds[i].damage(bytes, &sound);
    walk_kit_write(bytes);
    cr_assert(!walk_kit_walk(&walk), "kind %zu", i);
    cr_assert(strstr(walk.finding, kinds[i].words), "kind %zu: %s", i, walk.finding);
    int code = store_open(&options, &store, &error);
    if (kinds[i].damage == damage_other_head) { /* which is made again */
      cr_assert_eq(code, 0, "%s", error.text);
      store_close(store);
      cr_assert(walk_kit_walk(&walk), "%s", walk.finding);
      continue;
    }
    cr_assert_eq(code, TIDINGS_E_STORE, "kind %zu", i);
    cr_assert(strstr(error.text, "data.mdb"), "kind %zu: %s", i, error.text);
  }
  walk_kit_write(walk_kit_data);
  store_close(store_at(kit_store));
  free(bytes);
  free(walk_kit_data);
}
