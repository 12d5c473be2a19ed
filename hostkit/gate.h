/* SPDX-License-Identifier: MIT
 *
 * gate.h: counts the running calls, and holds new ones back while a swap or close runs.
 *
 * A word holds the count and the bit SHUT. Without that bit, entering and leaving take one
 * compare-and-swap each. With it, the word changes only under the lock, so the thread that waits
 * for a count of zero may free the gate right after.
 */
#ifndef HOSTKIT_GATE_H
#define HOSTKIT_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define HK_GATE_SHUT (UINT64_C(1) << 63)

struct hk_gate {
  _Atomic uint64_t state;
  pid_t process; /* made the gate; a forked child has its parent's calls, which never end there */
  bool claimed;  /* a swap or close is under way; protected by `lock` */
  pthread_mutex_t lock;
  pthread_cond_t changed;
};

/* Returns 0 or an errno. */
int hk_gate_init(struct hk_gate *gate);
void hk_gate_finish(struct hk_gate *gate);

/* Returns the time `ms` from now by the monotonic clock, in the form that the functions below
 * take. */
struct timespec hk_deadline(uint32_t ms);

/* Takes the claim, waiting until `deadline` (NULL: for ever). At most one thread holds the claim,
 * and only this thread may shut the gate. */
bool hk_gate_claim(struct hk_gate *gate, const struct timespec *deadline);
void hk_gate_unclaim(struct hk_gate *gate);

/* Shuts the gate and waits for the running calls. Returns 0 when none is left. Otherwise returns
 * how many ran at the deadline, and opens the gate again. */
uint64_t hk_gate_shut(struct hk_gate *gate, const struct timespec *deadline);
void hk_gate_open(struct hk_gate *gate);

/* Was this process forked from the one that made the gate? This takes a system call: ask only
 * before waiting. */
bool hk_gate_is_forked(const struct hk_gate *gate);

bool hk_gate_enter_waiting(struct hk_gate *gate);
void hk_gate_leave_shut(struct hk_gate *gate);

/* Waits while the gate is shut. False: it is shut in a forked child, where nobody would open it. */
static inline bool hk_gate_enter(struct hk_gate *gate) {
  uint64_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
  while (!(state & HK_GATE_SHUT)) {
    if (atomic_compare_exchange_weak_explicit(&gate->state, &state, state + 1, memory_order_acquire,
                                              memory_order_relaxed))
      return true;
  }
  return hk_gate_enter_waiting(gate);
}

static inline void hk_gate_leave(struct hk_gate *gate) {
  uint64_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
  while (!(state & HK_GATE_SHUT)) {
    if (atomic_compare_exchange_weak_explicit(&gate->state, &state, state - 1, memory_order_release,
                                              memory_order_relaxed))
      return;
  }
  hk_gate_leave_shut(gate);
}

#endif
