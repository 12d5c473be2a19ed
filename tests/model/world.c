/* SPDX-License-Identifier: MIT
 */
#include "world.h"

#include <assert.h>
#include <stdio.h>

struct tidings_span message_id(size_t index) {
  static const char *const ids[MOST_MESSAGES] = {"m1", "m2", "m3"};
  return span_of(ids[index], 2);
}

void world_begin(struct world *world, const struct setup *setup) {
  memset(world, 0, sizeof *world);
  world->alive = world->known = true;
  world->now_ms = NOW_MS;
  world_canonical(world, setup);
}

/* -- canonical form ---------------------------------------------------------------------------- */

static bool is_over(const struct message *message) {
  return message_is_over(message->state) && !message->of_turn && !message->orphaned;
}

static int64_t clamp(int64_t value, int64_t most) {
  return value > most ? most : value < -most ? -most : value;
}

/* Only the distances of times matter: before, within or after a tick. */
static void canonical_times(struct world *world) {
  struct run *run = &world->run;
  int64_t now_ms = world->now_ms;
  if (run->settling) run->settle_since_ms = NOW_MS + clamp(run->settle_since_ms - now_ms, TICK_MS);
  run->started_ms = run->started_ms ? NOW_MS : 0;
  for (uint32_t i = 0; i < run->abort_count; i++)
    run->aborts_ms[i] = NOW_MS + clamp(run->aborts_ms[i] - now_ms, TICK_MS);
  if (run->last_message)
    run->last_stamp_ms = run->last_stamp_ms < now_ms ? NOW_MS - TICK_MS : NOW_MS;
  for (size_t i = 0; i < world->submitted; i++)
    world->messages[i].stamp_ms = run->last_stamp_ms - (int64_t)(world->submitted - 1 - i);
  world->now_ms = NOW_MS;
}

void world_order(struct world *world) {
  for (size_t i = 0; i < world->submitted; i++) {
    size_t at = i;
    for (; at && world->messages[world->order[at - 1]].place > world->messages[i].place; at--)
      world->order[at] = world->order[at - 1];
    world->order[at] = (uint8_t)i;
  }
}

/* The messages that are over come first: nothing is ever moved before them. */
static void canonical_places(struct world *world, const struct setup *setup) {
  uint64_t gap = setup->tight ? 1 : 1 << 20, place = 0;
  uint8_t order[MOST_MESSAGES] = {0};
  size_t count = 0;
  world_order(world);
  for (size_t i = 0; i < world->submitted; i++) {
    if (is_over(&world->messages[i])) order[count++] = (uint8_t)i;
  }
  for (size_t i = 0; i < world->submitted; i++) {
    uint8_t index = world->order[i];
    if (!is_over(&world->messages[index])) order[count++] = index;
  }
  memcpy(world->order, order, sizeof order);
  for (size_t i = 0; i < count; i++) world->messages[order[i]].place = place += gap;
  world->run.last_place = place;
}

/* Stands for every settled carrier; no carrier has this number. */
enum { OLD_CARRIER = MOST_CARRIERS + 1 };

static void canonical_carriers(struct world *world) {
  struct carrier *carriers = world->carriers;
  bool moves = carriers[1].out && !carriers[0].out;
  for (size_t i = 0; i < world->submitted; i++) {
    struct message *message = &world->messages[i];
    uint64_t on = message->delivery;
    bool leased = message->state == MESSAGE_LEASED;
    if (!leased) message->carriers = 0;
    if (on)
      message->delivery =
          leased && on <= MOST_CARRIERS && carriers[on - 1].out ? (moves ? 1 : on) : OLD_CARRIER;
  }
  if (moves) {
    carriers[0] = carriers[1];
    carriers[1] = (struct carrier){0};
  }
}

static void canonical_messages(struct world *world) {
  for (size_t i = 0; i < world->submitted; i++) {
    struct message *message = &world->messages[i];
    message->changed = message->named = message->fresh = false;
    if (!is_over(message)) continue;
    message->delivery = 0;
    message->waited = message->steer = false;
  }
}

static void canonical_counters(struct world *world) {
  struct run *run = &world->run;
  uint64_t most = run->kind == TURN_OF_SYSTEM ? 2 : 1; /* this one, and one that is over */
  if (run->system_turns > most) run->system_turns = most;
  run->newest_asking = world->item != ITEM_NONE && run->newest_asking;
  run->system_item = 0;
  run->orphaned = run->orphaned != 0;
  run->first_message = 0;
  run->attempt = 0;
  run->words = span_of(NULL, 0);
}

void world_canonical(struct world *world, const struct setup *setup) {
  canonical_times(world);
  canonical_messages(world);
  canonical_carriers(world);
  canonical_places(world, setup);
  canonical_counters(world);
}

/* -- packed ------------------------------------------------------------------------------------ */

