/* SPDX-License-Identifier: MIT
 *
 * common/large.h: memory for large tables that are read and written at random places. With pages of
 * 4 KiB, a process that fills such a table once spends most of its time on page faults.
 */
#ifndef COMMON_LARGE_H
#define COMMON_LARGE_H

#include <stddef.h>

/* Asks for pages of 2 MiB, which the kernel may refuse, if `len` is at least that; else it is
 * malloc. Not zeroed. Release it with free. NULL: no memory. */
void *large_alloc(size_t len);

#endif
