/* SPDX-License-Identifier: MIT
 *
 * command/message_change.h: the events by which a person changes a message that waits.
 */
#ifndef TIDINGS_COMMAND_MESSAGE_CHANGE_H
#define TIDINGS_COMMAND_MESSAGE_CHANGE_H

#include <jansson.h>

#include "common/span.h"

struct message_change {
  const char *type; /* of the event */
  json_t *data;     /* the caller's. NULL: out of memory, or something is not UTF-8 */
};

struct message_change message_change_edit(const char *id, struct tidings_span content);
struct message_change message_change_cancel(const char *id);
struct message_change message_change_move(const char *id, const char *before); /* NULL: last */
/* `delivery`: "queue" or "steer". */
struct message_change message_change_redirect(const char *id, const char *delivery);

#endif
