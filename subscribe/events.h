/* SPDX-License-Identifier: MIT
 *
 * subscribe/events.h: a subscription to an event of an MCP server (SEP-3415), as a state machine:
 * it takes times and messages, and returns requests, pushes and cursors. Pure: it has no socket, no
 * clock and no store. It speaks both eras of the protocol, and has three ways of delivery: poll,
 * push (a stream) and webhook (this keeps the subscription alive, and `tidings listen` receives the
 * events).
 *
 * A cursor comes after everything that it covers. So a caller that handles the outputs in order,
 * and stores the cursor last, loses no event. An event that comes twice has the same id.
 */
#ifndef SUBSCRIBE_EVENTS_H
#define SUBSCRIBE_EVENTS_H

#include "subscribe/output.h"

enum events_delivery { EVENTS_ANY, EVENTS_POLL, EVENTS_PUSH, EVENTS_WEBHOOK };

/* All texts are borrowed. */
struct events_wish {
  const char *name;              /* the event's name */
  struct tidings_span arguments; /* a JSON object; empty: none */
  enum events_delivery delivery;
  const char *url, *secret; /* the webhook's */
  const char *server;       /* the server's name in messages */
  const char *token_file;   /* the file's name in messages; NULL: no token */
  const char *cursor;       /* where to begin; NULL: now */
  int64_t heartbeat_ms;     /* the longest time between two messages of a stream */
  bool process;             /* the server is a program, and all messages share its pipe */
  uint64_t random;
};

enum { EVENTS_HEARTBEAT_MS = 30000, EVENTS_LEAST_POLL_MS = 1000 };

struct events;

/* NULL: no memory. */
struct events *events_new(const struct events_wish *wish);
void events_free(struct events *events); /* NULL is allowed */

/* Call each of these only after the outputs of the previous call were handled. `now_ms` never goes
 * back. */
void events_begin(struct events *events, int64_t now_ms);
/* Takes a message of the server, or a batch of them. `wall_ms`: the time of the wall clock. */
void events_message(struct events *events, struct tidings_span message, int64_t now_ms,
                    int64_t wall_ms);

enum { EVENTS_NO_STATUS = 0, EVENTS_SERVER_ENDED = -1 };
struct events_failure {
  int status;             /* an HTTP status, or one of the above */
  int64_t retry_after_ms; /* the wait that the server asked for; 0: none */
  const char *reason;
};
/* Reports that the request `id` (0: any) has failed and will get no answer. If it was answered
 * before, nothing happens. */
void events_failed(struct events *events, uint64_t id, const struct events_failure *failure,
                   int64_t now_ms);

/* Returns when events_tick must be called at the latest; INT64_MAX: never. */
int64_t events_due_ms(const struct events *events);
void events_tick(struct events *events, int64_t now_ms);
/* Makes a wait due if it is over by the wall clock, because the machine slept meanwhile. */
void events_note_wall(struct events *events, int64_t wall_ms);
/* Notes the time by the server's clock, in whole seconds, while it is `wall_ms` here. */
void events_note_date(struct events *events, int64_t date_ms, int64_t wall_ms);

/* Does the subscription wait for a new token, because its token was refused? For
 * events_set_token_stamp: `stamp` identifies a token, and is no secret. */
bool events_wants_token(const struct events *events);
/* Has nothing come from the server since the last failure? */
bool events_fails(const struct events *events);
void events_token_changed(struct events *events, int64_t now_ms);
void events_set_token_stamp(struct events *events, const char *stamp);

struct outputs *events_outputs(struct events *events);

#endif
