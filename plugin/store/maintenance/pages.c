/* SPDX-License-Identifier: MIT
 *
 * maintenance/pages.c: finds out what each page of a damaged file is used for, as far as the newest
 * sound head and the sound pages to which it leads can tell.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/heads.h"
#include "store/maintenance/gather.h"

bool maintenance_page_read(const struct maintenance_rows *rows, uint64_t number, uint8_t *page) {
  size_t bytes = (size_t)rows->page_bytes;
  for (size_t done = 0; done < bytes;) {
    ssize_t len =
        pread(rows->fd, page + done, bytes - done, (off_t)(number * rows->page_bytes + done));
    if (len < 0 && errno == EINTR) continue;
    if (len <= 0) return false;
    done += (size_t)len;
  }
  return true;
}

unsigned maintenance_page_nodes(const struct maintenance_rows *rows, const uint8_t *page,
                                uint64_t number, uint16_t kind) {
  size_t lower = page_u16(page, PAGE_LOWER_AT), upper = page_u16(page, PAGE_UPPER_AT);
  if (page_u64(page, PAGE_NUMBER_AT) != number || page_u16(page, PAGE_KIND_AT) != kind) return 0;
  if (lower < PAGE_HEAD_BYTES || lower > upper || upper > rows->page_bytes) return 0;
  return (unsigned)(lower - PAGE_HEAD_BYTES) / 2;
}

const uint8_t *maintenance_page_node(const struct maintenance_rows *rows, const uint8_t *page,
                                     unsigned index) {
  size_t at = page_u16(page, PAGE_HEAD_BYTES + (size_t)index * 2);
  if (at < PAGE_HEAD_BYTES || at + NODE_HEAD_BYTES > rows->page_bytes) return NULL;
  size_t end = at + NODE_HEAD_BYTES + page_u16(page + at, NODE_KEY_BYTES_AT);
  return end <= rows->page_bytes ? page + at : NULL;
}

/* -- the heads --------------------------------------------------------------------------------- */

struct root {
  uint64_t page, entries;
};
struct newest {
  uint64_t transaction, last_page;
  struct root free_pages, rows;
  bool found;
};

static struct root root_of(const uint8_t *head, unsigned index) {
  const uint8_t *tree = head + HEAD_TREES_AT + (size_t)index * TREE_BYTES;
  return (struct root){page_u64(tree, TREE_ROOT_AT), page_u64(tree, TREE_ENTRIES_AT)};
}

static bool is_page_size(uint64_t bytes) {
  return bytes >= PAGE_SMALLEST && bytes <= PAGE_LARGEST && !(bytes & (bytes - 1));
}

static bool is_head(const uint8_t *head, unsigned index, uint64_t page_bytes) {
  return page_u64(head, PAGE_NUMBER_AT) == index && page_u16(head, PAGE_KIND_AT) == PAGE_HEAD &&
         page_u32(head, HEAD_MAGIC_AT) == HEAD_MAGIC &&
         page_u32(head, HEAD_VERSION_AT) == HEAD_VERSION &&
         page_u32(head, HEAD_PAGE_BYTES_AT) == page_bytes &&
         page_u64(head, HEAD_TRANSACTION_AT) % PAGE_HEADS == index;
}

/* Finds the size of a page. The first head states it. If the first head is damaged, the right size
 * is the one at which a second head begins. */
static bool find_page_size(const struct maintenance_rows *rows, uint64_t *ret_bytes) {
  uint8_t head[HEAD_BYTES];
  for (uint64_t bytes = PAGE_SMALLEST; bytes <= PAGE_LARGEST; bytes *= 2) {
    for (unsigned i = 0; i < PAGE_HEADS; i++) {
      if (pread(rows->fd, head, sizeof head, (off_t)(i * bytes)) == HEAD_BYTES &&
          is_page_size(bytes) && is_head(head, i, bytes)) {
        *ret_bytes = bytes;
        return true;
      }
    }
  }
  return false;
}

/* Did the power fail while this head was written, so that its number is new and its trees are the
 * old ones? Then the list of free pages does not have its number: each commit but the first puts
 * the pages that it replaced into this list under its own number. False too if damage hides the
 * newest number of the list. */
