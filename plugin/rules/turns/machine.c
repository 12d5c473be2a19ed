/* SPDX-License-Identifier: MIT
 *
 * rules/turns/machine.c: the run-state machine: the table of docs/turns.md, cell by cell, and the
 * checks after every event.
 */
#include "rules/turns/carriers.h"
#include "rules/turns/internal.h"

/* -- cells ------------------------------------------------------------------------------------- */

static int no_effect(struct step *step) {
  (void)step;
  return 0;
}

enum about { ABOUT_THIS_TURN, ABOUT_ANOTHER };

/* Is the event about the turn that is offered or runs? Yes, also if it names none. No, if it is
 * about one that is over. Anything else is an error. */
static int find_turn(struct step *step, enum about *ret_about) {
  enum meaning meaning = step->input->named_count ? turns_meaning_of_names(step) : MEANS_TURN;
  if (meaning != MEANS_TURN && meaning != MEANS_ENDED) return turns_refuse_other_turn(step);
  *ret_about = meaning == MEANS_TURN ? ABOUT_THIS_TURN : ABOUT_ANOTHER;
  return 0;
}

/* No turn can have this event in this state. If the event names a turn that is over, it does
 * nothing. */
static int is_refused(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  bool declined = step->input->event == TURNS_DECLINED;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER) return code;
  return turns_refuse_state(step, declined ? "an offer that has not started" : "a turn that runs");
}

/* Does nothing but check the names. */
static int is_over(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  return find_turn(step, &about);
}

/* -- chat request, turn.started: naming messages */

static int refuse_start(struct step *step) {
  (void)turns_meaning_of_names(step);
  return turns_refuse_names(step);
}

static int start_named(struct step *step) {
  enum meaning meaning = turns_meaning_of_names(step);
  if (meaning != MEANS_TURN && meaning != MEANS_PART) return turns_refuse_names(step);
  turns_start_offer(step, false);
  if (step->input->event == TURNS_CHAT_REQUEST) turns_lease_turn(step);
  return 0;
}

/* A message that was cancelled after its carrier had failed is not sent again. */
static int send_again(struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    const struct message *message = &step->turns->messages[i];
    if (message->of_turn && message->state == MESSAGE_CANCELLED)
      return turns_refuse_waiting(message, message->id, "sent again", step->error);
  }
  turns_lease_turn(step);
  return 0;
}

static int same_turn(struct step *step) {
  if (turns_meaning_of_names(step) != MEANS_TURN) return turns_refuse_other_turn(step);
  return step->input->event == TURNS_CHAT_REQUEST ? send_again(step) : 0;
}

static void go_on(struct step *step) {
  step->run->state = RUN_BUSY;
  step->run->phase = PHASE_UNKNOWN;
  step->run->attempt = 0;
  step->run->words = span_of(NULL, 0);
}

static int same_turn_goes_on(struct step *step) {
  int code = same_turn(step);
  if (!code) go_on(step);
  return code;
}

/* -- turn.started without names, stream.*, tools.*, tool result */

static enum run_phase phase_of(enum turns_event event) {
  if (event == TURNS_STREAM_STARTED) return PHASE_STREAMING;
  return event == TURNS_TOOLS_STARTED || event == TURNS_TOOL_RESULT ? PHASE_TOOLS : PHASE_UNKNOWN;
}

static int own_turn(struct step *step) {
  turns_withdraw_offer(step);
  step->run->stop = STOP_NONE; /* it was meant for the offer */
  turns_start_turn(step, TURN_OF_HOST);
  if (step->input->event == TURNS_STARTED_OWN)
    step->run->auto_turns = 0; /* surely a turn of its own, not a late report */
  step->run->phase = (uint8_t)phase_of(step->input->event);
  return 0;
}

/* The host has begun with the offer, or with a turn of its own if it has not received the offer. */
static int offer_runs(struct step *step) {
  if (!step->run->offer_known) return own_turn(step);
  turns_start_offer(step, true);
  step->run->phase = (uint8_t)phase_of(step->input->event);
  return 0;
}

static int change_phase(struct step *step) {
  step->run->phase = (uint8_t)phase_of(step->input->event);
  return 0;
}

static int turn_goes_on(struct step *step) {
  go_on(step);
  return change_phase(step);
}

/* A tool result says nothing of an offer that the host has not received. */
static int result_of_offer(struct step *step) {
  int code = step->run->offer_known ? offer_runs(step) : 0;
  if (!code) turns_lease_steering(step);
  return code;
}

static int result_in_turn(struct step *step) {
  turn_goes_on(step);
  turns_lease_steering(step);
  return 0;
}

