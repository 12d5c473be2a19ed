/* SPDX-License-Identifier: MIT
 *
 * short_struct.c: its entry struct ends before the functions.
 */
#include "bad.h"

extern const struct tidings_entry tidings_entry;
__attribute__((visibility("default")))
const struct tidings_entry tidings_entry = {.size = offsetof(struct tidings_entry, open),
                                            .abi_major = TIDINGS_ABI_MAJOR,
                                            .name = "bad",
                                            .version = "0.0.1",
                                            .build_id = ""};
