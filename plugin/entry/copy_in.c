/* SPDX-License-Identifier: MIT
 */
#include "entry/copy_in.h"

#include "common/error.h"

int entry_copy_grown(void *ours, size_t our_size, const void *theirs, size_t least,
                     const char *name, struct tidings_error *error) {
  uint32_t size;
  if (!theirs) return fail(error, TIDINGS_E_INVAL, "%s: null pointer", name);
  memcpy(&size, theirs, sizeof size);
  if (size < least)
    return fail(error, TIDINGS_E_INVAL, "%s.size: %u; expected at least %zu, as in ABI 1.0", name,
                size, least);
  size_t known = size < our_size ? size : our_size; /* a longer one is from a later minor version */
  memcpy(ours, theirs, known);
  memset((char *)ours + known, 0, our_size - known);
  return 0;
}