struct tape {
  uint8_t *at;
  bool reading;
};

static uint64_t pass(struct tape *tape, uint64_t value) {
  assert(tape->reading || value < 256);
  if (!tape->reading) *tape->at = (uint8_t)value;
  return *tape->at++;
}

#define PASS(field) (field) = (__typeof__(field))pass(tape, (uint64_t)(field))
/* A time is packed as the number of ticks since this one, because a packed number has one byte. */
static const int64_t earliest_ms = NOW_MS - (int64_t)128 * TICK_MS;
#define PASS_TIME(field)                                                                           \
  ((field) = (int64_t)pass(tape, (uint64_t)((field)-earliest_ms) / TICK_MS) * TICK_MS + earliest_ms)

static void pass_run(struct tape *tape, struct run *run) {
  PASS(run->state);
  PASS(run->phase);
  PASS(run->kind);
  PASS(run->offer_known);
  PASS(run->aborted);
  PASS(run->stop);
  PASS(run->compacting);
  PASS(run->steering);
  PASS(run->settling);
  if (run->settling) PASS_TIME(run->settle_since_ms);
  PASS(run->settle_last);
  PASS(run->system_turns);
  PASS(run->orphaned);
  PASS(run->auto_turns);
  PASS(run->newest_asking);
  run->started_ms = (int64_t)pass(tape, run->started_ms != 0) * NOW_MS;
  PASS(run->abort_count);
  for (uint32_t i = 0; i < run->abort_count; i++) PASS_TIME(run->aborts_ms[i]);
  PASS(run->last_message);
  if (run->last_message) PASS_TIME(run->last_stamp_ms);
}

static void pass_message(struct tape *tape, struct message *message) {
  PASS(message->n);
  PASS(message->state);
  PASS(message->delivery);
  PASS(message->carriers);
  PASS(message->steer);
  PASS(message->waited);
  PASS(message->of_turn);
  PASS(message->orphaned);
}

static void pass_world(struct tape *tape, struct world *world) {
  pass_run(tape, &world->run);
  PASS(world->submitted);
  for (size_t i = 0; i < world->submitted; i++) pass_message(tape, &world->messages[i]);
  for (size_t i = 0; i < world->submitted; i++) {
    PASS(world->order[i]);
    world->messages[world->order[i]].place = i + 1;
  }
  for (size_t i = 0; i < MOST_CARRIERS; i++) {
    PASS(world->carriers[i].out);
    if (!world->carriers[i].out) continue;
    PASS(world->carriers[i].item);
    PASS(world->carriers[i].row);
    PASS(world->carriers[i].sent);
  }
  PASS(world->item);
  PASS(world->alive);
  PASS(world->known);
}

void world_pack(const struct world *world, struct packed *ret_packed) {
  struct world copy = *world;
  struct tape tape = {.at = ret_packed->bytes};
  memset(ret_packed, 0, sizeof *ret_packed);
  pass_world(&tape, &copy);
  assert((size_t)(tape.at - ret_packed->bytes) <= PACKED_BYTES);
}

void world_unpack(const struct packed *packed, const struct setup *setup, struct world *ret_world) {
  struct packed copy = *packed;
  struct tape tape = {.at = copy.bytes, .reading = true};
  memset(ret_world, 0, sizeof *ret_world);
  pass_world(&tape, ret_world);
  assert(ret_world->submitted <= MOST_MESSAGES);
  for (size_t i = 0; i < ret_world->submitted; i++) ret_world->messages[i].id = message_id(i);
  ret_world->now_ms = NOW_MS;
  world_canonical(ret_world, setup);
}

/* -- in words ---------------------------------------------------------------------------------- */

void world_print(const struct world *world) {
  const struct run *run = &world->run;
  printf("#      %s phase %d kind %d%s%s%s%s%s%s", run_state_name(run->state), run->phase,
         run->kind, run->offer_known ? " offer_known" : "", run->aborted ? " aborted" : "",
         run->stop == STOP_ASKED ? " stop asked"
         : run->stop             ? " stop given"
                                 : "",
         run->compacting ? " compacting" : "", run->settling ? " settling" : "",
         world->alive ? "" : " (no host)");
  for (size_t i = 0; i < world->submitted; i++) {
    const struct message *message = &world->messages[world->order[i]];
    printf(" | %.*s %s", SPAN_FORMAT(message->id), message_state_name(message->state));
    if (message->state == MESSAGE_LEASED) printf(" on %d", (int)message->delivery);
    printf("%s%s%s", message->steer ? " steer" : "", message->of_turn ? " of turn" : "",
           message->orphaned ? " orphaned" : "");
  }
  printf(" | item %s\n", world->item == ITEM_NONE      ? "-"
                         : world->item == ITEM_PENDING ? "pending"
                                                       : "leased");
}