/* -- how a turn ends */

static int decline(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER) return code;
  turns_withdraw_offer(step);
  turns_end_turn(step);
  step->run->state = RUN_IDLE;
  turns_note_asking(step, step->input->last_item);
  return 0;
}

/* If the event is older than the turn, it ended an earlier turn. */
static bool is_older_than_turn(const struct step *step) {
  return step->input->at_ms && step->input->at_ms < step->run->started_ms;
}

static int finish(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER || is_older_than_turn(step)) return code;
  turns_end_turn(step);
  step->run->state = RUN_IDLE;
  turns_drain(step);
  return 0;
}

/* The turn started and ended without a report in between; or, if the host has not received the
 * offer, a turn of its own has ended. */
static int finish_offer(struct step *step) {
  if (!step->input->named_count && !step->run->offer_known) return 0;
  if (!step->input->named_count)
    return turns_refuse_state(step, "the ids of the messages offered, if that turn is meant");
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER) return code;
  turns_start_offer(step, true);
  turns_end_turn(step);
  step->run->state = RUN_IDLE;
  turns_drain(step);
  return 0;
}

static int break_off(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER) return code;
  turns_withdraw_offer(step);
  turns_end_turn(step);
  step->run->state = RUN_ERROR;
  step->run->words = step->input->words;
  turns_let_ask(step->run); /* may ask again when the session is resumed */
  return 0;
}

/* A host that lives is asked at its next call, and once more if another stop is asked for. */
static int ask_for_stop(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (!code && about == ABOUT_THIS_TURN && step->input->owned) step->run->stop = STOP_ASKED;
  return code;
}

/* -- turn.retrying, .waiting, .resume */

static int hold(struct step *step) {
  enum about about = ABOUT_ANOTHER;
  int code = find_turn(step, &about);
  if (code || about == ABOUT_ANOTHER) return code;
  bool retrying = step->input->event == TURNS_RETRYING;
  step->run->state = retrying ? RUN_RETRYING : RUN_WAITING;
  step->run->phase = PHASE_UNKNOWN;
  step->run->attempt = retrying ? step->input->attempt : 0;
  step->run->words = step->input->words;
  return 0;
}

static int offer_now(struct step *step) {
  turns_offer_batch(step);
  return 0;
}

static int offer_or_idle(struct step *step) {
  step->run->state = RUN_IDLE;
  step->run->words = span_of(NULL, 0);
  turns_offer_batch(step);
  return 0;
}

/* -- the session */

static int offer_unless_settling(struct step *step) {
  if (!step->run->settling) turns_offer_batch(step);
  return 0;
}

/* A host that begins again may not know what it was asked: it may have opened the plugin anew. */
static int ask_anew(struct step *step) {
  turns_ask_again(step->run, (struct turns_result){.offer = true, .stop = true});
  return 0;
}

static int begin_compacting(struct step *step) {
  step->run->compacting = true;
  return 0;
}

static int end_compacting(struct step *step) {
  step->run->compacting = false;
  return step->run->state == RUN_IDLE ? offer_unless_settling(step) : 0;
}

/* Anything that the user has undone is no reason to start a turn: it waits for the next carrier. */
static int rewind_transcript(struct step *step) {
  if (step->input->returned > step->run->newest_asking)
    turns_note_asking(step, step->input->returned);
  return 0;
}

/* Refuses it during a turn, whose carriers would be in another transcript than the named one. */
static int refuse_rewind(struct step *step) {
  return turns_refuse_state(step, "a session in which no turn runs");
}

static int resume_in_turn(struct step *step) {
  return step->input->rewound ? refuse_rewind(step) : ask_anew(step);
}

/* An item that the resumption brings back may ask again, as after a rollback. */
static int resume_no_turn(struct step *step) {
  if (step->input->rewound) turns_let_all_ask(step->run);
  return ask_anew(step);
}

static int resume_idle(struct step *step) {
  (void)resume_no_turn(step);
  return offer_unless_settling(step);
}

/* -- the table --------------------------------------------------------------------------------- */

#define ALL_STATES(cell)                                                                           \
  { cell, cell, cell, cell, cell, cell }

