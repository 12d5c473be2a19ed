/* SPDX-License-Identifier: MIT
 */
#include "table.h"

#include <stdio.h>
#include <tidings/abi.h>

enum ids { IDS_NONE, IDS_TURN, IDS_PART, IDS_OTHER, IDS_RESUME, IDS_COUNT };
static const char *const ids_names[IDS_COUNT] = {"none", "turn", "part", "other", "resume"};

enum { ERROR_STATE = RUN_STATE_COUNT, ERROR_FIRED, ERROR_NOT_FOUND, ERROR_OTHER };

struct cell {
  uint16_t outcomes;     /* masks: run states, and errors */
  uint16_t messages;     /* states of the message that the event is about */
  uint8_t phases, kinds; /* of a busy session */
  bool changed;
};

static struct cell cells[TURNS_EVENT_COUNT][RUN_STATE_COUNT][2][IDS_COUNT];

static unsigned turn_of(const struct world *world) {
  unsigned mask = world->run.kind == TURN_OF_SYSTEM ? SYSTEM_TURN : 0;
  for (size_t i = 0; i < world->submitted; i++) mask |= (unsigned)world->messages[i].of_turn << i;
  return mask;
}

static enum ids ids_of(const struct world *world, const struct move *move) {
  unsigned named = 0, turn = turn_of(world);
  if (!move->name_count) return move->resume && world->alive ? IDS_RESUME : IDS_NONE;
  for (size_t i = 0; i < move->name_count; i++) {
    uint8_t name = move->names[i];
    if (name < MOST_MESSAGES) named |= 1u << name;
    else if (name == NAME_SYSTEM) named |= SYSTEM_TURN;
    else return IDS_OTHER;
  }
  if (named == turn) return IDS_TURN;
  return named & ~turn ? IDS_OTHER : IDS_PART;
}

/* Some cases are not in the cells but in the text: an offer that the host does not know of, and
 * messages that do not wait. */
static bool is_of_a_cell(const struct world *before, const struct move *move,
                         enum turns_event event) {
  if (before->run.state == RUN_STARTING && !before->run.offer_known && !event_is_of_messages(event))
    return false;
  if (event != TURNS_CANCEL && event != TURNS_REDIRECT) return true;
  if (move->names[0] >= before->submitted) return false;
  const struct message *message = &before->messages[move->names[0]];
  bool offered = event == TURNS_CANCEL && message->state == MESSAGE_OFFERED;
  bool waits = message->state == MESSAGE_QUEUED || message->state == MESSAGE_STEERING;
  return offered || (waits && !message->of_turn);
}

static unsigned outcome_of(int code, const struct world *after) {
  switch (code) {
  case 0: return after->run.state;
  case TIDINGS_E_STATE: return ERROR_STATE;
  case TIDINGS_E_FIRED: return ERROR_FIRED;
  case TIDINGS_E_NOT_FOUND: return ERROR_NOT_FOUND;
  default: return ERROR_OTHER;
  }
}

void table_record(const struct world *before, const struct move *move, enum turns_event event,
                  int code, const struct world *after, bool changed) {
  if (!is_of_a_cell(before, move, event)) return;
  bool about_message = event_is_of_messages(event);
  enum ids ids = about_message && move->name_count ? IDS_NONE : ids_of(before, move);
  struct cell *cell = &cells[event][before->run.state][move->steer][ids];
  cell->outcomes |= (uint16_t)(1u << outcome_of(code, after));
  if (!code && after->run.state == RUN_BUSY) {
    cell->phases |= (uint8_t)(1u << after->run.phase);
    cell->kinds |= (uint8_t)(1u << after->run.kind);
  }
  cell->changed = cell->changed || changed;
  if (!about_message || code) return;
  size_t index = event == TURNS_SUBMIT ? before->submitted : move->names[0];
  cell->messages |= (uint16_t)(1u << after->messages[index].state);
}

/* -- printing ---------------------------------------------------------------------------------- */

static const char *outcome_name(unsigned outcome) {
  static const char *const errors[] = {"STATE", "FIRED", "NOT_FOUND", "another error"};
  return outcome < RUN_STATE_COUNT ? run_state_name(outcome) : errors[outcome - RUN_STATE_COUNT];
}

static const char *phase_name(unsigned phase) {
  static const char *const names[PHASE_COUNT] = {"unknown", "streaming", "tools"};
  return phase < PHASE_COUNT ? names[phase] : "no phase";
}

static const char *kind_name(unsigned kind) { return kind == TURN_OF_HOST ? "own" : "offered"; }

static void print_mask(unsigned mask, const char *(*name)(unsigned)) {
  const char *before = "\t";
  for (unsigned i = 0; mask >> i; i++) {
    if (!(mask >> i & 1)) continue;
    printf("%s%s", before, name(i));
    before = ",";
  }
  if (!mask) printf("\t");
}

static void print_cell(enum turns_event event, unsigned state, unsigned steer, unsigned ids) {
  const struct cell *cell = &cells[event][state][steer][ids];
  if (!cell->outcomes && ids) return; /* impossible; but ids 0 is met in each state */
  printf("%s%s\t%s\t%s", event_name(event), steer ? ", steer" : "", run_state_name(state),
         ids_names[ids]);
  print_mask(cell->outcomes, outcome_name);
  print_mask(cell->messages, message_state_name);
  print_mask(cell->phases, phase_name);
  print_mask(cell->kinds, kind_name);
  printf("\t%s\n", cell->changed ? "changed" : "");
}

void table_print(void) {
  for (unsigned event = 0; event < TURNS_EVENT_COUNT; event++) {
    bool steers = event == TURNS_SUBMIT || event == TURNS_REDIRECT;
    for (unsigned i = 0; event_name(event) && i < RUN_STATE_COUNT * (steers ? 2 : 1); i++)
      for (unsigned ids = 0; ids < IDS_COUNT; ids++)
        print_cell(event, i % RUN_STATE_COUNT, i / RUN_STATE_COUNT, ids);
  }
}
