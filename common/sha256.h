/* SPDX-License-Identifier: MIT
 *
 * common/sha256.h: SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104). Pure.
 */
#ifndef COMMON_SHA256_H
#define COMMON_SHA256_H

#include <stdint.h>

#include "common/span.h"

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

struct sha256 {
  uint32_t state[8];
  uint64_t length;
  unsigned char block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, struct tidings_span bytes);
void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_BYTES]);

/* Writes the MAC of the concatenated parts. */
void sha256_hmac(struct tidings_span key, const struct tidings_span *parts, size_t count,
                 unsigned char mac[SHA256_BYTES]);

#endif
