/* SPDX-License-Identifier: MIT
 *
 * common/large.h: memory for large tables that are read and written at random places. In pages of
 * 4 KiB, a process that does so once spends most of its time on page faults.
 */
#ifndef COMMON_LARGE_H
#define COMMON_LARGE_H

#include <stddef.h>

/* From 2 MiB on asks for pages of that size, which the kernel may refuse; else it is malloc. Not
 * zeroed. Release it with free. NULL: no memory. */
void *large_alloc(size_t len);

#endif
