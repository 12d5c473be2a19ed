/* SPDX-License-Identifier: MIT
 */
#include "listen/room.h"

void listen_room_enter(struct room *room, size_t bytes) {
  pthread_mutex_lock(&room->mutex);
  uint64_t number = ++room->last;
  while (number != room->admitted + 1 || (room->bytes && room->bytes + bytes > ROOM_MOST_BYTES))
    pthread_cond_wait(&room->changed, &room->mutex);
  room->admitted = number;
  room->bytes += bytes;
  pthread_cond_broadcast(&room->changed);
  pthread_mutex_unlock(&room->mutex);
}

void listen_room_leave(struct room *room, size_t bytes) {
  pthread_mutex_lock(&room->mutex);
  room->bytes -= bytes;
  pthread_cond_broadcast(&room->changed);
  pthread_mutex_unlock(&room->mutex);
}
