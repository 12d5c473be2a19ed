/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/marker.h: the line "[tidings 1z141z5-0k3j2h4g]" that ends each text that a hook
 * hands out: the delivery's id in base 36, and its proof. The proof needs the session's key, so a
 * marker that a tool, a model or a person invents, or copies from another session, is not valid.
 */
#ifndef AGENTS_TRANSCRIPT_MARKER_H
#define AGENTS_TRANSCRIPT_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum { HOOK_MARKER_SIZE = 34 }; /* the longest marker, with its NUL */
#define HOOK_MARKER_OPENING "[tidings "

/* The use of a marker. A marker of a nudge is not one of a delivery. */
enum hook_marker_of { HOOK_MARKER_OF_DELIVERY, HOOK_MARKER_OF_NUDGE };

/* Sets the session's key (agents/deliver/sign.h), for all markers until the next key is set. Before
 * the first key no marker is valid. */
void hook_marker_set_key(const uint8_t key[16]);

void hook_marker_write(enum hook_marker_of of, uint64_t number, char text[HOOK_MARKER_SIZE]);

/* Reads a marker after its opening, up to the closing bracket. Returns the place after it; NULL:
 * this is no marker, or its proof is wrong. */
const char *hook_marker_read(enum hook_marker_of of, const char *at, const char *end,
                             uint64_t *ret_number);

/* Finds a delivery's marker at the end of a string, which is as a record has it in JSON. The marker
 * begins a line, and only empty lines or a closing tag of the agent follow it. NULL: there is
 * none. */
const char *hook_marker_at_end(struct tidings_span written, uint64_t *ret_delivery);

#endif
