/* SPDX-License-Identifier: MIT
 *
 * gate.c: the slow part of the gate: the functions that wait.
 */
#include "gate.h"

#include <errno.h>
#include <unistd.h>

#include "common/clock.h"

int hk_gate_init(struct hk_gate *gate) {
  pthread_condattr_t attributes;
  int failed = pthread_condattr_init(&attributes);
  if (failed) return failed;
  failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (!failed) failed = pthread_cond_init(&gate->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  if (failed) return failed;
  failed = pthread_mutex_init(&gate->lock, NULL);
  if (failed) {
    pthread_cond_destroy(&gate->changed);
    return failed;
  }
  atomic_init(&gate->state, 0);
  gate->claimed = false;
  gate->process = getpid();
  return 0;
}

bool hk_gate_is_forked(const struct hk_gate *gate) { return getpid() != gate->process; }

void hk_gate_finish(struct hk_gate *gate) {
  pthread_mutex_destroy(&gate->lock);
  pthread_cond_destroy(&gate->changed);
}

struct timespec hk_deadline(uint32_t ms) {
  uint64_t ns = clock_mono_ns() + (uint64_t)ms * 1000000u;
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                           .tv_nsec = (long)(ns % 1000000000u)};
}

bool hk_gate_claim(struct hk_gate *gate, const struct timespec *deadline) {
  pthread_mutex_lock(&gate->lock);
  int waited = 0;
  while (gate->claimed && waited != ETIMEDOUT)
    waited = deadline ? pthread_cond_timedwait(&gate->changed, &gate->lock, deadline)
                      : pthread_cond_wait(&gate->changed, &gate->lock);
  bool ours = !gate->claimed;
  gate->claimed = true;
  pthread_mutex_unlock(&gate->lock);
  return ours;
}

void hk_gate_unclaim(struct hk_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->claimed = false;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

uint64_t hk_gate_shut(struct hk_gate *gate, const struct timespec *deadline) {
  pthread_mutex_lock(&gate->lock);
  uint64_t calls = atomic_fetch_or_explicit(&gate->state, HK_GATE_SHUT, memory_order_acq_rel);
  int waited = 0;
  while (calls && waited != ETIMEDOUT) {
    waited = pthread_cond_timedwait(&gate->changed, &gate->lock, deadline);
    calls = atomic_load_explicit(&gate->state, memory_order_acquire) & ~HK_GATE_SHUT;
  }
  if (calls) {
    atomic_fetch_and_explicit(&gate->state, ~HK_GATE_SHUT, memory_order_release);
    pthread_cond_broadcast(&gate->changed);
  }
  pthread_mutex_unlock(&gate->lock);
  return calls;
}

void hk_gate_open(struct hk_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  atomic_fetch_and_explicit(&gate->state, ~HK_GATE_SHUT, memory_order_release);
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

/* SHUT is set and cleared under the lock only, so it cannot be set again between the end of the
 * wait and the counting. */
bool hk_gate_enter_waiting(struct hk_gate *gate) {
  if (hk_gate_is_forked(gate)) return false;
  pthread_mutex_lock(&gate->lock);
  while (atomic_load_explicit(&gate->state, memory_order_relaxed) & HK_GATE_SHUT)
    pthread_cond_wait(&gate->changed, &gate->lock);
  atomic_fetch_add_explicit(&gate->state, 1, memory_order_acquire);
  pthread_mutex_unlock(&gate->lock);
  return true;
}

/* The gate may be open again by now, if the other thread gave up waiting for this call. Counting
 * down under the lock is right in both cases. */
void hk_gate_leave_shut(struct hk_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  atomic_fetch_sub_explicit(&gate->state, 1, memory_order_release);
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}
