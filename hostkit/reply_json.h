/* SPDX-License-Identifier: MIT
 *
 * reply_json.h: a reply, and what is to be sent, as JSON.
 */
#ifndef HOSTKIT_REPLY_JSON_H
#define HOSTKIT_REPLY_JSON_H

#include <tidings/hostkit.h>

#include "common/json_write.h"

/* `reply` NULL gives the empty one. */
void hk_put_reply(struct json_writer *writer, const char *key, const struct tidings_reply *reply);

/* The list of hostkit_compose. */
void hk_put_outgoing(struct json_writer *writer, const char *key,
                     const struct hostkit_outgoing *outgoing);

#endif