static bool is_torn(struct maintenance_rows *rows, const uint8_t *head) {
  uint64_t transaction = page_u64(head, HEAD_TRANSACTION_AT), page = root_of(head, 0).page;
  if (page == TREE_EMPTY) return transaction > 1;
  for (int depth = 0; depth < TREE_DEEPEST; depth++) {
    if (page >= rows->pages || !maintenance_page_read(rows, page, rows->page)) return false;
    unsigned branch = maintenance_page_nodes(rows, rows->page, page, PAGE_BRANCH),
             leaf = maintenance_page_nodes(rows, rows->page, page, PAGE_LEAF),
             count = branch + leaf;
    const uint8_t *node = count ? maintenance_page_node(rows, rows->page, count - 1) : NULL;
    if (!node) return false;
    if (leaf)
      return page_u16(node, NODE_KEY_BYTES_AT) == sizeof transaction &&
             page_u64(node, NODE_HEAD_BYTES) != transaction;
    page = page_u32(node, NODE_LOW_AT) | (uint64_t)page_u16(node, NODE_FLAGS_AT) << 32;
  }
  return false;
}

static void take_newest(struct newest *newest, const uint8_t *head) {
  *newest = (struct newest){.transaction = page_u64(head, HEAD_TRANSACTION_AT),
                            .last_page = page_u64(head, HEAD_LAST_PAGE_AT),
                            .free_pages = root_of(head, 0),
                            .rows = root_of(head, 1),
                            .found = true};
}

/* If the newest commit was cut off, returns the head before it, which also counts when the store is
 * opened. */
static struct newest find_before_cut(const struct maintenance_rows *rows) {
  struct newest newest = {.found = false};
  struct heads_verdict verdict;
  struct heads heads;
  if (!heads_read(&heads, rows->fd, rows->page_bytes, datafile_map_bytes()) &&
      !heads_judge(&heads, rows->flushed, false, &verdict) && verdict.judgement == HEADS_CUT)
    take_newest(&newest, heads.head[verdict.counts].bytes);
  return newest;
}

/* Accepts a torn head only if `torn_too`. */
static struct newest find_newest(struct maintenance_rows *rows, bool torn_too) {
  struct newest newest = {.found = false};
  uint8_t head[HEAD_BYTES];
  for (unsigned i = 0; i < PAGE_HEADS; i++) {
    if (pread(rows->fd, head, sizeof head, (off_t)(i * rows->page_bytes)) != HEAD_BYTES ||
        !is_head(head, i, rows->page_bytes) || (!torn_too && is_torn(rows, head)))
      continue;
    if (!newest.found || page_u64(head, HEAD_TRANSACTION_AT) > newest.transaction)
      take_newest(&newest, head);
  }
  return newest;
}

/* -- the trees --------------------------------------------------------------------------------- */

/* The pages that are still to be read. Each page enters the list once, so there is room for all. */
struct descent {
  struct maintenance_rows *rows;
  uint64_t *stack;
  size_t depth;
  uint8_t leaf_use; /* the use of this tree's leaves */
  uint64_t entries; /* how many records of the list of free pages were read whole */
};

static void push_page(struct descent *descent, uint64_t page) {
  struct maintenance_rows *rows = descent->rows;
  if (page < PAGE_HEADS || page >= rows->pages || rows->uses[page] != USE_UNKNOWN) return;
  rows->uses[page] = USE_OTHER;
  descent->stack[descent->depth++] = page;
}

static void mark_free(struct maintenance_rows *rows, const uint8_t *numbers, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t page = page_u64(numbers, (size_t)i * sizeof page);
    if (page < rows->pages && rows->uses[page] == USE_UNKNOWN) rows->uses[page] = USE_FREE;
  }
}

