/* SPDX-License-Identifier: MIT
 *
 * tests/model/moves.h: every event of the machine that a host, a producer or a settle can cause,
 * with right, old and unknown names.
 */
#ifndef TESTS_MODEL_MOVES_H
#define TESTS_MODEL_MOVES_H

#include "world.h"

enum move_kind {
  MOVE_EVENT,       /* an event of rules/turns/turns.h other than those below */
  MOVE_TOOL_RESULT, /* these hook calls deliver what is pending */
  MOVE_CHAT_REQUEST,
  MOVE_SETTLE,
  MOVE_ATTACH,  /* a new host's first event, if that is not session.opened */
  MOVE_OPEN,    /* session.resumed of this or another host, which names the deliveries in its
                   transcript */
  MOVE_REWIND,  /* session.rewound, which also names them; no item comes back */
  MOVE_CRASH,   /* the host dies */
  MOVE_ARRIVE,  /* the notification is pushed */
  MOVE_VANISH,  /* it expires, or is withdrawn */
  MOVE_FORWARD, /* the clock */
  MOVE_BACK
};

/* Ids that are no indices of messages. */
enum { NAME_SYSTEM = 0x10, NAME_OLD_SYSTEM = 0x11, NAME_UNKNOWN = 0x12 };
enum { MOST_NAMES = 3 };

struct move {
  uint8_t kind;
  uint8_t event; /* enum turns_event */
  bool foreign;  /* by a process that is not attached */
  bool steer, resume;
  bool other_host; /* MOVE_OPEN: by a host that takes over */
  bool committed;  /* MOVE_SETTLE */
  bool listens;    /* MOVE_SETTLE: the caller takes a reply */
  uint8_t carrier; /* MOVE_SETTLE: an index; MOVE_OPEN, MOVE_REWIND: the mask of the named ones */
  uint8_t names[MOST_NAMES];
  size_t name_count;
};

enum { MOST_MOVES = 256 };
/* Lists all moves for this setup. Returns how many. */
size_t moves_list(const struct setup *setup, struct move *ret_moves);
/* Is the move possible now? */
bool move_possible(const struct move *move, const struct world *world, const struct setup *setup);

const char *event_name(enum turns_event event);
bool event_is_of_messages(enum turns_event event); /* anybody may send it */
void move_print(const struct move *move);

#endif
