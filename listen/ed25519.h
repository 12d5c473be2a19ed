/* SPDX-License-Identifier: MIT
 *
 * listen/ed25519.h: checks Ed25519 signatures with OpenSSL's libcrypto. It is loaded for the first
 * signature, because nothing else needs it.
 */
#ifndef LISTEN_ED25519_H
#define LISTEN_ED25519_H

#include "common/span.h"

enum { ED25519_KEY_BYTES = 32, ED25519_SIGNATURE_BYTES = 64 };

enum ed25519_result {
  ED25519_RIGHT,
  ED25519_WRONG,
  ED25519_UNKNOWN /* this machine has no libcrypto that knows Ed25519 */
};

/* Has the owner of the public key signed the concatenated parts with `signature`? */
enum ed25519_result ed25519_check(const unsigned char key[ED25519_KEY_BYTES],
                                  const unsigned char signature[ED25519_SIGNATURE_BYTES],
                                  const struct tidings_span *parts, size_t count);

#endif