/* clang-format off */
static int (*const table[TURNS_EVENT_COUNT][RUN_STATE_COUNT])(struct step *) = {
    /*                          idle                   starting         busy          retrying           waiting            error */
    [TURNS_SUBMIT]          = ALL_STATES(turns_queue_submit),
    [TURNS_CANCEL]          = ALL_STATES(turns_queue_cancel),
    [TURNS_EDIT]            = ALL_STATES(turns_queue_edit),
    [TURNS_MOVE]            = ALL_STATES(turns_queue_move),
    [TURNS_CHAT_REQUEST]    = {refuse_start,          start_named,     same_turn,    same_turn_goes_on, same_turn_goes_on, refuse_start},
    [TURNS_STARTED]         = {refuse_start,          start_named,     same_turn,    same_turn_goes_on, same_turn_goes_on, refuse_start},
    [TURNS_STARTED_OWN]     = {own_turn,              own_turn,        no_effect,    turn_goes_on,      turn_goes_on,      own_turn},
    [TURNS_DECLINED]        = {is_over,               decline,         is_refused,   is_refused,        is_refused,        is_over},
    [TURNS_FINISHED]        = {is_over,               finish_offer,    finish,       finish,            finish,            is_over},
    [TURNS_ABORTED]         = {is_over,               finish_offer,    finish,       finish,            finish,            is_over},
    [TURNS_FAILED]          = {is_over,               break_off,       break_off,    break_off,         break_off,         is_over},
    [TURNS_STOP]            = {is_over,               ask_for_stop,    ask_for_stop, ask_for_stop,      ask_for_stop,      is_over},
    [TURNS_RETRYING]        = {is_refused,            is_refused,      hold,         hold,              hold,              is_refused},
    [TURNS_WAITING]         = {is_refused,            is_refused,      hold,         hold,              hold,              is_refused},
    [TURNS_RESUME]          = {offer_now,             no_effect,       no_effect,    no_effect,         no_effect,         offer_or_idle},
    [TURNS_STREAM_STARTED]  = {own_turn,              offer_runs,      change_phase, turn_goes_on,      turn_goes_on,      own_turn},
    [TURNS_STREAM_FINISHED] = {own_turn,              offer_runs,      change_phase, turn_goes_on,      turn_goes_on,      own_turn},
    [TURNS_TOOLS_STARTED]   = {own_turn,              offer_runs,      change_phase, turn_goes_on,      turn_goes_on,      own_turn},
    [TURNS_TOOLS_FINISHED]  = {own_turn,              offer_runs,      change_phase, turn_goes_on,      turn_goes_on,      own_turn},
    [TURNS_TOOL_RESULT]     = {no_effect,             result_of_offer, result_in_turn, result_in_turn,  result_in_turn,    no_effect},
    [TURNS_OPENED]          = {offer_unless_settling, ask_anew,        ask_anew,     ask_anew,          ask_anew,          no_effect},
    [TURNS_COMPACTING]      = ALL_STATES(begin_compacting),
    [TURNS_COMPACTED]       = ALL_STATES(end_compacting),
    [TURNS_CLOSED]          = ALL_STATES(turns_run_closed),
    [TURNS_LOOK]            = ALL_STATES(no_effect),
    [TURNS_COMMITTED]       = ALL_STATES(turns_carrier_committed),
    [TURNS_ROLLED_BACK]     = ALL_STATES(turns_carrier_rolled_back),
    [TURNS_RECOVERED]       = ALL_STATES(turns_run_recovered),
    [TURNS_NOTIFICATION]    = ALL_STATES(no_effect),
    [TURNS_RESUMED]         = {resume_idle,           resume_no_turn,  resume_in_turn, resume_in_turn,   resume_in_turn,    resume_no_turn},
    [TURNS_FORKED]          = ALL_STATES(no_effect),
    [TURNS_REDIRECT]        = ALL_STATES(turns_queue_redirect),
    [TURNS_REWOUND]         = {rewind_transcript,     rewind_transcript, refuse_rewind, refuse_rewind,  refuse_rewind,     rewind_transcript},
    [TURNS_COLLECTED]       = ALL_STATES(turns_run_closed),
};
/* clang-format on */

/* -- what is looked at after every event ------------------------------------------------------- */

static bool is_due(const struct run *run, const struct settings *settings, int64_t now_ms) {
  return now_ms < run->settle_since_ms ||
         now_ms - run->settle_since_ms >= (int64_t)settings->settle_delay_ms;
}

int64_t turns_due_ms(const struct turns *turns, const struct settings *settings) {
  const struct run *run = &turns->run;
  int64_t due_ms = 0;
  if (run->compacting || run->state != RUN_IDLE) return 0;
  if (run->settling) return run->settle_since_ms + settings->settle_delay_ms;
  for (size_t i = 0; i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    int64_t at_ms = message->state == MESSAGE_QUEUED ? message->due_ms : 0;
    if (at_ms && (!due_ms || at_ms < due_ms)) due_ms = at_ms;
  }
  return due_ms;
}

