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

/* How this process understands a pthread_mutex_t: its size, and in the upper half the library. Only
 * processes of one kind may share a mutex. */
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
/* Waits at most `ms` milliseconds until another name is looked up. Returns whether all are. */
bool libc_lookup_wait(struct libc_lookup *lookup, int ms);
/* The addresses of a lookup that is over, until libc_lookup_end; NULL: that name has no address. */
const struct addrinfo *libc_lookup_of(const struct libc_lookup *lookup, size_t name);
/* A lookup that is not over is left to the resolver, with its memory. */
void libc_lookup_end(struct libc_lookup *lookup);

/* Closes all descriptors from `first` to `last`; without that call, which is new in 5.9, those that
 * /proc lists. */
void libc_close_range(unsigned first, unsigned last);

/* No descriptor from `first` on stays open in the program. Returns an errno. */
int libc_spawn_closes_from(posix_spawn_file_actions_t *actions, int first);

#endif
