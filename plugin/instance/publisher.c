/* SPDX-License-Identifier: MIT
 */
#include "instance/publisher.h"

#include <errno.h>
#include <time.h>

#include "common/libc.h"
#include "instance/instance.h"

enum { LOOKS_EACH_MS = 500 };

void publisher_init(struct publisher *publisher) {
  pthread_condattr_t monotonic; /* deadlines use this clock */
  (void)pthread_mutex_init(&publisher->lock, NULL);
  (void)pthread_condattr_init(&monotonic);
  (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&publisher->changed, &monotonic);
  (void)pthread_condattr_destroy(&monotonic);
}

/* Call it with the lock. */
static void sleep_until_due(struct publisher *publisher) {
  store_deadline deadline = store_deadline_in(LOOKS_EACH_MS);
  struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                           .tv_nsec = (long)(deadline % 1000000000u)};
  int err = 0;
  while (!publisher->any && !publisher->stops)
    pthread_cond_wait(&publisher->changed, &publisher->lock);
  while (!publisher->stops && err != ETIMEDOUT)
    err = pthread_cond_timedwait(&publisher->changed, &publisher->lock, &until);
}

static void *publish(void *context) {
  struct instance *instance = context;
  struct publisher *publisher = &instance->publisher;
  bool left = false;
  pthread_mutex_lock(&publisher->lock);
  while (!publisher->stops) {
    publisher->any = publisher->any || left;
    sleep_until_due(publisher);
    publisher->any = false;
    pthread_mutex_unlock(&publisher->lock);
    left = publisher->work(instance, false);
    pthread_mutex_lock(&publisher->lock);
  }
  pthread_mutex_unlock(&publisher->lock);
  (void)publisher->work(instance, true);
  return NULL;
}

bool publisher_start(struct instance *instance, publisher_work work) {
  struct publisher *publisher = &instance->publisher;
  if (atomic_load_explicit(&publisher->runs, memory_order_acquire)) return true;
  pthread_mutex_lock(&publisher->lock);
  bool runs = atomic_load(&publisher->runs);
  publisher->work = work;
  if (!runs) runs = libc_thread_create(&publisher->thread, publish, instance) == 0;
  atomic_store(&publisher->runs, runs);
  pthread_mutex_unlock(&publisher->lock);
  return runs;
}

void publisher_note(struct publisher *publisher) {
  pthread_mutex_lock(&publisher->lock);
  if (!publisher->any) pthread_cond_signal(&publisher->changed);
  publisher->any = true;
  pthread_mutex_unlock(&publisher->lock);
}

bool publisher_is_caller(const struct publisher *publisher) {
  return atomic_load(&publisher->runs) && pthread_equal(publisher->thread, pthread_self());
}

void publisher_finish(struct publisher *publisher) {
  pthread_mutex_lock(&publisher->lock);
  publisher->stops = true;
  pthread_cond_signal(&publisher->changed);
  pthread_mutex_unlock(&publisher->lock);
  if (atomic_load(&publisher->runs)) (void)pthread_join(publisher->thread, NULL);
  pthread_cond_destroy(&publisher->changed);
  pthread_mutex_destroy(&publisher->lock);
}
