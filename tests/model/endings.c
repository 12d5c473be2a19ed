/* SPDX-License-Identifier: MIT
 */
#include "endings.h"

enum { PATIENCE = 12 * (MOST_MESSAGES + 2) };

static bool anything_queued(const struct world *world) {
  for (size_t i = 0; i < world->submitted; i++) {
    if (world->messages[i].state == MESSAGE_QUEUED) return true;
  }
  return false;
}

static struct move event(enum turns_event event) { return (struct move){.event = (uint8_t)event}; }

static struct move chat_request(const struct world *world) {
  struct move move = {.kind = MOVE_CHAT_REQUEST};
  if (world->run.kind == TURN_OF_SYSTEM) move.names[move.name_count++] = NAME_SYSTEM;
  for (size_t i = 0; i < world->submitted; i++) {
    if (world->messages[i].state == MESSAGE_OFFERED) move.names[move.name_count++] = (uint8_t)i;
  }
  return move;
}

/* Chooses the next move of a host that only continues. False: nothing is left to do. */
static bool choose(const struct world *world, const struct setup *setup, struct move *ret_move) {
  const struct run *run = &world->run;
  if (!world->alive) {
    *ret_move = (struct move){.kind = MOVE_OPEN, .other_host = true};
  } else if (run->compacting) {
    *ret_move = event(TURNS_COMPACTED);
  } else if (world->carriers[0].out) {
    *ret_move = (struct move){.kind = MOVE_SETTLE, .committed = true, .listens = true};
  } else if (run->state == RUN_STARTING) {
    *ret_move = run->offer_known ? chat_request(world) : event(TURNS_LOOK);
  } else if (run->state == RUN_IDLE || run->state == RUN_ERROR) {
    bool waits = run->settling &&
                 world->now_ms - run->settle_since_ms < (int64_t)setup->settings.settle_delay_ms;
    if (!anything_queued(world)) return false;
    if (waits) *ret_move = (struct move){.kind = MOVE_FORWARD};
    else *ret_move = event(run->settling ? TURNS_LOOK : TURNS_RESUME);
  } else {
    *ret_move = event(TURNS_FINISHED);
  }
  return true;
}

const char *ending_reached(const struct world *world, const struct setup *setup,
                           size_t *ret_steps) {
  struct world at = *world;
  struct move move;
  size_t steps = 0;
  for (; choose(&at, setup, &move); steps++) {
    if (steps == PATIENCE) return "whoever goes on comes to the end of the queue";
    const char *broken = play(&at, setup, &move);
    if (broken) return broken;
    world_canonical(&at, setup);
  }
  for (size_t i = 0; i < at.submitted; i++) {
    if (!message_is_over(at.messages[i].state)) return "no message is lost";
  }
  *ret_steps = steps;
  return NULL;
}
