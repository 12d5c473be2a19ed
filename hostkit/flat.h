/* SPDX-License-Identifier: MIT
 *
 * flat.h: what the two halves of the flat functions share: handles (flat.c) and operations
 * (flat_call.c).
 */
#ifndef HOSTKIT_FLAT_H
#define HOSTKIT_FLAT_H

#include <tidings/hostkit.h>

#include "common/json_write.h"

/* The time for which closing and swapping wait for running calls, unless the caller sets
 * another. */
#define HK_FLAT_DRAIN_MS 5000u

/* Room for any session's id and a NUL. */
#define HK_SESSION_BYTES 256

/* Performs `request`, whose tree is in `arena`, and writes the answer, with room for a NUL at the
 * end. After a failure the written text is of no use. */
int32_t hk_flat_perform(struct hostkit *kit, const struct json *request, struct arena *arena,
                        struct buffer *answer, struct tidings_error *error);

#endif
