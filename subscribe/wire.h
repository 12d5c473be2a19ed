/* SPDX-License-Identifier: MIT
 *
 * subscribe/wire.h: what a connection to a server reports. Each returns whether more is wanted now;
 * none of them is called from inside a call of the wire that sends.
 */
#ifndef SUBSCRIBE_WIRE_H
#define SUBSCRIBE_WIRE_H

#include "subscribe/events.h"
#include "subscribe/sse.h"

struct wire_ears {
  void *context;
  bool (*message)(void *context, struct tidings_span message);
  bool (*event)(void *context, const struct sse_event *event); /* of a stream without MCP */
  bool (*alive)(void *context);                                /* .. that has sent something */
  bool (*failed)(void *context, uint64_t id, const struct events_failure *failure,
                 int64_t retry_ms);
};

#endif
