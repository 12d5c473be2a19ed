/* SPDX-License-Identifier: MIT
 *
 * stops/at_lock.h: stops this process where it must never be stopped: inside one of LMDB's own
 * locks.
 */
#ifndef STOPS_AT_LOCK_H
#define STOPS_AT_LOCK_H

enum lock_moment { AT_NO_LOCK, AT_LOCK, AT_DESTROY };

/* Makes this process stop itself once: when it has taken a mutex in a file lock.mdb, or when it is
 * about to destroy one. */
void lock_stop_at(enum lock_moment moment);

#endif
