/* SPDX-License-Identifier: MIT
 *
 * subscribe/wire.h: the callbacks of a connection to a server. Each returns whether it wants more
 * now. None of them is called while a message is being sent.
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
  void (*date)(void *context, int64_t date_ms);                /* .. by the server's clock */
  void (*lost)(void *context, const char *why);                /* a message cannot be read */
  bool (*failed)(void *context, uint64_t id, const struct events_failure *failure,
                 int64_t retry_ms);
};

#endif
