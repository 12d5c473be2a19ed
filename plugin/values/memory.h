/* SPDX-License-Identifier: MIT
 *
 * values/memory.h: what producers remember of a session, and the store keeps. No behaviour.
 */
#ifndef VALUES_MEMORY_H
#define VALUES_MEMORY_H

#include <stdint.h>

struct memory {
  uint8_t budget_percent; /* the highest threshold that has spoken and is still reached; 0: none */
};

#endif
