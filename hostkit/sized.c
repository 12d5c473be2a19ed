/* SPDX-License-Identifier: MIT
 */
#include "sized.h"

#include <string.h>

#include "errors.h"

/* The first field of each struct is its size. */
static uint32_t size_of(const void *theirs) {
  uint32_t size = 0;
  if (theirs) memcpy(&size, theirs, sizeof size);
  return size;
}

void hk_read_sized(void *ours, size_t our_size, const void *theirs) {
  uint32_t size = size_of(theirs);
  memset(ours, 0, our_size);
  if (theirs) memcpy(ours, theirs, size < our_size ? size : our_size);
  size = (uint32_t)our_size;
  memcpy(ours, &size, sizeof size);
}

int32_t hk_copy_in(void *ours, size_t our_size, const void *theirs, size_t least, const char *name,
                   struct tidings_error *error) {
  if (!theirs) return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer", name);
  if (size_of(theirs) < least)
    return hk_error(error, TIDINGS_E_INVAL, "%s.size is %u, expected at least %zu", name,
                    (unsigned)size_of(theirs), least);
  hk_read_sized(ours, our_size, theirs);
  return TIDINGS_OK;
}
