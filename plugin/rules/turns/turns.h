/* SPDX-License-Identifier: MIT
 *
 * rules/turns/turns.h: decides which message starts the next turn. A pure function: its input is a
 * session's run and messages, an event, and the settings; its output is the new run and messages,
 * and what to ask of the host. docs/turns.md describes it in words.
 *
 * It must not know the store, JSON, clocks, or the text of a message: times and urgency are
 * arguments.
 */
#ifndef RULES_TURNS_TURNS_H
#define RULES_TURNS_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values/run.h"
#include "values/settings.h"

/* The messages, by place: all that are alive, of the turn or orphaned, and all others that the step
 * names. The array has room for one more. */
struct turns {
  struct run run;
  struct message *messages;
  size_t count;
};

/* Pending items that ask for more than the next carrier. */
struct urgency {
  bool urgent; /* something is critical or has activation interrupt, and may be forced */
  /* number of the newest item that asks for a turn in an idle session; 0: none does */
  uint64_t asking;
  int64_t due_ms; /* the latest due time of items that were for later; 0: none was */
  uint64_t most;  /* number of the most pressing of those that ask */
};

enum { NOT_A_MESSAGE = -1 };

struct turns_input {
  enum turns_event event;
  uint32_t attempt; /* RETRYING */
  int64_t now_ms;
  int64_t ahead_ms; /* how much now_ms is ahead of the host's clock, by which at_ms is measured */
  int64_t at_ms;    /* STARTED, STARTED_OWN, ABORTED: when it happened; 0: the host did not say */
  const struct settings *settings;
  uint64_t last_item;     /* number of the session's newest item */
  struct urgency urgency; /* for turns_look */

  /* Messages named: their ids, and for each its index in turns.messages, or NOT_A_MESSAGE. CANCEL,
   * EDIT, MOVE and REDIRECT name one. */
  const struct tidings_span *ids;
  const ptrdiff_t *named;
  size_t named_count;

  struct tidings_span id;        /* SUBMIT */
  int64_t due_ms;                /* SUBMIT: not to be offered before; 0: at once */
  struct tidings_span before_id; /* MOVE, unless to_end: before this */
  ptrdiff_t before;              /* .. with this index */
  struct tidings_span words;     /* RETRYING, WAITING, FAILED */
  uint64_t delivery;   /* the delivery that takes messages along (CHAT_REQUEST, TOOL_RESULT), or has
                          ended (COMMITTED, ROLLED_BACK) */
  size_t steered_most; /* TOOL_RESULT: how many steering messages the delivery takes, in order */
  uint64_t returned;   /* REWOUND: number of the newest item that is pending again; 0: none */

  bool answers;       /* the caller is the attached host, and does what the reply asks for */
  bool owned;         /* a living host is attached; nothing is offered otherwise */
  bool steer;         /* SUBMIT, REDIRECT: else queue */
  bool resume;        /* SUBMIT */
  bool to_end;        /* MOVE */
  bool rewound;       /* RESUMED: the transcript has lost carriers as well */
  bool fires_at_once; /* CHAT_REQUEST, TOOL_RESULT: the delivery counts as committed */
};

/* The request to the host. */
struct turns_result {
  bool offer; /* start a turn with the messages that are OFFERED, in order; or the turn of the
                 plugin's own */
  bool abort; /* stop the stream */
  bool stop;  /* end the turn: somebody has asked for it */
};

/* The table. Returns 0, or the table's error: FIRED, NOT_FOUND, STATE; then nothing has changed.
 * Never allocates. */
int turns_step(struct turns *turns, const struct turns_input *input, struct tidings_error *error);

/* The host may not have received what a reply asked of it: `asked` is to be asked again. */
void turns_ask_again(struct run *run, struct turns_result asked);

/* Ends every step. After an event of the attached host it looks at a settle delay that is over, at
 * urgency, and at an offer that the host has not received; and it decides whether new messages have
 * to wait. */
void turns_look(struct turns *turns, const struct turns_input *input,
                struct turns_result *ret_result);
/* Can urgency change anything in this state? */
bool turns_reacts_to_urgency(const struct run *run);
/* Is there an offer that the host can receive at once? */
bool turns_has_unknown_offer(const struct run *run);
/* Was the host asked to end the turn, and has not received that yet? */
bool turns_has_unknown_stop(const struct run *run);

/* Returns when the waiting batch is due. In an idle session it is the time of the next message that
 * was submitted for later. 0: none waits. */
int64_t turns_due_ms(const struct turns *turns, const struct settings *settings);

/* Would a tool result with nothing to show or steer change anything? */
bool turns_reacts_to_tool_result(const struct run *run);

/* Do the two runs agree in everything that is stored? */
bool turns_same_run(const struct run *a, const struct run *b);

#endif
