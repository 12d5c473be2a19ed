/* SPDX-License-Identifier: MIT
 *
 * listen/room.h: limits how many bytes of bodies are handled as JSON at once, because a body's
 * values may need 35 times its bytes.
 */
#ifndef LISTEN_ROOM_H
#define LISTEN_ROOM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOM_MOST_BYTES = 4 << 20 };

struct room {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  size_t bytes;
  uint64_t last, admitted; /* waiting bodies are numbered: the last number, and the last that was
                              admitted */
};

#define ROOM_EMPTY                                                                                 \
  { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* Waits until there is room. A body that is larger than the limit has all the room. */
void listen_room_enter(struct room *room, size_t bytes);
void listen_room_leave(struct room *room, size_t bytes);

#endif
