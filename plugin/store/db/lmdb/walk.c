/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk.c: walks through the heads and each tree from its root, and checks pages,
 * nodes, keys and counters. It walks the branches of all trees first: they are few, so a wrong
 * branch is found before the leaves of a large file are read.
 */
#include "store/db/lmdb/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/page.h"

/* A page of the tree that the walk is in. */
struct level {
  const uint8_t *page;
  unsigned next, count;
  const uint8_t *lower, *upper; /* the lowest key that may come, and the first that may not */
};

bool walk_found(struct walk *walk, uint64_t page, const char *finding) {
  walk->page = page;
  walk->finding = finding;
  return false;
}

bool walk_take_pages(struct walk *walk, uint64_t first, uint64_t count) {
  if (first < PAGE_HEADS || first > walk->last_page || count > walk->last_page - first + 1)
    return walk_found(walk, first, "is named, but is not in the file");
  for (uint64_t page = first; page < first + count; page++) {
    uint8_t *byte = &walk->seen[page / 8], bit = (uint8_t)(1u << page % 8);
    if (*byte & bit) return walk_found(walk, page, "has two uses");
    *byte |= bit;
  }
  walk->place.taken += count;
  return true;
}

static bool read_at(struct walk *walk, uint64_t page, uint8_t *to, size_t bytes) {
  walk->most -= bytes < walk->most ? bytes : walk->most;
  for (size_t done = 0; done < bytes;) {
    ssize_t len = pread(walk->fd, to + done, bytes - done, (off_t)(page * walk->page_bytes + done));
    if (len < 0 && errno == EINTR) continue;
    if (len == 0) return walk_found(walk, page, "is cut short");
    if (len < 0) {
      walk->err = errno;
      return walk_found(walk, page, "cannot be read");
    }
    done += (size_t)len;
  }
  return true;
}

/* -- the heads --------------------------------------------------------------------------------- */

static struct walk_tree tree_of(const uint8_t *head, unsigned index) {
  const uint8_t *tree = head + HEAD_TREES_AT + (size_t)index * TREE_BYTES;
  return (struct walk_tree){.root = page_u64(tree, TREE_ROOT_AT),
                            .branches = page_u64(tree, TREE_BRANCHES_AT),
                            .leaves = page_u64(tree, TREE_LEAVES_AT),
                            .overflows = page_u64(tree, TREE_OVERFLOWS_AT),
                            .entries = page_u64(tree, TREE_ENTRIES_AT),
                            .depth = page_u16(tree, TREE_DEPTH_AT)};
}

static bool check_head(struct walk *walk, unsigned index, const uint8_t *head, uint64_t map_bytes) {
  uint64_t page_bytes = page_u32(head, HEAD_PAGE_BYTES_AT);
  if (page_u64(head, PAGE_NUMBER_AT) != index || page_u16(head, PAGE_KIND_AT) != PAGE_HEAD ||
      page_u32(head, HEAD_MAGIC_AT) != HEAD_MAGIC ||
      page_u32(head, HEAD_VERSION_AT) != HEAD_VERSION || page_u64(head, HEAD_MAP_AT) != map_bytes)
    return walk_found(walk, index, "is not a head");
  if (page_bytes < PAGE_SMALLEST || page_bytes > PAGE_LARGEST || page_bytes & (page_bytes - 1))
    return walk_found(walk, index, "has a page size that is none");
  if (walk->page_bytes && page_bytes != walk->page_bytes)
    return walk_found(walk, index, "has another page size than the first head");
  walk->page_bytes = page_bytes;
  if (page_u16(head + HEAD_TREES_AT, TREE_FLAGS_AT) != TREE_NUMERIC ||
      page_u16(head + HEAD_TREES_AT + TREE_BYTES, TREE_FLAGS_AT) != 0)
    return walk_found(walk, index, "says that it is of another kind");
  if (page_u64(head, HEAD_LAST_PAGE_AT) >= map_bytes / page_bytes)
    return walk_found(walk, index, "names a last page beyond the map");
  return true;
}

