/* SPDX-License-Identifier: MIT
 *
 * tests/model/witness.c: see witness.h.
 */
#include "witness.h"

static bool host_has_turn(const struct world *world) {
  return world->run.state != RUN_IDLE && world->run.state != RUN_ERROR;
}

/* -- names ------------------------------------------------------------------------------------- */

enum meant witness_reads(const struct world *world, const struct move *move) {
  unsigned turn = world->witness.turn, named = 0;
  bool all_ended = true, all_current = true;
  if (!move->name_count) return MEANT_BY_NONE;
  for (size_t i = 0; i < move->name_count; i++) {
    uint8_t what = move->names[i];
    bool current = false, ended = false;
    if (what < MOST_MESSAGES && what < world->submitted) {
      const struct message *message = &world->messages[what];
      current = turn & 1u << what;
      ended = !current && (message->state == MESSAGE_FIRED || message->state == MESSAGE_LEASED);
      named |= 1u << what;
    } else if (what == NAME_SYSTEM) {
      current = turn & SYSTEM_TURN;
      ended = !current && world->run.system_turns;
      named |= SYSTEM_TURN;
    } else if (what == NAME_OLD_SYSTEM) {
      ended = world->run.system_turns > 1;
    }
    all_ended = all_ended && ended;
    all_current = all_current && current;
  }
  if (all_ended) return MEANT_ENDED;
  if (!all_current) return MEANT_OTHER;
  return named == turn ? MEANT_TURN : MEANT_PART;
}

/* -- the table --------------------------------------------------------------------------------- */

/* What was taken back is not sent again; that its turn runs may be said. */
static bool sends_cancelled(const struct occurrence *occurrence) {
  const struct world *world = occurrence->before;
  if (occurrence->input->event != TURNS_CHAT_REQUEST) return false;
  for (size_t i = 0; i < world->submitted; i++) {
    if (world->witness.turn & 1u << i && world->messages[i].state == MESSAGE_CANCELLED) return true;
  }
  return false;
}

static enum effect expects_start(const struct occurrence *occurrence) {
  const struct world *world = occurrence->before;
  if (!host_has_turn(world)) return EFFECT_REFUSED;
  if (occurrence->meant == MEANT_TURN)
    return sends_cancelled(occurrence) ? EFFECT_REFUSED : EFFECT_SOME;
  return world->run.state == RUN_STARTING && occurrence->meant == MEANT_PART ? EFFECT_SOME
                                                                             : EFFECT_REFUSED;
}

static enum effect expects_end(enum turns_event event, enum run_state state, bool told,
                               bool named) {
  bool runs = state == RUN_BUSY || state == RUN_RETRYING || state == RUN_WAITING;
  switch (event) {
  case TURNS_DECLINED:
    return state == RUN_STARTING ? EFFECT_SOME : runs ? EFFECT_REFUSED : EFFECT_NONE;
  case TURNS_FINISHED:
  case TURNS_ABORTED:
    if (state == RUN_STARTING) return named ? EFFECT_SOME : told ? EFFECT_REFUSED : EFFECT_NONE;
    return runs ? EFFECT_SOME : EFFECT_NONE;
  case TURNS_FAILED: return runs || state == RUN_STARTING ? EFFECT_SOME : EFFECT_NONE;
  default: return runs ? EFFECT_SOME : EFFECT_REFUSED; /* retrying, waiting */
  }
}

enum effect witness_expects(const struct occurrence *occurrence) {
  enum turns_event event = occurrence->input->event;
  const struct run *run = &occurrence->before->run;
  switch (event) {
  case TURNS_REWOUND: /* of items of which none comes back */
    return run->state == RUN_BUSY || run->state == RUN_RETRYING || run->state == RUN_WAITING
               ? EFFECT_REFUSED
               : EFFECT_NONE;
  case TURNS_CHAT_REQUEST:
  case TURNS_STARTED: return expects_start(occurrence);
  case TURNS_DECLINED:
  case TURNS_FINISHED:
  case TURNS_ABORTED:
  case TURNS_FAILED:
  case TURNS_RETRYING:
  case TURNS_WAITING:
    if (occurrence->meant == MEANT_ENDED) return EFFECT_NONE;
    if (occurrence->meant == MEANT_PART || occurrence->meant == MEANT_OTHER) return EFFECT_REFUSED;
    return expects_end(event, run->state, run->told, occurrence->meant == MEANT_TURN);
  default: return EFFECT_ANY;
  }
}

/* -- what it makes of it ----------------------------------------------------------------------- */

static void rests(struct witness *witness) {
  witness->belief = HOST_RESTS;
  witness->turn = 0;
  witness->aborted = false;
}

static void runs(struct witness *witness, unsigned turn) {
  witness->belief = HOST_RUNS;
  witness->turn = (uint8_t)turn;
}

static void begins(struct witness *witness, unsigned turn) {
  runs(witness, turn);
  witness->aborted = false;
}

