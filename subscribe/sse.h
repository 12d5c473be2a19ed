/* SPDX-License-Identifier: MIT
 *
 * subscribe/sse.h: a stream of server-sent events (text/event-stream), cut anywhere. Pure.
 */
#ifndef SUBSCRIBE_SSE_H
#define SUBSCRIBE_SSE_H

#include "common/buffer.h"

enum { SSE_LONGEST_EVENT = 16 << 20 }; /* longer data is cut */

struct sse {
  struct buffer line;     /* the incomplete last line */
  struct buffer data;     /* the data of the event that is being read */
  struct buffer type, id; /* the id stays from event to event */
  bool has_data, has_id, after_cr, begun;
  bool handed;      /* the event was returned */
  bool cut;         /* the last line is too long */
  int64_t retry_ms; /* the wait that the server asked for; 0: none */
};

struct sse_event {
  struct tidings_span type; /* "message" if the server says nothing */
  struct tidings_span id, data;
  bool own_id; /* false: the id is that of an earlier event */
};

/* Takes bytes from `bytes` until an event is complete, and returns it; it stays until the next
 * call. False: all bytes were taken, or there is no memory (`failed`). */
bool sse_next(struct sse *sse, struct tidings_span *bytes, struct sse_event *ret_event);
bool sse_failed(const struct sse *sse);
void sse_free(struct sse *sse);

#endif