/* Takes the newer of the two heads. A transaction's number says in which page its head is. */
static bool take_head(struct walk *walk, const uint8_t heads[PAGE_HEADS][HEAD_BYTES]) {
  uint64_t numbers[PAGE_HEADS] = {page_u64(heads[0], HEAD_TRANSACTION_AT),
                                  page_u64(heads[1], HEAD_TRANSACTION_AT)};
  unsigned newest = numbers[1] > numbers[0];
  if (numbers[newest] % PAGE_HEADS != newest)
    return walk_found(walk, newest, "has a transaction's number that belongs into the other head");
  walk->transaction = numbers[newest];
  walk->last_page = page_u64(heads[newest], HEAD_LAST_PAGE_AT);
  if (walk->last_page >= walk->file_pages)
    return walk_found(walk, newest, "names a last page beyond the end of the file");
  walk->free_pages = tree_of(heads[newest], 0);
  walk->free_pages.key_bytes = sizeof(uint64_t);
  walk->free_pages.numeric = true;
  walk->rows = tree_of(heads[newest], 1);
  walk->rows.key_bytes = DB_KEY_BYTES;
  if (walk->free_pages.depth > TREE_DEEPEST || walk->rows.depth > TREE_DEEPEST)
    return walk_found(walk, newest, "says that a tree is deeper than any");
  return true;
}

static bool take_memory(struct walk *walk) {
  unsigned depth =
      walk->rows.depth > walk->free_pages.depth ? walk->rows.depth : walk->free_pages.depth;
  walk->seen = calloc(1, (size_t)(walk->last_page / 8 + 1));
  walk->pages = malloc((depth + 1) * (size_t)walk->page_bytes);
  if (walk->seen && walk->pages) return true;
  walk->err = ENOMEM;
  return false;
}

bool walk_begin(struct walk *walk, int fd, uint64_t map_bytes) {
  uint8_t heads[PAGE_HEADS][HEAD_BYTES];
  struct stat entry;
  *walk = (struct walk){.fd = fd, .most = UINT64_MAX};
  if (!read_at(walk, 0, heads[0], HEAD_BYTES) || !check_head(walk, 0, heads[0], map_bytes))
    return false;
  if (!read_at(walk, 1, heads[1], HEAD_BYTES) || !check_head(walk, 1, heads[1], map_bytes))
    return false;
  /* The length is read after the heads, because a writer extends the file first. */
  if (fstat(fd, &entry)) {
    walk->err = errno;
    return false;
  }
  walk->file_pages = (uint64_t)entry.st_size / walk->page_bytes;
  return take_head(walk, (const uint8_t(*)[HEAD_BYTES])heads) && take_memory(walk);
}

void walk_end(struct walk *walk) {
  free(walk->seen);
  free(walk->pages);
}

/* -- nodes ------------------------------------------------------------------------------------- */

static const uint8_t *node_at(const uint8_t *page, unsigned index) {
  return page + page_u16(page, PAGE_HEAD_BYTES + (size_t)index * 2);
}

static unsigned node_count(const uint8_t *page) {
  return (page_u16(page, PAGE_LOWER_AT) - PAGE_HEAD_BYTES) / 2u;
}

static const uint8_t *key_of(const uint8_t *node) { return node + NODE_HEAD_BYTES; }

static uint32_t value_bytes(const uint8_t *node) { return page_u32(node, NODE_LOW_AT); }

static bool is_big(const uint8_t *node) { return page_u16(node, NODE_FLAGS_AT) == NODE_BIG; }

static uint64_t child_of(const uint8_t *node) {
  return page_u32(node, NODE_LOW_AT) | (uint64_t)page_u16(node, NODE_FLAGS_AT) << 32;
}

static int compare_keys(const struct walk_tree *tree, const uint8_t *a, const uint8_t *b) {
  if (!tree->numeric) return memcmp(a, b, tree->key_bytes);
  uint64_t left = page_u64(a, 0), right = page_u64(b, 0);
  return left < right ? -1 : left > right;
}

/* Returns the bytes that a node takes, rounded up to even; 0: it is no node. Nobody reads the first
 * key of a branch, so it may be empty. */
static size_t node_bytes(const struct walk *walk, const struct walk_tree *tree, bool leaf,
                         bool first, const uint8_t *page, size_t at) {
  if (at + NODE_HEAD_BYTES > walk->page_bytes) return 0;
  const uint8_t *node = page + at;
  size_t key = page_u16(node, NODE_KEY_BYTES_AT), bytes = NODE_HEAD_BYTES + key;
  if (key != tree->key_bytes && (leaf || !first || key)) return 0;
  if (leaf && page_u16(node, NODE_FLAGS_AT) > NODE_BIG) return 0;
  if (leaf) bytes += is_big(node) ? sizeof(uint64_t) : value_bytes(node);
  bytes += bytes & 1;
  return at + bytes <= walk->page_bytes ? bytes : 0;
}

