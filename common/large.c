/* SPDX-License-Identifier: MIT
 */
#include "common/large.h"

#include <stdlib.h>
#include <sys/mman.h>

void *large_alloc(size_t len) {
  enum { PAGE = 2 << 20 };
  if (len < PAGE) return malloc(len);
  len = (len + PAGE - 1) & ~(size_t)(PAGE - 1);
  void *at = aligned_alloc(PAGE, len);
  if (at) (void)madvise(at, len, MADV_HUGEPAGE);
  return at;
}
