/* SPDX-License-Identifier: MIT
 *
 * command/session_near.h: which sessions somebody may have meant who has mistyped a name.
 */
#ifndef COMMAND_SESSION_NEAR_H
#define COMMAND_SESSION_NEAR_H

#include <jansson.h>

/* The sessions of the query `sessions`, those with the nearest names first, else in their order.
 * A new list; NULL: out of memory. */
json_t *session_near_order(const json_t *sessions, const char *name);

/* The session whose name is so near that it was probably meant; NULL: there is none. */
const char *session_near_find(const json_t *sessions, const char *name);

#endif
