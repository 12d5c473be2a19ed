/* SPDX-License-Identifier: MIT
 */
#include "moves.h"

#include <assert.h>
#include <stdio.h>

/* -- which there are --------------------------------------------------------------------------- */

struct listing {
  const struct setup *setup;
  struct move *moves;
  size_t count;
};

static void add(struct listing *listing, struct move move) {
  assert(listing->count < MOST_MOVES);
  listing->moves[listing->count++] = move;
}

static void name(struct move *move, uint8_t what) { move->names[move->name_count++] = what; }

/* Adds the move with each list of names, and, if `omitted`, without names. */
static void add_with_names(struct listing *listing, struct move move, bool omitted) {
  static const uint8_t lists[][MOST_NAMES + 1] = {{1, 0},
                                                  {1, 1},
                                                  {2, 0, 1},
                                                  {2, 1, 0},
                                                  {2, 0, 0},
                                                  {1, NAME_SYSTEM},
                                                  {1, NAME_OLD_SYSTEM},
                                                  {1, NAME_UNKNOWN},
                                                  {2, 0, NAME_UNKNOWN},
                                                  {2, NAME_UNKNOWN, 1},
                                                  {2, 0, NAME_SYSTEM},
                                                  {1, 2},
                                                  {2, 1, 2},
                                                  {3, 0, 1, 2}};
  if (omitted) add(listing, move);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    bool fits = true;
    move.name_count = 0;
    for (size_t j = 1; j <= lists[i][0]; j++) {
      fits = fits && (lists[i][j] >= NAME_SYSTEM || lists[i][j] < listing->setup->messages);
      name(&move, lists[i][j]);
    }
    if (fits) add(listing, move);
  }
}

/* The moves that anybody may make with messages. */
static void add_messages(struct listing *listing, bool foreign) {
  size_t most = listing->setup->messages;
  for (unsigned i = 0; i < 4; i++)
    add(listing,
        (struct move){.event = TURNS_SUBMIT, .foreign = foreign, .steer = i & 1, .resume = i & 2});
  for (size_t i = 0; i < most; i++) {
    add(listing,
        (struct move){
            .event = TURNS_CANCEL, .foreign = foreign, .names = {(uint8_t)i}, .name_count = 1});
    add(listing,
        (struct move){
            .event = TURNS_EDIT, .foreign = foreign, .names = {(uint8_t)i}, .name_count = 1});
    add(listing,
        (struct move){
            .event = TURNS_MOVE, .foreign = foreign, .names = {(uint8_t)i}, .name_count = 1});
    for (unsigned steer = 0; steer < 2; steer++)
      add(listing, (struct move){.event = TURNS_REDIRECT,
                                 .foreign = foreign,
                                 .steer = steer,
                                 .names = {(uint8_t)i},
                                 .name_count = 1});
    for (size_t j = 0; j < most; j++)
      add(listing, (struct move){.event = TURNS_MOVE,
                                 .foreign = foreign,
                                 .names = {(uint8_t)i, (uint8_t)j},
                                 .name_count = 2});
  }
  add(listing,
      (struct move){
          .event = TURNS_CANCEL, .foreign = foreign, .names = {NAME_UNKNOWN}, .name_count = 1});
  add(listing,
      (struct move){
          .event = TURNS_MOVE, .foreign = foreign, .names = {0, NAME_UNKNOWN}, .name_count = 2});
}

static void add_turns(struct listing *listing) {
  add_with_names(listing, (struct move){.event = TURNS_STOP}, true);
  add_with_names(listing, (struct move){.event = TURNS_STOP, .foreign = true}, true);
  static const uint8_t with_names[] = {TURNS_DECLINED, TURNS_FINISHED, TURNS_ABORTED,
                                       TURNS_FAILED,   TURNS_RETRYING, TURNS_WAITING};
  static const uint8_t without[] = {
      TURNS_STARTED_OWN,     TURNS_RESUME,        TURNS_STREAM_STARTED,
      TURNS_STREAM_FINISHED, TURNS_TOOLS_STARTED, TURNS_TOOLS_FINISHED,
      TURNS_OPENED,          TURNS_COMPACTING,    TURNS_COMPACTED,
      TURNS_CLOSED,          TURNS_LOOK};
  add_with_names(listing, (struct move){.event = TURNS_STARTED}, false);
  for (size_t i = 0; i < sizeof with_names; i++)
    add_with_names(listing, (struct move){.event = with_names[i]}, true);
  for (size_t i = 0; i < sizeof without; i++) add(listing, (struct move){.event = without[i]});
}

