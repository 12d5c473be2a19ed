/* SPDX-License-Identifier: MIT
 *
 * query/request.h: parses a query's JSON request into a typed question.
 */
#ifndef QUERY_REQUEST_H
#define QUERY_REQUEST_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/span.h"
#include "values/notification.h"

enum query_name {
  QUERY_PENDING,
  QUERY_STATUS,
  QUERY_HISTORY,
  QUERY_EXPLAIN,
  QUERY_STATS,
  QUERY_STREAM,
  QUERY_CONFIGURE,
  QUERY_INSTRUCTIONS,
  QUERY_PREVIEW,
  QUERY_RENDER,
  QUERY_SESSIONS,
  QUERY_TOTALS,
  QUERY_NEUTRALIZE,
  QUERY_QUEUE,
  QUERY_TOOLS,
  QUERY_TIMELINE,
  QUERY_MARKER,
  QUERY_COUNT
};

enum { QUERY_DEFAULT_LIMIT = 100, QUERY_LARGEST_LIMIT = 10000 };

/* How far an answer of `timeline` went, as numbers in the session. */
struct query_place {
  uint64_t item, transition; /* the newest of them */
  uint64_t delivery;         /* the last before the first that is not settled */
  uint64_t queried_ms;       /* when it was given: deliveries that were settled by then may have
                                changed since */
  uint64_t session;          /* the session's number; 0: not known, or the session is not there */
};

/* A carrier of a stream list, and what it carried. */
struct streamed {
  bool chat_request;          /* else a tool call's response */
  uint8_t source;             /* chat request: TIDINGS_ORIGIN_* */
  struct tidings_span id;     /* tool call response */
  struct notification *notes; /* in the list's order */
  size_t note_count;
};

/* All text is owned by the arena. */
struct request {
  enum query_name name;
  struct tidings_span session;
  uint64_t id;                 /* explain: a public item id, unless .. */
  struct tidings_span message; /* .. this is not empty: the id of a message */
  uint32_t limit;              /* pending: items; history: deliveries; queue: messages; sessions */
  bool has_config; /* configure: JSON to put in force; without it the one in force is only read */
  struct tidings_span config;
  bool chat_request;               /* preview: what would carry it */
  const struct streamed *carriers; /* render: those that carried something */
  size_t carrier_count;
  struct tidings_span text; /* neutralize */
  struct query_place after; /* timeline: what the asker knows; zero: nothing */
  bool in_pages;            /* sessions: those after .. */
  uint64_t place;           /* .. this one */
  bool details;             /* sessions: each one's state, queue and levels too */
  bool chooses_mailboxes;   /* sessions: only mailboxes, or .. */
  bool mailboxes;           /* .. if this is false, only sessions that are no mailboxes */
  bool subagents;           /* instructions: the host has some that work in the background */
};

/* Returns 0, INVAL, SCHEMA, TOO_BIG, UNSUPPORTED (unknown name), NOMEM. */
int request_parse(struct tidings_span bytes, struct arena *arena, struct request *ret_request,
                  struct tidings_error *error);

#endif
