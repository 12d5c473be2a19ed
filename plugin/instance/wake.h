/* SPDX-License-Identifier: MIT
 *
 * instance/wake.h: the extension `tidings.wake/1` behind its arguments: which sessions of this
 * instance's owner rang since they were last asked about. What a ring is made of is the store's
 * matter.
 */
#ifndef INSTANCE_WAKE_H
#define INSTANCE_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <tidings/abi.h>

#include "store/wake/wake.h"

struct instance;
struct session;

struct wake {
  pthread_mutex_t lock;
  bool started;                /* all of the owner's sessions have been named once */
  const struct session **rung; /* to be named, from `next` on */
  size_t next, count, capacity;
};

void wake_init(struct wake *wake);
/* Before the store is closed: what rang and was not named is left to the next instance of this
 * process. */
void wake_finish(struct instance *instance);

/* As descriptor and next_session of tidings/wake.h. */
int wake_descriptor(struct instance *instance, int32_t *ret_fd, struct tidings_error *error);
int wake_next(struct instance *instance, char *buffer, size_t buffer_size, size_t *ret_len,
              struct tidings_error *error);

#endif
