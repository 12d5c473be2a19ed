/* SPDX-License-Identifier: MIT
 *
 * subscribe/output.h: what a state machine of this folder wants done. It does nothing itself: it is
 * given bytes and times, and returns a list of these, which are done in their order.
 */
#ifndef SUBSCRIBE_OUTPUT_H
#define SUBSCRIBE_OUTPUT_H

#include "common/arena.h"
#include "common/json.h"

enum output_kind {
  OUTPUT_SEND,   /* `text`, a message; `method` is its method */
  OUTPUT_CANCEL, /* the answer to the request `id` is not wanted any more */
  OUTPUT_RESET,  /* the connection is given up; the next OUTPUT_SEND begins a new one */
  OUTPUT_PUSH,   /* `document` happened; `text` is its id, or empty */
  OUTPUT_NOTICE, /* the session is to know `text` of the subscription itself; `id` in `notice` */
  OUTPUT_CURSOR, /* everything up to `text` was pushed: begin there the next time */
  OUTPUT_SAY,    /* `text` for who looks at stderr */
  OUTPUT_END     /* nothing more will come: `text`, with the exit code `code` */
};

struct output {
  enum output_kind kind;
  uint64_t id;          /* of a request; 0: a message that is not answered */
  const char *method;   /* static */
  const char *protocol; /* OUTPUT_SEND: the version of MCP that it is written in; NULL: none yet */
  bool modern;          /* .. and it stands for itself, without a handshake */
  struct tidings_span text;
  const char *kind_name; /* OUTPUT_NOTICE: "events.gap" */
  struct tidings_span notice;
  const struct json *document;
  struct tidings_span event; /* OUTPUT_PUSH: the name of the event, or empty */
  int code;
};

/* All texts live as long as the arena: until the machine is given something more. */
struct outputs {
  struct arena arena;
  struct output *rows;
  size_t count, capacity;
  bool failed; /* no memory: what is missing is not known */
};

void outputs_begin(struct outputs *outputs); /* forgets the old ones */
void outputs_free(struct outputs *outputs);

/* Never NULL: without memory it is a row that nobody sees. */
struct output *outputs_add(struct outputs *outputs, enum output_kind kind);
/* In the arena; empty without memory. */
struct tidings_span outputs_format(struct outputs *outputs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct tidings_span outputs_copy(struct outputs *outputs, struct tidings_span text);

#endif
