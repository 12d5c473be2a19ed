/* SPDX-License-Identifier: MIT
 *
 * calls.h: counts what a piece of code asks of the system: allocations of the calling thread, and
 * system calls of a traced child.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

/* Returns how often this thread has called malloc, calloc, realloc, posix_memalign or aligned_alloc
 * so far. */
uint64_t calls_allocations(void);

/* Runs body(context) in a forked child under ptrace; body calls calls_mark() twice, and the system
 * calls between the two are counted. -1: this machine does not allow tracing. */
int64_t calls_system(void (*body)(void *context), void *context);
void calls_mark(void);

/* Returns how often this process has flushed a file: by fdatasync, or by a write that is synced. */
uint64_t calls_flushes(void);

/* Returns when this process's last pwrite or fdatasync returned; a commit ends with one of them. */
uint64_t calls_wrote_ns(void);

#endif
