/* SPDX-License-Identifier: MIT
 *
 * subscribe/plain.h: a plain stream of server-sent events, without MCP, as a state machine like
 * events.h. The last event's id is the cursor. Pure.
 */
#ifndef SUBSCRIBE_PLAIN_H
#define SUBSCRIBE_PLAIN_H

#include "subscribe/events.h"
#include "subscribe/sse.h"

struct plain;

/* Uses server, token_file, cursor, random and heartbeat_ms of the wish; heartbeat_ms 0: the stream
 * may be silent for ever. NULL: no memory. */
struct plain *plain_new(const struct events_wish *wish);
void plain_free(struct plain *plain); /* NULL is allowed */

void plain_begin(struct plain *plain, int64_t now_ms);
/* Takes an event. Data that is no JSON object becomes an object with a `message`. */
void plain_event(struct plain *plain, const struct sse_event *event, int64_t now_ms);
/* Notes that the head of an answer or bytes came, whatever they are: the connection is healthy. */
void plain_alive(struct plain *plain, int64_t now_ms);
/* Reports that the stream has ended. `retry_ms`: the wait that the server asked for; 0: none. */
void plain_failed(struct plain *plain, uint64_t id, const struct events_failure *failure,
                  int64_t retry_ms, int64_t now_ms);
int64_t plain_due_ms(const struct plain *plain);
void plain_tick(struct plain *plain, int64_t now_ms);
bool plain_wants_token(const struct plain *plain);
bool plain_fails(const struct plain *plain);
void plain_token_changed(struct plain *plain, int64_t now_ms);
void plain_set_token_stamp(struct plain *plain, const char *stamp);
struct outputs *plain_outputs(struct plain *plain);

#endif
