/* SPDX-License-Identifier: MIT
 *
 * tests/model/laws.c: the invariants of the turn queue. No single rule states them, but the rules
 * together must keep them. The oracle checks the rules themselves.
 */
#include "laws.h"

static bool runs(unsigned state) {
  return state == RUN_BUSY || state == RUN_RETRYING || state == RUN_WAITING;
}

static bool turn_is_there(unsigned state) { return runs(state) || state == RUN_STARTING; }

/* -- of one call ------------------------------------------------------------------------------- */

/* May a message change from its state before to its state after? */
static bool may_become(const struct message *before, const struct message *after) {
  static const uint16_t allowed[MESSAGE_STATE_COUNT] = {
      [MESSAGE_QUEUED] = 1 << MESSAGE_STEERING | 1 << MESSAGE_OFFERED | 1 << MESSAGE_LEASED |
                         1 << MESSAGE_FIRED | 1 << MESSAGE_CANCELLED | 1 << MESSAGE_CLOSED,
      [MESSAGE_STEERING] = 1 << MESSAGE_QUEUED | 1 << MESSAGE_OFFERED | 1 << MESSAGE_LEASED |
                           1 << MESSAGE_FIRED | 1 << MESSAGE_CANCELLED | 1 << MESSAGE_CLOSED,
      [MESSAGE_OFFERED] = 1 << MESSAGE_QUEUED | 1 << MESSAGE_LEASED | 1 << MESSAGE_FIRED |
                          1 << MESSAGE_CANCELLED | 1 << MESSAGE_CLOSED,
      [MESSAGE_LEASED] = 1 << MESSAGE_QUEUED | 1 << MESSAGE_STEERING | 1 << MESSAGE_OFFERED |
                         1 << MESSAGE_FIRED | 1 << MESSAGE_CLOSED,
      [MESSAGE_FIRED] = 1 << MESSAGE_LEASED, /* started, then taken onto its carrier */
  };
  if (before->state == after->state) return true;
  if (before->state == MESSAGE_FIRED && (!before->of_turn || before->delivery)) return false;
  return allowed[before->state] & 1 << after->state;
}

static const char *law_of_errors(const struct occurrence *o) {
  if (o->code && o->moved_on) return "an error changes nothing";
  if (o->unflagged) return "what changed is written";
  return NULL;
}

static const char *law_of_messages(const struct occurrence *o) {
  for (size_t i = 0; i < o->before->submitted; i++) {
    const struct message *before = &o->before->messages[i], *after = &o->after->messages[i];
    if (!may_become(before, after))
      return "a message goes from state to state as documented, and never fires twice";
    if (after->stamp_ms != before->stamp_ms) return "a message keeps its first queued_at";
  }
  return NULL;
}

const char *laws_of_step(const struct occurrence *o) {
  const char *broken = law_of_errors(o);
  return broken ? broken : law_of_messages(o);
}

/* -- of a state -------------------------------------------------------------------------------- */

static const char *law_of_the_turn(const struct world *world) {
  const struct run *run = &world->run;
  unsigned turn = run->kind == TURN_OF_SYSTEM ? SYSTEM_TURN : 0, offered = 0;
  for (size_t i = 0; i < world->submitted; i++) {
    turn |= world->messages[i].of_turn ? 1u << i : 0;
    offered |= world->messages[i].state == MESSAGE_OFFERED ? 1u << i : 0;
    if (world->messages[i].orphaned &&
        (runs(run->state) || world->messages[i].state != MESSAGE_FIRED))
      return "orphaned is what had fired, until the next turn starts";
  }
  if (run->orphaned && runs(run->state))
    return "orphaned is what had fired, until the next turn starts";
  if (run->state == RUN_STARTING ? !turn || (turn != offered && turn != SYSTEM_TURN) : offered != 0)
    return "an offer is of its messages only";
  if (!turn_is_there(run->state) && (turn || run->kind != TURN_OF_HOST))
    return "no turn, no messages of it";
  if (run->offer_known && run->state != RUN_STARTING) return "offer_known is said of offers";
  if ((run->started_ms != 0) != runs(run->state)) return "the status says since when the turn runs";
  if (run->stop && !turn_is_there(run->state)) return "only a turn can be asked to end";
  if (run->stop == STOP_GIVEN && !runs(run->state)) return "only a turn that runs is told to end";
  if (run->phase && run->state != RUN_BUSY) return "only a busy turn has a phase";
  return NULL;
}

static const char *law_of_the_queue(const struct world *world) {
  const struct run *run = &world->run;
  bool steering = false;
  for (size_t i = 0; i < world->submitted; i++) {
    const struct message *message = &world->messages[i];
    unsigned state = message->state;
    if (!state || state >= MESSAGE_STATE_COUNT || message->n != i + 1)
      return "each message is in one state";
    steering = steering || state == MESSAGE_STEERING;
    if ((state == MESSAGE_QUEUED || state == MESSAGE_STEERING) && !message->waited)
      return "who waits has a queued_at";
    uint32_t carriers = 0;
    for (size_t j = 0; j < MOST_CARRIERS; j++)
      carriers += world->carriers[j].out && world->carriers[j].row & 1 << i;
    if (state == MESSAGE_LEASED && (!carriers || carriers != message->carriers))
      return "what is leased is on its carriers";
  }
  if (steering != run->steering || (steering && !turn_is_there(run->state)))
    return "only a turn can be steered into";
  if (run->settling && run->state != RUN_IDLE)
    return "only an idle session waits for a settle delay";
  return NULL;
}

const char *laws_of_state(const struct world *world, const struct setup *setup) {
  const struct run *run = &world->run;
  const char *broken = law_of_the_turn(world);
  if (!broken) broken = law_of_the_queue(world);
  if (broken) return broken;
  const struct turns turns = {.run = *run};
  if (run->settling && !run->compacting && !turns_due_ms(&turns, &setup->settings))
    return "a settle delay has an end";
  if (run->auto_turns > setup->settings.max_auto_turns)
    return "turns of the plugin's own in a row are limited";
  if (run->abort_count > setup->settings.max_aborts) return "stopped streams are limited";
  return NULL;
}
