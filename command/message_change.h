/* SPDX-License-Identifier: MIT
 *
 * command/message_change.h: makes the events by which a person changes a waiting message.
 */
#ifndef TIDINGS_COMMAND_MESSAGE_CHANGE_H
#define TIDINGS_COMMAND_MESSAGE_CHANGE_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "command/cli.h"
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

/* Completes the ids in a change's data. If exactly one waiting message's id begins with the given
 * text, the text becomes that id; if several do, it is refused; if none does, it stays as it is.
 * Returns 0, or the exit code. */
int message_change_complete(const struct cli *cli, struct hostkit *kit, const char *session,
                            json_t *data);
/* The same for one member of the data, among the messages of a list. */
int message_change_find(const struct cli *cli, const json_t *messages, json_t *data,
                        const char *member);
/* Returns for each message, in the list's order, how many first bytes of its id distinguish it, at
 * least eight. Free it. NULL: out of memory. */
size_t *message_change_short(const json_t *messages);

#endif
