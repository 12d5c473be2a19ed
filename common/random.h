/* SPDX-License-Identifier: MIT
 *
 * common/random.h: the kernel's randomness, for programs and hostkit. The plugin asks its host
 * instead.
 */
#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stddef.h>

/* Returns 0 or an errno. */
int random_fill(void *buffer, size_t len);

#endif