/* Reads a record of the list of free pages: a count, and as many page numbers. */
static bool read_free(struct maintenance_rows *rows, const uint8_t *node) {
  size_t key = page_u16(node, NODE_KEY_BYTES_AT), bytes = page_u32(node, NODE_LOW_AT);
  const uint8_t *value = node + NODE_HEAD_BYTES + key;
  bool big = page_u16(node, NODE_FLAGS_AT) == NODE_BIG;
  size_t room = (size_t)(rows->page + rows->page_bytes - value);
  uint8_t *copy = NULL;
  if (key != sizeof(uint64_t) || bytes < sizeof(uint64_t) ||
      (big ? sizeof(uint64_t) : bytes) > room)
    return false;
  if (big) {
    uint64_t first = page_u64(value, 0), most = rows->pages * rows->page_bytes;
    if (first >= rows->pages || bytes > most - first * rows->page_bytes) return false;
    uint64_t end = first + (PAGE_HEAD_BYTES + (uint64_t)bytes - 1) / rows->page_bytes + 1;
    for (uint64_t page = first; page < end && page < rows->pages; page++)
      if (rows->uses[page] == USE_UNKNOWN) rows->uses[page] = USE_OTHER;
    copy = malloc(bytes);
    off_t at = (off_t)(first * rows->page_bytes + PAGE_HEAD_BYTES);
    if (!copy || pread(rows->fd, copy, bytes, at) != (ssize_t)bytes) {
      free(copy);
      return false;
    }
    value = copy;
  }
  uint64_t count = page_u64(value, 0);
  bool whole = count <= bytes / sizeof count - 1;
  if (whole) mark_free(rows, value + sizeof count, count);
  free(copy);
  return whole;
}

static void look_at_page(struct descent *descent, uint64_t number) {
  struct maintenance_rows *rows = descent->rows;
  if (!maintenance_page_read(rows, number, rows->page)) return;
  unsigned branch = maintenance_page_nodes(rows, rows->page, number, PAGE_BRANCH),
           leaf = maintenance_page_nodes(rows, rows->page, number, PAGE_LEAF);
  for (unsigned i = 0; i < branch; i++) {
    const uint8_t *node = maintenance_page_node(rows, rows->page, i);
    if (node)
      push_page(descent, page_u32(node, NODE_LOW_AT) | (uint64_t)page_u16(node, NODE_FLAGS_AT)
                                                           << 32);
  }
  const uint8_t *first = leaf ? maintenance_page_node(rows, rows->page, 0) : NULL;
  bool ours = first && page_u16(first, NODE_KEY_BYTES_AT) == DB_KEY_BYTES;
  /* A damaged list of free pages may lead to a leaf of rows, which is not a leaf of the list. */
  if (leaf)
    rows->uses[number] = ours && descent->leaf_use == USE_OTHER ? USE_UNKNOWN : descent->leaf_use;
  for (unsigned i = 0; i < leaf && descent->leaf_use == USE_OTHER; i++) {
    const uint8_t *node = maintenance_page_node(rows, rows->page, i);
    if (node && read_free(rows, node)) descent->entries++;
  }
}

static void descend(struct descent *descent, uint64_t root, uint8_t leaf_use) {
  descent->leaf_use = leaf_use;
  push_page(descent, root);
  while (descent->depth) look_at_page(descent, descent->stack[--descent->depth]);
}

int maintenance_pages(struct maintenance_rows *rows, bool *ret_known, struct tidings_error *error) {
  off_t end = lseek(rows->fd, 0, SEEK_END);
  rows->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  (void)find_page_size(rows, &rows->page_bytes);
  rows->pages = end > 0 ? (uint64_t)end / rows->page_bytes : 0;
  rows->uses = calloc((size_t)rows->pages + 1, 1);
  rows->page = malloc((size_t)rows->page_bytes);
  struct descent descent = {.rows = rows,
                            .stack = malloc(((size_t)rows->pages + 1) * sizeof(uint64_t))};
  int code = rows->uses && rows->page && descent.stack
                 ? 0
                 : fail(error, TIDINGS_E_NOMEM, "no memory for the pages of a store");
  struct newest newest = {.found = false};
  if (!code) newest = find_before_cut(rows);
  if (!code && !newest.found) newest = find_newest(rows, false);
  if (!code && !newest.found) newest = find_newest(rows, true);
  *ret_known = false;
  if (newest.found) {
    descend(&descent, newest.rows.page, USE_LEAF);
    descend(&descent, newest.free_pages.page, USE_OTHER);
    *ret_known = descent.entries == newest.free_pages.entries && newest.last_page < rows->pages;
    for (uint64_t page = newest.last_page + 1; *ret_known && page < rows->pages; page++)
      if (rows->uses[page] == USE_UNKNOWN) rows->uses[page] = USE_FREE;
  }
  free(descent.stack);
  return code;
}
