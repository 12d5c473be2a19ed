/* SPDX-License-Identifier: MIT
 *
 * kit.h: defines struct hostkit for the files that open, call, swap and close it.
 */
#ifndef HOSTKIT_KIT_H
#define HOSTKIT_KIT_H

#include "gate.h"
#include "load.h"

struct hostkit {
  struct hk_gate gate;
  struct hk_settings
      settings;           /* changed by the holder of the gate's claim, while the gate is shut */
  struct hk_instance now; /* the same; image NULL: lost in a swap, all calls answer CLOSED */
  uint32_t generation;    /* the same */
  atomic_bool waits;      /* the host has a wake descriptor */
};

/* Begins a call: waits while the gate is shut. Errors: INVAL (null pointer), CLOSED; on an error
 * hk_end must not be called. */
int32_t hk_begin(struct hostkit *kit, struct tidings_error *error);
void hk_end(struct hostkit *kit);

/* Writes the error of a forked child; returns CLOSED. */
int32_t hk_forked(struct tidings_error *error);

/* Writes the error that a deadline has passed; returns BUSY. `calls`: how many calls still ran; 0:
 * a swap was running. */
int32_t hk_still_busy(uint64_t calls, uint32_t drain_ms, struct tidings_error *error);

/* To be called after a swap, with the gate shut: tells the new build that the host waits for rings.
 * Failures are logged. */
void hk_wait_again(struct hostkit *kit);

/* Asks the extension, which must exist, and copies the answer. Does not enter the gate. */
int32_t hk_ask(const struct hk_instance *instance, const struct tidings_span *request,
               char **ret_json, size_t *ret_len, struct tidings_error *error);

#endif
