/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk_free.c: checks a record of the list of free pages: a count, then as many page
 * numbers, each lower than the one before. LMDB takes pages from this list and writes them. If a
 * listed page is in use, LMDB destroys rows; if it is not in the file, LMDB ends the host.
 */
#include "store/db/lmdb/page.h"
#include "store/db/lmdb/walk.h"

bool walk_list_begin(struct walk *walk, struct walk_list *list, uint64_t count, uint64_t bytes) {
  *list = (struct walk_list){.left = count, .previous = UINT64_MAX};
  if (count > bytes / sizeof(uint64_t) - 1)
    return walk_found(walk, walk->transaction % PAGE_HEADS,
                      "has a list of free pages that is longer than its record");
  return true;
}

bool walk_list_take(struct walk *walk, struct walk_list *list, const uint8_t *numbers,
                    size_t bytes) {
  for (size_t at = 0; at < bytes && list->left; at += sizeof(uint64_t)) {
    uint64_t page = page_u64(numbers, at);
    if (page >= list->previous) return walk_found(walk, page, "is free, but out of order");
    if (!walk_take_pages(walk, page, 1)) return false;
    list->previous = page;
    list->left--;
  }
  return true;
}
