/* SPDX-License-Identifier: MIT
 *
 * tests/model/laws.c: the invariants of the turn queue, as they can be said of one call of the
 * machine and of one state.
 */
#include "laws.h"

#include "witness.h"

static bool runs(unsigned state) {
  return state == RUN_BUSY || state == RUN_RETRYING || state == RUN_WAITING;
}

static bool turn_is_there(unsigned state) { return runs(state) || state == RUN_STARTING; }

/* -- of one call ------------------------------------------------------------------------------- */

/* Which of its states a message may leave for which. */
static bool may_become(const struct message *before, const struct message *after) {
  static const uint16_t allowed[MESSAGE_STATE_COUNT] = {
      [MESSAGE_QUEUED] = 1 << MESSAGE_OFFERED | 1 << MESSAGE_LEASED | 1 << MESSAGE_FIRED |
                         1 << MESSAGE_CANCELLED | 1 << MESSAGE_CLOSED,
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

/* Only then does what is queued wait for the running turn; and nothing else becomes of it. */
static bool is_redirected(const struct occurrence *o, size_t i) {
  return o->input->event == TURNS_REDIRECT && o->move->names[0] == i && o->input->steer &&
         o->before->messages[i].state == MESSAGE_QUEUED &&
         o->after->messages[i].state == MESSAGE_STEERING && turn_is_there(o->after->run.state);
}

static const char *law_of_redirection(const struct occurrence *o) {
  if (o->looked || o->code || o->input->event != TURNS_REDIRECT) return NULL;
  const struct message *before = &o->before->messages[o->move->names[0]],
                       *after = &o->after->messages[o->move->names[0]];
  bool steered = after->state == MESSAGE_STEERING;
  if (steered != (o->input->steer && turn_is_there(o->after->run.state)))
    return "a message waits where it was redirected to";
  if (before->place != after->place) return "a message that is redirected keeps its place";
  return NULL;
}

static const char *law_of_errors(const struct occurrence *o) {
  if (o->code && o->moved_on) return "an error changes nothing";
  if (o->unflagged) return "what changed is written";
  return NULL;
}

static const char *law_of_messages(const struct occurrence *o) {
  for (size_t i = 0; i < o->before->submitted; i++) {
    const struct message *before = &o->before->messages[i], *after = &o->after->messages[i];
    if (!may_become(before, after) && !is_redirected(o, i))
      return "a message goes from state to state as documented, and never fires twice";
    if (after->stamp_ms != before->stamp_ms) return "a message keeps its first queued_at";
    if (o->before->witness.shown & 1 << i && after->state != MESSAGE_FIRED)
      return "what is in the transcript does not come back";
  }
  if (o->after->submitted == o->before->submitted) return NULL;
  const struct message *added = &o->after->messages[o->before->submitted];
  if (o->input->now_ms > o->before->run.last_stamp_ms
          ? added->stamp_ms != o->input->now_ms
          : added->stamp_ms <= o->before->run.last_stamp_ms)
    return "queued_at grows in commit order, whatever the clock does";
  return NULL;
}

static bool newly_offered(const struct occurrence *o, size_t i) {
  return o->after->messages[i].state == MESSAGE_OFFERED &&
         (i >= o->before->submitted || o->before->messages[i].state != MESSAGE_OFFERED);
}

/* A batch is what was queued when the session became idle: what came during a settle delay is of
 * the next, if there is a batch. */
static bool too_late(const struct occurrence *o, size_t i) {
  const struct run *run = &o->before->run;
  bool coalescing = o->setup->settings.discipline == DISCIPLINE_COALESCING;
  if (!coalescing || !run->settling || o->after->messages[i].n <= run->settle_last) return false;
  for (size_t j = 0; j < o->after->submitted; j++) {
    if (newly_offered(o, j) && o->after->messages[j].n <= run->settle_last) return true;
  }
  return false;
}

static const char *law_of_order(const struct occurrence *o) {
  const uint8_t *order = o->after->witness.order;
  bool coalescing = o->setup->settings.discipline == DISCIPLINE_COALESCING, passed = false;
  size_t offered = 0;
  for (size_t i = 0; i < o->before->submitted;
       i++) { /* whoever has just come is last, and nobody moves in the same breath */
    if (newly_offered(o, order[i])) {
      if (passed) return "a later message never fires ahead of an earlier one";
      offered++;
    } else if (o->after->messages[order[i]].state == MESSAGE_QUEUED && !too_late(o, order[i])) {
      passed = true;
    }
  }
  if (o->after->submitted > o->before->submitted && newly_offered(o, o->before->submitted)) {
    if (passed) return "a later message never fires ahead of an earlier one";
    offered++;
  }
  if (offered && passed && coalescing)
    return "coalescing takes all that are queued at that instant";
  if (offered > 1 && !coalescing) return "serial takes one message a turn";
  return NULL;
}

static const char *law_of_offers(const struct occurrence *o) {
  const struct world *before = o->before, *after = o->after;
  bool any = false, system = after->run.system_turns != before->run.system_turns;
  for (size_t i = 0; i < after->submitted; i++) {
    if (!newly_offered(o, i)) continue;
    any = true;
    for (size_t j = 0; j < MOST_CARRIERS; j++) {
      if (after->carriers[j].out && after->carriers[j].sent & 1 << i)
        return "nothing is offered that a carrier has";
    }
    if (before->run.state == RUN_STARTING && o->input->event == TURNS_SUBMIT)
      return "what arrives after a drain is of the next batch";
  }
  if (!any && !system) return NULL;
  if (before->witness.declines) return "a host that declines is not asked again at once";
  if (after->run.state != RUN_STARTING) return "an offer reserves the turn in the same step";
  if (any && system) return "an offer is of messages or of the plugin's own";
  if (!o->input->owned) return "nothing is offered when nobody is attached";
  if (after->run.compacting) return "nothing is offered while the session is compacted";
  if (runs(before->run.state) &&
      !(o->input->event >= TURNS_FINISHED && o->input->event <= TURNS_ABORTED))
    return "one turn at a time";
  if (before->run.state == RUN_ERROR && o->input->event != TURNS_RESUME &&
      o->input->event != TURNS_SUBMIT)
    return "a failed turn pauses the drain";
  if (system && (!o->looked || before->item != ITEM_PENDING))
    return "the plugin's own turns start for something pending";
  for (size_t i = 0; system && i < after->submitted; i++) {
    if (after->messages[i].state == MESSAGE_QUEUED) return "urgency never jumps the queue";
  }
  return NULL;
}

static const char *law_of_actions(const struct occurrence *o) {
  const struct run *before = &o->before->run, *after = &o->after->run;
  if (!o->looked) return NULL;
  if (o->code || (before->state != after->state &&
                  !(before->state == RUN_IDLE && after->state == RUN_STARTING)))
    return "looking only ever offers";
  if ((o->result.offer || o->result.abort) && !o->input->answers)
    return "only the attached host is asked for anything";
  if (o->result.offer && o->before->witness.belief != HOST_RESTS)
    return "a host that runs or was asked is not asked to start a turn";
  if (o->result.offer && after->compacting)
    return "nothing is offered while the session is compacted";
  if (o->input->answers && after->state == RUN_STARTING && !after->told && !after->compacting)
    return "the attached host is told of an offer at once";
  if (!o->result.abort) return NULL;
  if (!o->setup->item_urgent || o->before->item != ITEM_PENDING)
    return "a stream is stopped for something urgent only";
  if (after->state != RUN_BUSY || after->phase != PHASE_STREAMING)
    return "only a stream is stopped";
  if (o->before->witness.aborted) return "a stream is stopped once a turn";
  if (after->compacting) return "nothing is stopped while the session is compacted";
  return NULL;
}

/* What is looked at in an idle session has a turn of its own offered, once, whatever became of a
 * message that it was to ride on. */
static const char *law_of_urgency(const struct occurrence *o) {
  const struct run *run = &o->after->run;
  bool asks = o->setup->item_asks && o->before->item == ITEM_PENDING && !o->before->witness.heard;
  bool may = run->state == RUN_IDLE && !run->compacting &&
             run->auto_turns < o->setup->settings.max_auto_turns;
  return o->looked && o->input->answers && asks && may
             ? "what asks for a turn does not rest in an idle session"
             : NULL;
}

/* Messages that come, go or move never touch a turn that is there. */
static const char *law_of_preemption(const struct occurrence *o) {
  const struct run *before = &o->before->run, *after = &o->after->run;
  enum turns_event event = o->input->event;
  if (o->looked || o->code || !event_is_of_messages(event) || !turn_is_there(before->state))
    return NULL;
  bool leaves =
      event == TURNS_CANCEL && o->before->messages[o->move->names[0]].state == MESSAGE_OFFERED;
  if (!leaves && (before->state != after->state || before->phase != after->phase ||
                  before->told != after->told))
    return "a message never preempts";
  for (size_t i = 0; i < o->before->submitted; i++) {
    bool itself = o->move->name_count && o->move->names[0] == i;
    if (!leaves && !itself && o->before->messages[i].state != o->after->messages[i].state)
      return "a message never preempts";
  }
  return NULL;
}

/* While compacting nothing goes onto a tool result. */
static const char *law_of_compaction(const struct occurrence *o) {
  for (size_t i = 0; i < o->before->submitted; i++) {
    bool steered = o->before->messages[i].state == MESSAGE_STEERING &&
                   o->input->event == TURNS_TOOL_RESULT &&
                   o->after->messages[i].state != MESSAGE_STEERING;
    if (steered && o->before->run.compacting)
      return "nothing is steered while the session is compacted";
  }
  return NULL;
}

static const char *law_of_the_table(const struct occurrence *o) {
  if (o->looked) return NULL;
  switch (witness_expects(o)) {
  case EFFECT_REFUSED: return o->code ? NULL : "the table refuses this event in this state";
  case EFFECT_NONE:
    return !o->code && !o->moved_on ? NULL
                                    : "the table says that this event has no effect in this state";
  case EFFECT_SOME: return o->code ? "the table allows this event in this state" : NULL;
  default: break;
  }
  bool edits = o->input->event == TURNS_CANCEL || o->input->event == TURNS_EDIT ||
               o->input->event == TURNS_REDIRECT ||
               (o->input->event == TURNS_MOVE && o->move->name_count < 2);
  if (!edits)
    return o->code && o->input->event != TURNS_MOVE ? "the table allows this event in every state"
                                                    : NULL;
  size_t index = o->move->names[0];
  int expected = TIDINGS_E_NOT_FOUND;
  if (index < o->before->submitted) {
    unsigned state = o->before->messages[index].state;
    bool waits = state == MESSAGE_QUEUED || state == MESSAGE_STEERING ||
                 (state == MESSAGE_OFFERED && o->input->event == TURNS_CANCEL);
    bool may_be_sent =
        (o->input->event == TURNS_EDIT || o->input->event == TURNS_REDIRECT) &&
        o->before->witness.turn & 1u << index; /* by a chat request, with the words that it had */
    expected = waits && !may_be_sent                                   ? 0
               : state == MESSAGE_CANCELLED || state == MESSAGE_CLOSED ? TIDINGS_E_NOT_FOUND
                                                                       : TIDINGS_E_FIRED;
  }
  return o->code == expected
             ? NULL
             : "what waits can be changed, what fired answers FIRED, what never was NOT_FOUND";
}

const char *laws_of_step(const struct occurrence *o) {
  static const char *(*const laws[])(const struct occurrence *) = {
      law_of_errors,  law_of_redirection, law_of_messages,   law_of_order,      law_of_offers,
      law_of_actions, law_of_urgency,     law_of_preemption, law_of_compaction, law_of_the_table};
  const char *broken = NULL;
  for (size_t i = 0; !broken && i < sizeof laws / sizeof *laws; i++) broken = laws[i](o);
  return broken;
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
  if (turn != world->witness.turn) return "the turn is of the messages that the host was asked for";
  if (run->state == RUN_STARTING ? !turn || (turn != offered && turn != SYSTEM_TURN) : offered != 0)
    return "an offer is of its messages only";
  if (!turn_is_there(run->state) && (turn || run->kind != TURN_OF_HOST))
    return "no turn, no messages of it";
  if (run->told && run->state != RUN_STARTING) return "told is said of offers";
  if ((run->started_ms != 0) != runs(run->state)) return "the status says since when the turn runs";
  if (run->compacting != world->witness.compacting)
    return "compacting lasts from its begin to its end";
  if (run->phase && run->state != RUN_BUSY) return "only a busy turn has a phase";
  if (!world->alive) return NULL;
  if ((world->witness.belief == HOST_RUNS) != runs(run->state))
    return "at most one turn runs, and the host and the plugin agree on it";
  if ((world->witness.belief == HOST_IS_ASKED) != (run->state == RUN_STARTING && run->told))
    return "an offer is out when the host was told";
  return NULL;
}

static const char *law_of_the_queue(const struct world *world) {
  const struct run *run = &world->run;
  bool steering = false, queued = false;
  for (size_t i = 0; i < world->submitted; i++) {
    const struct message *message = &world->messages[i];
    unsigned state = message->state;
    if (!state || state >= MESSAGE_STATE_COUNT || message->n != i + 1)
      return "each message is in one state";
    steering = steering || state == MESSAGE_STEERING;
    queued = queued || state == MESSAGE_QUEUED;
    if ((state == MESSAGE_QUEUED || state == MESSAGE_STEERING) && !message->waited)
      return "who waits has a queued_at";
    uint32_t carriers = 0;
    for (size_t j = 0; j < MOST_CARRIERS; j++)
      carriers += world->carriers[j].out && world->carriers[j].row & 1 << i;
    if (state == MESSAGE_LEASED && (!carriers || carriers != message->carriers))
      return "what is leased is on its carriers";
  }
  for (size_t i = 1; i < world->submitted; i++) {
    const struct message *left = &world->messages[world->witness.order[i - 1]],
                         *right = &world->messages[world->witness.order[i]];
    if (!message_is_over(left->state) && !message_is_over(right->state) &&
        left->place >= right->place)
      return "the queue is in the order of submitting and moving";
  }
  if (steering != run->steering || (steering && !turn_is_there(run->state)))
    return "only a turn can be steered into";
  if (run->settling && run->state != RUN_IDLE)
    return "only an idle session waits for a settle delay";
  bool rests = run->state == RUN_IDLE && queued && !run->settling && !run->compacting;
  if (rests && world->alive && !world->witness.excused)
    return "a queue does not rest without reason";
  return NULL;
}

const char *laws_of_state(const struct world *world, const struct setup *setup) {
  const struct run *run = &world->run;
  const char *broken = law_of_the_turn(world);
  if (!broken) broken = law_of_the_queue(world);
  if (broken) return broken;
  if (run->settling && !run->compacting && !turns_due_ms(run, &setup->settings))
    return "a settle delay has an end";
  if (run->auto_turns > setup->settings.max_auto_turns)
    return "turns of the plugin's own in a row are limited";
  if (run->abort_count > setup->settings.max_aborts) return "stopped streams are limited";
  return NULL;
}
