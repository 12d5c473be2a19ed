/* SPDX-License-Identifier: MIT
 *
 * subscribe/output.h: the outputs of the state machines of this folder. A machine only takes bytes
 * and times, and returns a list of outputs, which the caller executes in order.
 */
#ifndef SUBSCRIBE_OUTPUT_H
#define SUBSCRIBE_OUTPUT_H

#include "common/arena.h"
#include "common/json.h"

enum output_kind {
  OUTPUT_SEND,   /* `text`, a message; `method` is its method */
  OUTPUT_CANCEL, /* the answer to the request `id` is no longer wanted */
  OUTPUT_RESET,  /* give the connection up; the next OUTPUT_SEND begins a new one */
  OUTPUT_PUSH,   /* the event `document`; `text` is its id, or empty */
  OUTPUT_NOTICE, /* `text` tells the session something about the subscription; `notice` is its id */
  OUTPUT_CURSOR, /* everything up to the cursor `text` was pushed; begin there next time */
  OUTPUT_SAY,    /* `text` is printed to stderr */
  OUTPUT_END     /* nothing more will come: `text`, with the exit code `code` */
};

struct output {
  enum output_kind kind;
  uint64_t id;          /* the request's id; 0: a message without an answer */
  const char *method;   /* static */
  const char *protocol; /* OUTPUT_SEND: the message's version of MCP; NULL: none yet */
  bool modern;          /* OUTPUT_SEND: the message is stateless, without a handshake */
  struct tidings_span text;
  const char *kind_name; /* OUTPUT_NOTICE: "events.gap" */
  struct tidings_span notice;
  const struct json *document;
  struct tidings_span event; /* OUTPUT_PUSH: the name of the event, or empty */
  int code;
};

/* All texts are in the arena, which lives until the next call of the machine. */
struct outputs {
  struct arena arena;
  struct output *rows;
  size_t count, capacity;
  bool failed; /* memory ran out; outputs may be missing */
};

void outputs_begin(struct outputs *outputs); /* forgets the old ones */
void outputs_free(struct outputs *outputs);

/* Never returns NULL: without memory it returns a row that is not in the list. */
struct output *outputs_add(struct outputs *outputs, enum output_kind kind);
/* Returns a text in the arena; empty without memory. */
struct tidings_span outputs_format(struct outputs *outputs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct tidings_span outputs_copy(struct outputs *outputs, struct tidings_span text);

#endif