static void add_carriers(struct listing *listing) {
  add(listing, (struct move){.kind = MOVE_TOOL_RESULT});
  add_with_names(listing, (struct move){.kind = MOVE_CHAT_REQUEST}, true);
  for (unsigned i = 0; i < MOST_CARRIERS; i++) {
    add(listing,
        (struct move){
            .kind = MOVE_SETTLE, .carrier = (uint8_t)i, .committed = true, .listens = true});
    add(listing, (struct move){.kind = MOVE_SETTLE, .carrier = (uint8_t)i, .listens = true});
    add(listing, (struct move){.kind = MOVE_SETTLE, .carrier = (uint8_t)i});
  }
}

static void add_hosts(struct listing *listing) {
  for (unsigned named = 0; named < 1 << MOST_CARRIERS; named++) {
    add(listing, (struct move){.kind = MOVE_OPEN, .carrier = (uint8_t)named});
    add(listing, (struct move){.kind = MOVE_OPEN, .carrier = (uint8_t)named, .other_host = true});
    add(listing, (struct move){.kind = MOVE_REWIND, .carrier = (uint8_t)named});
  }
  add(listing, (struct move){.kind = MOVE_ATTACH});
  add(listing, (struct move){.kind = MOVE_CRASH});
}

size_t moves_list(const struct setup *setup, struct move *ret_moves) {
  struct listing listing = {.setup = setup, .moves = ret_moves};
  add_messages(&listing, false);
  add_messages(&listing, true);
  add_turns(&listing);
  add_carriers(&listing);
  add_hosts(&listing);
  add(&listing, (struct move){.kind = MOVE_ARRIVE});
  add(&listing, (struct move){.kind = MOVE_VANISH});
  if (setup->clock) {
    add(&listing, (struct move){.kind = MOVE_FORWARD});
    add(&listing, (struct move){.kind = MOVE_BACK});
  }
  return listing.count;
}

/* -- when -------------------------------------------------------------------------------------- */

static bool carriers_named_are_out(const struct move *move, const struct world *world) {
  for (size_t i = 0; i < MOST_CARRIERS; i++) {
    if (move->carrier & 1 << i && !world->carriers[i].out) return false;
  }
  return true;
}

static bool event_possible(const struct move *move, const struct world *world,
                           const struct setup *setup) {
  switch (move->event) {
  case TURNS_SUBMIT: /* `resume` is of interest only after a failure */
    if (world->submitted >= setup->messages || (move->steer && move->resume)) return false;
    if (move->resume && world->run.state != RUN_ERROR) return false;
    break;
  case TURNS_CLOSED: return true; /* anybody's, when no host lives */
  default: break;
  }
  return move->foreign || world->alive;
}

bool move_possible(const struct move *move, const struct world *world, const struct setup *setup) {
  switch (move->kind) {
  case MOVE_EVENT: return event_possible(move, world, setup);
  case MOVE_TOOL_RESULT:
  case MOVE_CHAT_REQUEST: return world->alive && !world->carriers[MOST_CARRIERS - 1].out;
  case MOVE_SETTLE: return world->alive && world->carriers[move->carrier].out;
  case MOVE_ATTACH: return !world->alive;
  case MOVE_OPEN:
    if (!move->other_host && !world->alive) return false;
    return carriers_named_are_out(move, world);
  case MOVE_REWIND: return carriers_named_are_out(move, world);
  case MOVE_CRASH: return world->alive;
  case MOVE_ARRIVE: return world->item == ITEM_NONE;
  case MOVE_VANISH: return world->item == ITEM_PENDING;
  default: return true;
  }
}