static unsigned names_mask(const struct move *move) {
  unsigned mask = 0;
  for (size_t i = 0; i < move->name_count; i++)
    mask |= move->names[i] < MOST_MESSAGES ? 1u << move->names[i] : SYSTEM_TURN;
  return mask;
}

static void take_out(struct witness *witness, size_t count, uint8_t index) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    if (witness->order[i] != index) witness->order[at++] = witness->order[i];
  }
}

static void sees_move(const struct occurrence *occurrence, struct witness *witness) {
  const struct move *move = occurrence->move;
  size_t count = occurrence->after->submitted, at = count - 1;
  if (move->name_count == 2 && move->names[0] == move->names[1]) return;
  take_out(witness, count, move->names[0]);
  if (move->name_count == 2) {
    for (at = 0; witness->order[at] != move->names[1];) at++;
    memmove(&witness->order[at + 1], &witness->order[at], count - 1 - at);
  }
  witness->order[at] = move->names[0];
}

static void sees_cancel(const struct occurrence *occurrence, struct witness *witness) {
  uint8_t index = occurrence->move->names[0];
  if (occurrence->before->messages[index].state != MESSAGE_OFFERED) return;
  witness->turn &= (uint8_t) ~(1u << index);
  if (!witness->turn) rests(witness);
}

/* A word of the host's that says that something runs, but not what. */
static void sees_life(const struct occurrence *occurrence, struct witness *witness) {
  enum turns_event event = occurrence->input->event;
  bool asked = witness->belief == HOST_IS_ASKED;
  switch (occurrence->before->run.state) {
  case RUN_STARTING:
    if (asked && event != TURNS_STARTED_OWN) begins(witness, witness->turn);
    else if (event != TURNS_TOOL_RESULT) begins(witness, 0);
    break;
  case RUN_IDLE:
  case RUN_ERROR:
    if (event != TURNS_TOOL_RESULT) begins(witness, 0);
    break;
  default: runs(witness, witness->turn);
  }
}

static void sees_event(const struct occurrence *occurrence, struct witness *witness) {
  const struct world *before = occurrence->before;
  switch (occurrence->input->event) {
  case TURNS_SUBMIT: witness->order[before->submitted] = (uint8_t)before->submitted; break;
  case TURNS_MOVE: sees_move(occurrence, witness); break;
  case TURNS_CANCEL: sees_cancel(occurrence, witness); break;
  case TURNS_CHAT_REQUEST:
  case TURNS_STARTED:
    if (before->run.state == RUN_STARTING)
      begins(witness, witness->turn & names_mask(occurrence->move));
    else runs(witness, witness->turn);
    break;
  case TURNS_STARTED_OWN:
  case TURNS_STREAM_STARTED:
  case TURNS_STREAM_FINISHED:
  case TURNS_TOOLS_STARTED:
  case TURNS_TOOLS_FINISHED:
  case TURNS_TOOL_RESULT: sees_life(occurrence, witness); break;
  case TURNS_DECLINED:
    witness->declines = before->run.state == RUN_STARTING;
    witness->excused = witness->excused || witness->declines;
    witness->heard = witness->heard || (witness->declines && before->item != ITEM_NONE);
    __attribute__((fallthrough));
  case TURNS_FINISHED:
  case TURNS_ABORTED:
  case TURNS_FAILED:
    if (occurrence->input->event == TURNS_FAILED)
      witness->heard = false; /* after turn.resume it asks again */
    if (before->run.state != RUN_IDLE && before->run.state != RUN_ERROR) rests(witness);
    break;
  case TURNS_COMPACTING: witness->compacting = true; break;
  case TURNS_COMPACTED: witness->compacting = false; break;
  case TURNS_CLOSED:
    rests(witness);
    witness->compacting = false;
    break;
  case TURNS_ROLLED_BACK: witness->heard = false; break;
  case TURNS_RECOVERED:
    rests(witness);
    witness->heard = false;
    witness->compacting = false;
    witness->excused = true; /* until the session is opened, which offers */
    break;
  default: break;
  }
}

void witness_sees(const struct occurrence *occurrence, struct witness *witness) {
  const struct world *before = occurrence->before, *after = occurrence->after;
  if (occurrence->code) return;
  if (!occurrence->looked && witness_expects(occurrence) != EFFECT_NONE)
    sees_event(occurrence, witness);
  unsigned offered = 0;
  for (size_t i = 0; i < after->submitted; i++) {
    if (after->messages[i].state == MESSAGE_OFFERED &&
        (i >= before->submitted || before->messages[i].state != MESSAGE_OFFERED))
      offered |= 1u << i;
  }
  if (after->run.kind == TURN_OF_SYSTEM && after->run.system_turns != before->run.system_turns)
    offered |= SYSTEM_TURN;
  if (offered & SYSTEM_TURN) witness->heard = true;
  if (offered) {
    witness->turn = (uint8_t)offered;
    witness->excused = false;
  }
  if (occurrence->result.offer) witness->belief = HOST_IS_ASKED;
  if (occurrence->result.abort) witness->aborted = true;
}
