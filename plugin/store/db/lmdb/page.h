/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/page.h: how LMDB 0.9 lays out its file on 64-bit little-endian machines, as far as
 * tidings reads it: pages, nodes, the two heads. Numbers are read with memcpy, because in a damaged
 * page nothing is aligned.
 */
#ifndef STORE_DB_PAGE_H
#define STORE_DB_PAGE_H

#include <stdint.h>
#include <string.h>

static inline uint16_t page_u16(const uint8_t *page, size_t at) {
  uint16_t value;
  memcpy(&value, page + at, sizeof value);
  return value;
}

static inline uint32_t page_u32(const uint8_t *page, size_t at) {
  uint32_t value;
  memcpy(&value, page + at, sizeof value);
  return value;
}

static inline uint64_t page_u64(const uint8_t *page, size_t at) {
  uint64_t value;
  memcpy(&value, page + at, sizeof value);
  return value;
}

/* Every page begins with its number, 2 unused bytes, its kind, and two bounds or the length of a
 * run. */
enum {
  PAGE_NUMBER_AT = 0,
  PAGE_KIND_AT = 10,
  PAGE_LOWER_AT = 12, /* the end of the list of nodes */
  PAGE_UPPER_AT = 14, /* the begin of the nodes, which reach to the page's end */
  PAGE_RUN_AT = 12,   /* in the first overflow page of a run: how many pages the run has */
  PAGE_HEAD_BYTES = 16,
  PAGE_SMALLEST = 512,
  PAGE_LARGEST = 65536,
  PAGE_HEADS = 2 /* pages 0 and 1 */
};
enum page_kind { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_HEAD = 8 };

/* A node begins with the value's length in a leaf, or the child's number in a branch; then come
 * flags and the key. */
enum { NODE_LOW_AT = 0, NODE_FLAGS_AT = 4, NODE_KEY_BYTES_AT = 6, NODE_HEAD_BYTES = 8 };
enum { NODE_BIG = 1 }; /* the value is in overflow pages; the node has the first one's number */

/* A head describes the tree of free pages first, then the tree of the rows. */
enum {
  HEAD_MAGIC_AT = 16,
  HEAD_VERSION_AT = 20,
  HEAD_MAP_AT = 32,
  HEAD_TREES_AT = 40,
  HEAD_PAGE_BYTES_AT = 40, /* in bytes that the first tree does not use */
  HEAD_LAST_PAGE_AT = 136,
  HEAD_TRANSACTION_AT = 144,
  HEAD_BYTES = 152,
  HEAD_VERSION = 1
};
#define HEAD_MAGIC 0xbeefc0deu
enum {
  TREE_FLAGS_AT = 4,
  TREE_DEPTH_AT = 6,
  TREE_BRANCHES_AT = 8,
  TREE_LEAVES_AT = 16,
  TREE_OVERFLOWS_AT = 24,
  TREE_ENTRIES_AT = 32,
  TREE_ROOT_AT = 40,
  TREE_BYTES = 48,
  TREE_DEEPEST = 31,
  TREE_NUMERIC = 8 /* the flag of the tree of free pages: its keys are numbers */
};
#define TREE_EMPTY UINT64_MAX /* the root of an empty tree */

#endif