/* The nodes lie side by side from `upper` to the page's end, in any order. */
static bool check_nodes(const struct walk *walk, const struct walk_tree *tree, bool leaf,
                        const uint8_t *page) {
  uint8_t begins[PAGE_LARGEST / 16] = {0}; /* a bit for each even offset */
  unsigned count = node_count(page), met = 0;
  size_t upper = page_u16(page, PAGE_UPPER_AT);
  for (unsigned i = 0; i < count; i++) {
    size_t at = page_u16(page, PAGE_HEAD_BYTES + (size_t)i * 2);
    if (at < upper || at & 1 || !node_bytes(walk, tree, leaf, i == 0, page, at)) return false;
    if (begins[at / 16] >> (at / 2 % 8) & 1) return false;
    begins[at / 16] |= (uint8_t)(1u << (at / 2 % 8));
  }
  size_t first = (size_t)(node_at(page, 0) - page);
  while (upper < walk->page_bytes) {
    if (!(begins[upper / 16] >> (upper / 2 % 8) & 1)) return false;
    upper += node_bytes(walk, tree, leaf, upper == first, page, upper);
    met++;
  }
  return met == count;
}

/* Are the keys rising, and inside the bounds that the page above sets for this page? */
static bool check_keys(const struct walk_tree *tree, const struct level *level, bool leaf) {
  const uint8_t *before = NULL;
  for (unsigned i = leaf ? 0 : 1; i < level->count; i++) {
    const uint8_t *key = key_of(node_at(level->page, i));
    if (before ? compare_keys(tree, before, key) >= 0
               : level->lower && compare_keys(tree, level->lower, key) > 0)
      return false;
    before = key;
  }
  return !before || !level->upper || compare_keys(tree, before, level->upper) < 0;
}

/* -- values ------------------------------------------------------------------------------------ */

/* Returns the buffer for a page of this level. The buffer at `depth` is for pages that are read
 * piece by piece. */
static uint8_t *room(const struct walk *walk, unsigned level) {
  return walk->pages + (size_t)level * walk->page_bytes;
}

static bool check_big_list(struct walk *walk, uint64_t first, uint64_t bytes, uint8_t *piece) {
  struct walk_list list;
  uint64_t left = bytes;
  for (uint64_t page = first; left; page++) {
    size_t skip = page == first ? PAGE_HEAD_BYTES : 0, len = (size_t)walk->page_bytes - skip;
    if (len > left) len = (size_t)left;
    if (!read_at(walk, page, piece, skip + len)) return false;
    left -= len;
    if (skip) {
      if (!walk_list_begin(walk, &list, page_u64(piece, skip), bytes)) return false;
      skip += sizeof(uint64_t);
      len -= sizeof(uint64_t);
    }
    if (!walk_list_take(walk, &list, piece + skip, len)) return false;
  }
  return true;
}

/* Checks a value on pages of its own. The first page has a page's head, which says how many pages
 * there are. */
static bool check_big(struct walk *walk, const struct walk_tree *tree, const uint8_t *node,
                      uint8_t *piece) {
  uint64_t first = page_u64(node, NODE_HEAD_BYTES + (size_t)tree->key_bytes),
           needed = (PAGE_HEAD_BYTES - 1 + (uint64_t)value_bytes(node)) / walk->page_bytes + 1;
  if (!walk_take_pages(walk, first, 1) || !read_at(walk, first, piece, PAGE_HEAD_BYTES))
    return false;
  uint64_t run = page_u32(piece, PAGE_RUN_AT);
  if (page_u64(piece, PAGE_NUMBER_AT) != first || page_u16(piece, PAGE_KIND_AT) != PAGE_OVERFLOW)
    return walk_found(walk, first, "should begin a large value");
  if (run < needed) return walk_found(walk, first, "begins fewer pages than its value needs");
  if (run > 1 && !walk_take_pages(walk, first + 1, run - 1)) return false;
  walk->place.counted.overflows += run;
  return !tree->numeric || check_big_list(walk, first, value_bytes(node), piece);
}

static bool visit_row(struct walk *walk, const uint8_t *key, struct tidings_span value,
                      uint64_t page) {
  walk->stopped = walk->visit(walk->context, key, value, page);
  return !walk->stopped;
}

