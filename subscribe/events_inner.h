/* SPDX-License-Identifier: MIT
 *
 * subscribe/events_inner.h: what the files of the state machine (events.h) share.
 */
#ifndef SUBSCRIBE_EVENTS_INNER_H
#define SUBSCRIBE_EVENTS_INNER_H

#include "subscribe/events.h"
#include "subscribe/retry.h"

#define EVENTS_MODERN "2026-07-28"
#define EVENTS_LEGACY "2025-11-25"
#define EVENTS_EXTENSION "io.modelcontextprotocol/events"
#define EVENTS_META "io.modelcontextprotocol/"

enum events_era { ERA_UNKNOWN, ERA_LEGACY, ERA_MODERN };

/* The purpose of the request that waits for an answer. */
enum events_state {
  STATE_DISCOVER,
  STATE_INITIALIZE,
  STATE_LIST,
  STATE_POLL,
  STATE_STREAM,
  STATE_SUBSCRIBE,
  STATE_WAIT, /* no request waits; the subscription continues at due_ms */
  STATE_ENDED
};

enum { POLL_HOLD_MS = 25000, ANSWER_MS = 60000, BEGIN_MS = 10000, LONGEST_WAIT_MS = 86400000 };

struct events {
  struct events_wish wish;
  struct outputs outputs;
  enum events_state state;
  enum events_era era;
  bool guessed;                  /* the era was guessed, not stated by the server */
  bool probed_again;             /* the server was probed again because of that */
  const char *protocol;          /* NULL: not agreed on yet */
  enum events_delivery delivery; /* EVENTS_ANY: not chosen yet */
  bool greeted;                  /* the handshake of this connection is done */
  bool refused;                  /* the token is refused */
  bool gave_up_push;             /* the server lists push, but refuses it */
  bool well;                     /* an event, a heartbeat or an answer has come: it has run */
  bool begins_anew;              /* the next request is sent without the cursor */
  bool anew;                     /* the request was sent without it: the server had refused it */
  bool owes_gap;                 /* .. and the session has no notice of that yet */
  uint64_t last_id, request;     /* request: the one that waits for its answer; 0: none */
  uint64_t list_request;         /* a request for the list that runs beside it; 0: none */
  int64_t list_due_ms;           /* when that is given up */
  bool list_again;               /* the list has changed since that request */
  unsigned pages;                /* pages of the list that were read */
  struct buffer names;           /* the names of the listed events, for a message */
  bool found;                    /* our event is in the list */
  unsigned offers;               /* 1 << EVENTS_POLL, .. */
  struct retry retry;
  int64_t now_ms, wall_ms, due_ms;
  int64_t ahead_ms;            /* by how much the server's clock is ahead */
  int64_t due_wall_ms;         /* of a long wait: when it is over by the wall clock; 0: none */
  char *cursor;                /* NULL: none yet */
  char *stamp;                 /* the token's stamp */
  char *subscription;          /* the server's name for the webhook's subscription; NULL: not
                                  known */
  struct tidings_span message; /* the message that is being read */
  char *page;                  /* the next page of the list */
};

/* -- events.c ---------------------------------------------------------------------------------- */

/* Begins the next step: the handshake, the list, or the subscription. */
void events_go_on(struct events *events);
void events_wait(struct events *events, int64_t ms);
/* The same after a message, but the time that the machine sleeps counts. */
void events_wait_asleep(struct events *events, int64_t ms);
/* Notes that the request has failed, to make it again later. */
void events_fail(struct events *events, int64_t at_least_ms);
void events_end(struct events *events, int code, struct tidings_span text);
/* Sends a notice to the session once; `mark` distinguishes notices of one kind. */
void events_notice(struct events *events, const char *kind, const char *mark,
                   struct tidings_span text);
/* Returns whether the cursor differs from the one before. */
bool events_take_cursor(struct events *events, const struct json *cursor);
/* Returns how long a stream may be silent. */
int64_t events_silence_ms(const struct events *events);
void events_say_gap(struct events *events);
/* Notes that the server has accepted the subscription. */
void events_accept(struct events *events);
/* Notes the same, and that the server is well. */
void events_thrive(struct events *events);
/* Ends a subscription that the server does not continue: `text` says why. A session gets a notice
 * of it if the subscription has run before. */
void events_end_for(struct events *events, struct tidings_span text);
/* Sends the notice of the end. */
void events_notice_end(struct events *events, const char *mark, struct tidings_span why,
                       struct tidings_span text);
/* Cancels the request that waits for its answer. */
void events_cancel(struct events *events);
/* Replaces a text from malloc by a copy of `value`. */
void events_keep(struct events *events, char **text, struct tidings_span value);

/* -- events_write.c ---------------------------------------------------------------------------- */

void events_send_discover(struct events *events);
void events_send_initialize(struct events *events);
/* `beside`: does not replace the waiting request. */
void events_send_list(struct events *events, bool beside);
void events_send_poll(struct events *events);
void events_send_stream(struct events *events);
void events_send_subscribe(struct events *events);
void events_send_initialized(struct events *events);
void events_send_cancelled(struct events *events, uint64_t id);
/* Answers a request of the server; `known`: it is `ping`. `id` is as in the message. */
void events_send_answer(struct events *events, struct tidings_span id, bool known);

/* -- events_read.c ----------------------------------------------------------------------------- */

void events_push(struct events *events, const struct json *occurrence);

/* -- events_answer.c --------------------------------------------------------------------------- */

void events_take_result(struct events *events, const struct json *result);
/* Takes the result of events/list. `beside` is as in events_send_list. */
void events_take_list(struct events *events, const struct json *result, bool beside);
void events_begin_list(struct events *events, bool beside);
/* The list has changed: it is read beside the request that waits, once at a time. */
void events_list_changed(struct events *events);
/* The list that was read beside has come, or failed. */
void events_list_done(struct events *events);
void events_take_error(struct events *events, const struct json *error);
/* Takes the `error` with which the server has ended the subscription. */
void events_take_termination(struct events *events, const struct json *error);

#endif
