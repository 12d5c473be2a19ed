/* SPDX-License-Identifier: MIT
 *
 * reply_json.h: a reply, and what is to be sent, as JSON values.
 */
#ifndef HOSTKIT_REPLY_JSON_H
#define HOSTKIT_REPLY_JSON_H

#include <jansson.h>

#include <tidings/hostkit.h>

/* NULL: out of memory. `reply` NULL gives the empty one. */
json_t *hk_reply_value(const struct tidings_reply *reply);

/* The list of hostkit_compose. */
json_t *hk_outgoing_value(const struct hostkit_outgoing *outgoing);

#endif