static bool visit_big(struct walk *walk, const uint8_t *node, uint64_t page) {
  uint64_t first = page_u64(node, NODE_HEAD_BYTES + DB_KEY_BYTES);
  size_t bytes = value_bytes(node);
  uint8_t *value = malloc(PAGE_HEAD_BYTES + bytes);
  if (!value) {
    walk->err = ENOMEM;
    return false;
  }
  bool sound =
      read_at(walk, first, value, PAGE_HEAD_BYTES + bytes) &&
      visit_row(walk, key_of(node), span_of((const char *)value + PAGE_HEAD_BYTES, bytes), page);
  free(value);
  return sound;
}

static bool check_value(struct walk *walk, const struct walk_tree *tree, const struct level *level,
                        unsigned index) {
  const uint8_t *node = node_at(level->page, index), *key = key_of(node);
  uint8_t *piece = room(walk, tree->depth);
  uint64_t page = page_u64(level->page, PAGE_NUMBER_AT);
  struct walk_list list;
  if (tree->numeric) {
    uint64_t transaction = page_u64(key, 0);
    if (!transaction || transaction > walk->transaction)
      return walk_found(walk, page, "frees pages in a transaction that never was");
    if (value_bytes(node) < sizeof(uint64_t) || value_bytes(node) % sizeof(uint64_t))
      return walk_found(walk, page, "has a list of free pages with an odd length");
    walk->place.newest_freed = transaction;
  }
  bool visits = walk->visit && !tree->numeric;
  if (is_big(node))
    return check_big(walk, tree, node, piece) && (!visits || visit_big(walk, node, page));
  const uint8_t *value = key + tree->key_bytes;
  if (visits) return visit_row(walk, key, span_of((const char *)value, value_bytes(node)), page);
  return !tree->numeric || (walk_list_begin(walk, &list, page_u64(value, 0), value_bytes(node)) &&
                            walk_list_take(walk, &list, value + sizeof(uint64_t),
                                           value_bytes(node) - sizeof(uint64_t)));
}

/* -- trees ------------------------------------------------------------------------------------- */

static bool check_page_head(const struct walk *walk, const struct walk_tree *tree, uint64_t number,
                            bool leaf, const uint8_t *page) {
  size_t lower = page_u16(page, PAGE_LOWER_AT), upper = page_u16(page, PAGE_UPPER_AT);
  if (page_u64(page, PAGE_NUMBER_AT) != number) return false;
  if (page_u16(page, PAGE_KIND_AT) != (leaf ? PAGE_LEAF : PAGE_BRANCH)) return false;
  if (lower < PAGE_HEAD_BYTES || lower & 1 || lower > upper || upper & 1 ||
      upper > walk->page_bytes)
    return false;
  /* LMDB asserts that a branch of rows has two children. */
  return node_count(page) >= (leaf || tree->numeric ? 1u : 2u);
}

static bool check_values(struct walk *walk, const struct walk_tree *tree, struct level *level) {
  walk->place.counted.leaves++;
  walk->place.counted.entries += level->count;
  for (unsigned i = 0; i < level->count; i++) {
    if (!check_value(walk, tree, level, i)) return false;
  }
  level->next = level->count;
  return true;
}

/* Reads page `number` as level `depth` of the tree, and checks it. */
static bool read_page(struct walk *walk, const struct walk_tree *tree, uint64_t number,
                      unsigned depth, struct level *level) {
  bool leaf = depth + 1 == tree->depth;
  uint8_t *page = room(walk, depth);
  if (!read_at(walk, number, page, (size_t)walk->page_bytes)) return false;
  level->page = page;
  level->next = 0;
  if (!check_page_head(walk, tree, number, leaf, page))
    return walk_found(walk, number, "is not the page that it should be");
  level->count = node_count(page);
  if (!check_nodes(walk, tree, leaf, page))
    return walk_found(walk, number, "has records that overlap or leave it");
  if (!check_keys(tree, level, leaf)) return walk_found(walk, number, "has keys out of order");
  return true;
}

/* The same, and counts the page. A branch is read a second time, but not counted again, on the way
 * to its leaves. */
static bool enter_page(struct walk *walk, const struct walk_tree *tree, uint64_t number,
                       unsigned depth, struct level *level) {
  bool leaf = depth + 1 == tree->depth, again = walk->place.at_leaves && !leaf;
  if (!again && !walk_take_pages(walk, number, 1)) return false;
  if (!read_page(walk, tree, number, depth, level)) return false;
  if (leaf) return check_values(walk, tree, level);
  walk->place.counted.branches++;
  return true;
}

