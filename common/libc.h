/* SPDX-License-Identifier: MIT
 *
 * common/libc.h: hides where glibc and musl differ. No other file asks which of the two it is built
 * with.
 */
#ifndef COMMON_LIBC_H
#define COMMON_LIBC_H

#include <netdb.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>

/* Does dlclose unmap an image that nobody uses any more? In musl it never does. */
#ifdef __GLIBC__
#define LIBC_UNLOADS true
#else
#define LIBC_UNLOADS false
#endif

/* Tells how this process uses a pthread_mutex_t: its size, and, in the upper half, the C library.
 * Only processes of the same kind may share a mutex. */
uint32_t libc_mutex_kind(void);
const char *libc_of_mutex_kind(uint32_t kind); /* "glibc", "musl" */

/* Waits for the mutex until `until_ns` of CLOCK_MONOTONIC. Returns what pthread_mutex_lock returns,
 * or ETIMEDOUT. */
int libc_lock_until(pthread_mutex_t *mutex, uint64_t until_ns);

/* Starts a thread that takes no signals: those are for the threads of the program. Returns 0, or an
 * errno. */
int libc_thread_create(pthread_t *ret_thread, void *(*run)(void *), void *context);

/* Looks up the addresses of servers by name in another thread, because a resolver may take minutes.
 */
enum { LIBC_MOST_NAMES = 16 };
struct libc_lookup;
/* Looks up at most LIBC_MOST_NAMES names, which are copied. NULL: no memory. */
struct libc_lookup *libc_lookup_begin(const char *const *names, size_t count);
/* Waits at most `ms` milliseconds until another name is looked up. Returns whether all are looked
 * up. */
bool libc_lookup_wait(struct libc_lookup *lookup, int ms);
/* Returns the addresses of a name after its lookup; they stay valid until libc_lookup_end. NULL:
 * the name has no address. */
const struct addrinfo *libc_lookup_of(const struct libc_lookup *lookup, size_t name);
/* Ends a lookup. If it is not over, the resolver continues and keeps its memory. */
void libc_lookup_end(struct libc_lookup *lookup);

/* Closes all descriptors from `first` to `last`, by a call of Linux 5.9, or, without it, by the
 * list in /proc. */
void libc_close_range(unsigned first, unsigned last);

/* Makes the started program close all descriptors from `first` on. Returns 0 or an errno. */
int libc_spawn_closes_from(posix_spawn_file_actions_t *actions, int first);

#endif