/* -- in words ---------------------------------------------------------------------------------- */

bool event_is_of_messages(enum turns_event event) {
  return event <= TURNS_MOVE || event == TURNS_REDIRECT;
}

const char *event_name(enum turns_event event) {
  static const char *const names[TURNS_EVENT_COUNT] = {
      [TURNS_SUBMIT] = "message.submitted",
      [TURNS_CANCEL] = "message.cancelled",
      [TURNS_EDIT] = "message.edited",
      [TURNS_MOVE] = "message.moved",
      [TURNS_CHAT_REQUEST] = "chat request",
      [TURNS_STARTED] = "turn.started",
      [TURNS_STARTED_OWN] = "turn.started without ids",
      [TURNS_DECLINED] = "turn.declined",
      [TURNS_FINISHED] = "turn.finished",
      [TURNS_ABORTED] = "turn.aborted",
      [TURNS_FAILED] = "turn.failed",
      [TURNS_RETRYING] = "turn.retrying",
      [TURNS_WAITING] = "turn.waiting",
      [TURNS_RESUME] = "turn.resume",
      [TURNS_STREAM_STARTED] = "stream.started",
      [TURNS_STREAM_FINISHED] = "stream.finished",
      [TURNS_TOOLS_STARTED] = "tools.started",
      [TURNS_TOOLS_FINISHED] = "tools.finished",
      [TURNS_TOOL_RESULT] = "tool result",
      [TURNS_OPENED] = "session.opened",
      [TURNS_COMPACTING] = "session.compacting",
      [TURNS_COMPACTED] = "session.compacted",
      [TURNS_CLOSED] = "session.closed",
      [TURNS_LOOK] = "wake",
      [TURNS_COMMITTED] = "committed",
      [TURNS_ROLLED_BACK] = "rolled back",
      [TURNS_RECOVERED] = "recovered",
      [TURNS_NOTIFICATION] = "notification",
      [TURNS_REDIRECT] = "message.redirected",
      [TURNS_REWOUND] = "session.rewound",
      [TURNS_STOP] = "turn.stop",
  };
  return names[event];
}

static void print_names(const struct move *move) {
  for (size_t i = 0; i < move->name_count; i++) {
    uint8_t what = move->names[i];
    if (what < MOST_MESSAGES) printf(" %.*s", SPAN_FORMAT(message_id(what)));
    else
      printf(" %s", what == NAME_SYSTEM       ? "the system turn"
                    : what == NAME_OLD_SYSTEM ? "an old system turn"
                                              : "an unknown id");
  }
}

void move_print(const struct move *move) {
  static const char *const kinds[] = {[MOVE_TOOL_RESULT] = "tool result",
                                      [MOVE_CHAT_REQUEST] = "chat request",
                                      [MOVE_ATTACH] = "a host's first word",
                                      [MOVE_CRASH] = "the host dies",
                                      [MOVE_ARRIVE] = "a notification is pushed",
                                      [MOVE_VANISH] = "the notification expires",
                                      [MOVE_FORWARD] = "time passes",
                                      [MOVE_BACK] = "the clock jumps back"};
  printf("#   ");
  switch (move->kind) {
  case MOVE_EVENT:
    printf("%s: %s%s%s", move->foreign ? "somebody else" : "host", event_name(move->event),
           move->steer ? " steer" : "", move->resume ? " resume" : "");
    break;
  case MOVE_SETTLE:
    printf("host: settle %d %s%s", move->carrier + 1, move->committed ? "committed" : "rolled back",
           move->listens ? "" : ", no reply");
    break;
  case MOVE_OPEN:
    printf("%s: session.resumed, deliveries%s%s", move->other_host ? "another host" : "host",
           move->carrier & 1 ? " 1" : "", move->carrier & 2 ? " 2" : "");
    break;
  case MOVE_REWIND:
    printf("host: session.rewound, deliveries%s%s", move->carrier & 1 ? " 1" : "",
           move->carrier & 2 ? " 2" : "");
    break;
  default: printf("%s", kinds[move->kind]);
  }
  print_names(move);
  printf("\n");
}