/* A message that was declined has no time any more, so it starts no turn by itself again. */
static bool any_falls_due(const struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    const struct message *message = &step->turns->messages[i];
    if (message->state == MESSAGE_QUEUED && message->due_ms &&
        message->due_ms <= step->input->now_ms)
      return true;
  }
  return false;
}

bool turns_reacts_to_tool_result(const struct run *run) {
  switch (run->state) {
  case RUN_STARTING: return run->offer_known;
  case RUN_BUSY: return run->phase != PHASE_TOOLS || (run->steering && !run->compacting);
  case RUN_RETRYING:
  case RUN_WAITING: return true;
  default: return false;
  }
}

static bool same_aborts(const struct run *a, const struct run *b) {
  return a->abort_count == b->abort_count &&
         memcmp(a->aborts_ms, b->aborts_ms, a->abort_count * sizeof *a->aborts_ms) == 0;
}

/* Fields, not bytes: there is padding in between. */
bool turns_same_run(const struct run *a, const struct run *b) {
  return a->state == b->state && a->phase == b->phase && a->kind == b->kind && a->stop == b->stop &&
         a->offer_known == b->offer_known && a->aborted == b->aborted &&
         a->compacting == b->compacting && a->steering == b->steering &&
         a->settling == b->settling && a->attempt == b->attempt && span_equal(a->words, b->words) &&
         a->started_ms == b->started_ms && a->settle_since_ms == b->settle_since_ms &&
         a->settle_last == b->settle_last && a->system_turns == b->system_turns &&
         a->system_item == b->system_item && a->orphaned == b->orphaned &&
         a->calls_orphaned == b->calls_orphaned && a->auto_turns == b->auto_turns &&
         a->newest_asking == b->newest_asking && a->asked_ms == b->asked_ms &&
         a->unfit == b->unfit && a->last_message == b->last_message &&
         a->first_message == b->first_message && a->last_place == b->last_place &&
         a->last_stamp_ms == b->last_stamp_ms && same_aborts(a, b);
}

/* If the store has lost all offered messages, makes the next offer instead. */
static void replace_lost_offer(struct step *step) {
  if (step->run->state != RUN_STARTING || step->run->kind != TURN_OF_MESSAGES) return;
  for (size_t i = 0; i < step->turns->count; i++) {
    if (step->turns->messages[i].state == MESSAGE_OFFERED) return;
  }
  turns_end_turn(step);
  step->run->state = RUN_IDLE;
  turns_offer_batch(step);
}

bool turns_has_unknown_stop(const struct run *run) {
  return run->stop == STOP_ASKED && run_has_turn(run) && run->state != RUN_STARTING &&
         !run->compacting;
}

/* Asks the attached host, if it listens. No other host can be asked. */
static void ask_host(struct step *step) {
  const struct turns_input *input = step->input;
  struct run *run = step->run;
  replace_lost_offer(step);
  bool settled = run->settling && is_due(run, input->settings, input->now_ms);
  if (run->state == RUN_IDLE && (settled || (!run->settling && any_falls_due(step))))
    turns_offer_batch(step);
  if (turns_has_unknown_stop(run)) {
    step->result.stop = true;
    run->stop = STOP_GIVEN;
  }
  if (turns_reacts_to_urgency(run)) turns_urge(step);
  if (turns_has_unknown_offer(run)) step->result.offer = run->offer_known = true;
}

void turns_look(struct turns *turns, const struct turns_input *input,
                struct turns_result *ret_result) {
  struct step step = {.turns = turns, .run = &turns->run, .input = input};
  if (input->answers) ask_host(&step);
  for (size_t i = 0; i < turns->count; i++) {
    struct message *message = &turns->messages[i];
    if (message->fresh && message->state != MESSAGE_OFFERED) message->waited = true;
    message->fresh = false;
  }
  *ret_result = step.result;
}

static bool any_steering(const struct turns *turns) {
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].state == MESSAGE_STEERING) return true;
  }
  return false;
}

/* Sets the start even if a turn runs already: the end of that turn may have been lost. */
static void set_start(struct step *step) {
  bool starts = step->input->event == TURNS_STARTED || step->input->event == TURNS_STARTED_OWN;
  if (starts && step->input->at_ms) step->run->started_ms = step->input->at_ms;
}

int turns_step(struct turns *turns, const struct turns_input *input, struct tidings_error *error) {
  struct step step = {.turns = turns, .run = &turns->run, .input = input, .error = error};
  int code = table[input->event][turns->run.state](&step);
  if (code) return code;
  set_start(&step);
  turns->run.steering = any_steering(turns);
  return 0;
}
