/* SPDX-License-Identifier: MIT
 *
 * flat.h: what the two halves of the flat functions share: handles (flat.c) and operations
 * (flat_call.c).
 */
#ifndef HOSTKIT_FLAT_H
#define HOSTKIT_FLAT_H

#include <jansson.h>

#include <tidings/hostkit.h>

/* How long closing and swapping wait for calls under way unless the caller says. */
#define HK_FLAT_DRAIN_MS 5000u

/* Room for any session's id and a NUL. */
#define HK_SESSION_BYTES 256

/* Does what `request` says and gives its answer. On failure *ret_answer is not written. */
int32_t hk_flat_perform(struct hostkit *kit, json_t *request, json_t **ret_answer,
                        struct tidings_error *error);

#endif
