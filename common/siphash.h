/* SPDX-License-Identifier: MIT
 *
 * common/siphash.h: SipHash-2-4 (Aumasson and Bernstein): a short keyed hash. Results disclose
 * neither the key nor another text's result.
 */
#ifndef COMMON_SIPHASH_H
#define COMMON_SIPHASH_H

#include <stdint.h>

#include "common/span.h"

uint64_t siphash(const uint8_t key[16], struct tidings_span text);

#endif
