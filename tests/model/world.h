/* SPDX-License-Identifier: MIT
 *
 * tests/model/world.h: one state of the model: a session's run and messages as the machine of
 * plugin/rules/turns keeps them, and what the store and the host keep (deliveries, a notification,
 * who is attached).
 */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#include "rules/turns/turns.h"

enum {
  MOST_MESSAGES = 3,
  MOST_CARRIERS = 2,
  TICK_MS = 1000,
  NOW_MS = 1000000,  /* the time in a canonical world */
  SYSTEM_TURN = 0x80 /* in a mask of messages: the plugin's own turn */
};

/* The explored space: settings, and what may happen under them. */
struct setup {
  const char *name;
  struct settings settings;
  size_t messages; /* how many may be submitted */
  unsigned depth;
  bool clock;         /* the clock may jump forwards and backwards */
  bool item_urgent;   /* the notification is critical and may be forced */
  bool item_asks;     /* it asks for a turn in an idle session */
  bool fires_at_once; /* the host never settles */
  bool tight;         /* places have no gaps */
};

/* A delivery that the host has not settled. Older ones come first. */
struct carrier {
  bool out;
  bool item;    /* it shows the notification */
  uint8_t row;  /* mask of the messages that the store's row names */
  uint8_t sent; /* mask of the messages that the host put into it */
};

enum item { ITEM_NONE, ITEM_PENDING, ITEM_LEASED };
struct world {
  struct run run;
  struct message messages[MOST_MESSAGES]; /* by number - 1; number 0: not submitted yet */
  size_t submitted;
  struct carrier carriers[MOST_CARRIERS]; /* carrier i is delivery i + 1 */
  uint8_t item;
  bool alive;                   /* the host that is attached */
  bool known;                   /* some host was attached since the session was new or closed */
  uint8_t order[MOST_MESSAGES]; /* numbers - 1, by place */
  int64_t now_ms;
};

void world_begin(struct world *world, const struct setup *setup);
struct tidings_span message_id(size_t index); /* "m1" */

/* Makes worlds equal that behave alike: renumbers times, stamps, places and counters, and forgets
 * what is over. */
void world_canonical(struct world *world, const struct setup *setup);

/* A canonical world as few bytes, equal for equal worlds. */
enum { PACKED_BYTES = 72 };
struct packed {
  uint8_t bytes[PACKED_BYTES];
};
void world_pack(const struct world *world, struct packed *ret_packed);
void world_unpack(const struct packed *packed, const struct setup *setup, struct world *ret_world);

/* The order of the messages, by place. */
void world_order(struct world *world);

void world_print(const struct world *world); /* as a line of TAP comment */

#endif