/* Returns the number of the page to which node `i` of the branch at levels[depth] leads, and sets
 * the bounds of its keys in levels[depth + 1]. */
static uint64_t bound_child(unsigned i, unsigned depth, struct level *levels) {
  const struct level *above = &levels[depth];
  levels[depth + 1].lower = i ? key_of(node_at(above->page, i)) : above->lower;
  levels[depth + 1].upper =
      i + 1 < above->count ? key_of(node_at(above->page, i + 1)) : above->upper;
  return child_of(node_at(above->page, i));
}

static bool enter_child(struct walk *walk, const struct walk_tree *tree, unsigned depth,
                        struct level *levels) {
  uint64_t number = bound_child(levels[depth].next++, depth, levels);
  return enter_page(walk, tree, number, depth + 1, &levels[depth + 1]);
}

/* Continues a walk that has paused: reads again the branches in which it was. */
static bool enter_place(struct walk *walk, const struct walk_tree *tree, struct level *levels) {
  const struct walk_place *place = &walk->place;
  for (unsigned depth = 0; depth < place->entered; depth++) {
    uint64_t number =
        depth ? bound_child(levels[depth - 1].next - 1, depth - 1, levels) : tree->root;
    if (!read_page(walk, tree, number, depth, &levels[depth])) return false;
    levels[depth].next = place->next[depth];
    bool inner = depth + 1 < place->entered;
    if (levels[depth].next > levels[depth].count || (inner && !levels[depth].next))
      return walk_found(walk, number, "was changed while it was being checked");
  }
  return true;
}

static bool pause_at(struct walk *walk, const struct level *levels, unsigned depth) {
  for (unsigned i = 0; i <= depth; i++) walk->place.next[i] = levels[i].next;
  walk->place.entered = depth + 1;
  walk->paused = true;
  return false;
}

/* Walks from the root to the branches above the leaves, or to the leaves. */
static bool walk_levels(struct walk *walk, const struct walk_tree *tree) {
  struct level levels[TREE_DEEPEST] = {{0}};
  unsigned depths = walk->place.at_leaves ? tree->depth : tree->depth - 1;
  if (!depths) return true;
  unsigned depth = walk->place.entered ? walk->place.entered - 1 : 0;
  if (walk->place.entered ? !enter_place(walk, tree, levels)
                          : !enter_page(walk, tree, tree->root, 0, &levels[0]))
    return false;
  for (;;) {
    if (depth + 1 < depths && levels[depth].next < levels[depth].count) {
      if (!walk->most) return pause_at(walk, levels, depth);
      if (!enter_child(walk, tree, depth, levels)) return false;
      depth++;
    } else if (depth) {
      depth--;
    } else {
      return true;
    }
  }
}

static bool walk_tree(struct walk *walk, const struct walk_tree *tree, unsigned head) {
  const struct walk_tree *counted = &walk->place.counted;
  if ((tree->root == TREE_EMPTY) != (tree->depth == 0))
    return walk_found(walk, head, "has a tree without a root");
  if (tree->depth && !walk_levels(walk, tree)) return false;
  if (counted->branches == tree->branches &&
      (!walk->place.at_leaves ||
       (counted->leaves == tree->leaves && counted->entries == tree->entries &&
        counted->overflows == tree->overflows)))
    return true;
  return walk_found(walk, head, "counts other pages or records than there are");
}

/* Each commit but the first replaces pages, and puts them into the list of free pages under its own
 * number. If the head has another number, the power failed while it was written: its number is new,
 * and its trees are the old ones. */
static bool check_number(struct walk *walk, unsigned head) {
  if (walk->transaction <= 1 || walk->place.newest_freed == walk->transaction) return true;
  return walk_found(walk, head, "was not written to its end");
}

bool walk_run(struct walk *walk) {
  unsigned head = (unsigned)(walk->transaction % PAGE_HEADS);
  struct walk_place *place = &walk->place;
  walk->paused = false;
  for (;;) {
    if (!walk_tree(walk, place->in_free ? &walk->free_pages : &walk->rows, head)) return false;
    if (place->in_free && place->at_leaves) return check_number(walk, head);
    if (place->in_free) place->at_leaves = true;
    place->in_free = !place->in_free;
    place->entered = 0;
    place->counted = (struct walk_tree){0};
  }
}
