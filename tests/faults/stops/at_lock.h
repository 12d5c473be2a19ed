/* SPDX-License-Identifier: MIT
 *
 * stops/at_lock.h: stops this process at the worst place: while it holds one of LMDB's locks.
 */
#ifndef STOPS_AT_LOCK_H
#define STOPS_AT_LOCK_H

enum lock_moment { AT_NO_LOCK, AT_LOCK, AT_DESTROY };

/* Makes this process stop itself once, when it has taken a mutex in a file lock.mdb, or is about to
 * destroy one. */
void lock_stop_at(enum lock_moment moment);

#endif
