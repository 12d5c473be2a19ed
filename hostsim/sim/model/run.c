/* SPDX-License-Identifier: MIT
 *
 * sim/model/run.c: the run state: the table of docs/turns.md, row by row.
 */
#include "sim/model/parts.h"

#include <string.h>
#include <tidings/abi.h>

bool run_is_running(const struct model *model) {
  enum run_state state = model->run.state;
  return state == BUSY || state == RETRYING || state == WAITING;
}

static struct model_message *message_of(struct model *model, int index) {
  return &model->messages[index];
}

/* -- offers ------------------------------------------------------------------------------------ */

static void offer(struct model *model, const int *messages, unsigned count) {
  struct model_run *run = &model->run;
  run->state = STARTING;
  run->offer_known = run->delayed = false;
  run->words = 0;
  run->turn_count = count;
  for (unsigned i = 0; i < count; i++) {
    run->turn[i] = messages[i];
    message_of(model, messages[i])->state = MESSAGE_OFFERED;
  }
}

/* If a settle delay has begun, offers only the messages that existed at its start; later ones
 * belong to the next batch. */
void run_offer(struct model *model, const struct sim_settings *settings) {
  int queued[MODEL_MESSAGES], batch[MODEL_MESSAGES];
  unsigned count = message_waiting(model, MESSAGE_QUEUED, queued), batched = 0;
  if (model->run.compacting || !model_owner_lives(model)) return;
  for (unsigned i = 0; model->run.delayed && settings->coalescing && i < count; i++)
    if (queued[i] < (int)model->run.batch_end) batch[batched++] = queued[i];
  if (batched > 0) {
    memcpy(queued, batch, batched * sizeof batch[0]);
    count = batched;
  }
  model->run.delayed = false;
  if (count > 0) offer(model, queued, settings->coalescing ? count : 1);
}

void run_offer_system(struct model *model, int message) { offer(model, &message, 1); }

void run_withdraw_offer(struct model *model) {
  for (unsigned i = 0; i < model->run.turn_count; i++)
    message_queue_again(message_of(model, model->run.turn[i]));
  model->run.turn_count = 0;
}

/* -- turns ------------------------------------------------------------------------------------- */

/* Starts the turn in run.turn; if that is empty, the host's own turn. */
static void begin_turn(struct model *model, enum phase phase) {
  struct model_run *run = &model->run;
  run->state = BUSY;
  run->phase = phase;
  run->serial++;
  run->started_ms = model->now_ms;
  run->aborted = run->delayed = false;
  run->orphaned_count = 0;
  run->words = run->attempt = 0;
  for (unsigned i = 0; i < run->turn_count; i++) {
    message_of(model, run->turn[i])->turn = run->serial;
    run->auto_turns = message_of(model, run->turn[i])->system ? run->auto_turns + 1 : 0;
  }
}

static void fire_turn(struct model *model) {
  for (unsigned i = 0; i < model->run.turn_count; i++)
    message_fire(message_of(model, model->run.turn[i]));
}

static void begin_own(struct model *model, enum phase phase) {
  model->run.turn_count = 0;
  model->run.stop = STOP_NONE; /* the request was meant for the offer */
  begin_turn(model, phase);
}

/* Continues a turn that retried or waited. */
static void go_on(struct model *model, enum phase phase) {
  model->run.state = BUSY;
  model->run.phase = phase;
  model->run.words = model->run.attempt = 0;
}

/* Ends a turn or an offer; messages that waited for a tool result now wait for a turn. */
void run_become_idle(struct model *model) {
  int steering[MODEL_MESSAGES];
  unsigned count = message_waiting(model, MESSAGE_STEERING, steering);
  for (unsigned i = 0; i < count; i++) message_queue_again(message_of(model, steering[i]));
  model->run.state = IDLE;
  model->run.stop = STOP_NONE;
  model->run.turn_count = 0;
  model->run.phase = PHASE_UNKNOWN;
  model->run.words = model->run.attempt = 0;
  model->run.started_ms = 0;
}

static void drain(struct model *model, const struct sim_settings *settings) {
  int queued[MODEL_MESSAGES];
  unsigned count = message_waiting(model, MESSAGE_QUEUED, queued);
  if (count == 0 || settings->settle_delay_ms == 0) {
    run_offer(model, settings);
    return;
  }
  model->run.delayed = true;
  model->run.delay_begin_ms = model->now_ms;
  model->run.batch_end = model->message_count;
}

/* -- whose ids --------------------------------------------------------------------------------- */

enum meant { MEANT_CURRENT, MEANT_OVER, MEANT_NONE };

bool run_is_in_turn(const struct model *model, int id) {
  for (unsigned i = 0; i < model->run.turn_count; i++)
    if (model->messages[model->run.turn[i]].id == id) return true;
  return false;
}

static bool are_in_turn(const struct model *model, const struct act *act) {
  for (unsigned i = 0; i < act->id_count; i++)
    if (!run_is_in_turn(model, act->ids[i])) return false;
  return true;
}

/* Ids are distinct, so sets of equal size are equal if one contains the other. */
static enum meant who_is_meant(struct model *model, const struct act *act) {
  bool has_turn = model->run.state == STARTING || run_is_running(model);
  if (!act->has_ids ||
      (has_turn && act->id_count == model->run.turn_count && are_in_turn(model, act)))
    return MEANT_CURRENT;
  for (unsigned i = 0; i < act->id_count; i++) {
    const struct model_message *message = message_find(model, act->ids[i]);
    bool started = message && (message->system || message->state == MESSAGE_FIRED ||
                               message->state == MESSAGE_LEASED);
    if (!started || run_is_in_turn(model, act->ids[i])) return MEANT_NONE;
  }
  return MEANT_OVER;
}

/* Returns why these ids do not start a turn; the first unsuitable id decides. */
static int refuse_ids(struct model *model, const struct act *act) {
  for (unsigned i = 0; i < act->id_count; i++) {
    const struct model_message *message = message_find(model, act->ids[i]);
    bool was_never =
        !message || message->state == MESSAGE_CANCELLED || message->state == MESSAGE_CLOSED;
    if (was_never && (!message || !message->system)) return TIDINGS_E_NOT_FOUND;
    if (was_never || message->state == MESSAGE_FIRED || message->state == MESSAGE_LEASED)
      return TIDINGS_E_FIRED;
    if (message->state != MESSAGE_OFFERED) return TIDINGS_E_STATE;
  }
  return TIDINGS_E_STATE;
}

static bool any_cancelled(struct model *model) {
  for (unsigned i = 0; i < model->run.turn_count; i++) {
    const struct model_message *message = message_of(model, model->run.turn[i]);
    if (message->state == MESSAGE_CANCELLED && !message->system) return true;
  }
  return false;
}

/* Applies turn.started and chat requests that name messages. */
int run_start_named(struct model *model, const struct act *act, bool fires) {
  struct model_run *run = &model->run;
  if (run_is_running(model)) {
    if (who_is_meant(model, act) != MEANT_CURRENT || run->turn_count == 0) return TIDINGS_E_STATE;
    if (!fires && any_cancelled(model)) /* a cancelled message is not sent again */
      return TIDINGS_E_NOT_FOUND;
    if (run->state != BUSY) go_on(model, PHASE_UNKNOWN);
    return 0;
  }
  if (run->state != STARTING || !are_in_turn(model, act)) return refuse_ids(model, act);
  unsigned kept = 0;
  for (unsigned i = 0; i < run->turn_count; i++) {
    struct model_message *message = message_of(model, run->turn[i]);
    bool named = false;
    for (unsigned n = 0; n < act->id_count; n++) named = named || act->ids[n] == message->id;
    if (named) run->turn[kept++] = run->turn[i];
    else message_queue_again(message);
  }
  run->turn_count = kept;
  begin_turn(model, PHASE_UNKNOWN);
  if (fires) fire_turn(model);
  return 0;
}

/* -- the rows ---------------------------------------------------------------------------------- */

static void start_unnamed(struct model *model) {
  if (model->run.state == STARTING) run_withdraw_offer(model);
  if (model->run.state == RETRYING || model->run.state == WAITING) {
    go_on(model, PHASE_UNKNOWN);
  } else if (model->run.state != BUSY) {
    begin_own(model, PHASE_UNKNOWN);
    model->run.auto_turns = 0; /* this ends a series of system turns */
  }
}

static int decline(struct model *model) {
  if (run_is_running(model)) return TIDINGS_E_STATE;
  if (model->run.state == STARTING) {
    run_withdraw_offer(model);
    run_become_idle(model);
    for (unsigned i = 0; i < model->item_count; i++)
      model->items[i].has_asked = model->items[i].has_asked || model->items[i].held == PENDING;
    model->run.asked_count = model->item_count;
    model->run.asked_ms = model->now_ms;
  }
  return 0;
}

static int finish(struct model *model, const struct act *act, const struct sim_settings *settings) {
  bool older = act->at_ms && act->at_ms < model->run.started_ms && /* older than the running turn
                                                                      .. */
               model->run.started_ms <= model->now_ms;             /* .. by the same clock */
  if (model->run.state == STARTING) {
    if (!act->has_ids) /* a turn of the host's own, if the host does not know of the offer */
      return model->run.offer_known ? TIDINGS_E_STATE : 0;
    begin_turn(model, PHASE_UNKNOWN);
    fire_turn(model);
  }
  if (run_is_running(model) && !older) {
    run_become_idle(model);
    drain(model, settings);
  }
  return 0;
}

static void fail(struct model *model, const struct act *act) {
  if (model->run.state == STARTING) run_withdraw_offer(model);
  else if (!run_is_running(model)) return;
  run_become_idle(model);
  model->run.state = FAILED;
  model->run.words = act->has_words ? act->serial : 0;
  items_ask_again(model);
}

static int hold(struct model *model, const struct act *act) {
  if (!run_is_running(model)) return TIDINGS_E_STATE;
  model->run.state = act->kind == ACT_RETRYING ? RETRYING : WAITING;
  model->run.phase = PHASE_UNKNOWN;
  model->run.attempt = act->kind == ACT_RETRYING ? act->attempt : 0;
  model->run.words = act->has_words ? act->serial : act->kind == ACT_WAITING ? WORDS_KIND : 0;
  return 0;
}

static void resume(struct model *model, const struct sim_settings *settings) {
  if (model->run.state == FAILED) run_become_idle(model);
  if (model->run.state == IDLE) run_offer(model, settings);
}

static void enter_phase(struct model *model, enum phase phase) {
  if (run_is_running(model)) {
    go_on(model, phase);
  } else if (model->run.state == STARTING && model->run.offer_known) {
    begin_turn(model, phase);
    fire_turn(model);
  } else {
    if (model->run.state == STARTING) run_withdraw_offer(model);
    begin_own(model, phase);
  }
}

/* A tool result does not start an offer that the host has not got: it belongs to the host's own
 * turn. */
void run_tool_result(struct model *model) {
  if (run_is_running(model) || (model->run.state == STARTING && model->run.offer_known))
    enter_phase(model, PHASE_TOOLS);
}

static int start(struct model *model, const struct act *act) {
  int code = 0;
  if (act->has_ids) code = run_start_named(model, act, true);
  else start_unnamed(model);
  if (!code && act->at_ms) model->run.started_ms = act->at_ms;
  return code;
}

int run_event(struct model *model, const struct act *act, const struct sim_settings *settings) {
  if (act->kind == ACT_STARTED) return start(model, act);
  enum meant meant = who_is_meant(model, act);
  if (meant != MEANT_CURRENT) return meant == MEANT_OVER ? 0 : TIDINGS_E_STATE;
  switch (act->kind) {
  case ACT_DECLINED: return decline(model);
  case ACT_FINISHED:
  case ACT_ABORTED: return finish(model, act, settings);
  case ACT_FAILED: fail(model, act); return 0;
  case ACT_RETRYING:
  case ACT_WAITING: return hold(model, act);
  case ACT_RESUME: resume(model, settings); return 0;
  case ACT_STREAM_STARTED: enter_phase(model, PHASE_STREAMING); return 0;
  case ACT_TOOLS_STARTED: enter_phase(model, PHASE_TOOLS); return 0;
  default: enter_phase(model, PHASE_UNKNOWN); return 0; /* the end of a phase */
  }
}

/* Applies turn.stop, which any process may send: the living host must end the offered or running
 * turn. */
int run_stop(struct model *model, const struct act *act) {
  enum meant meant = who_is_meant(model, act);
  bool has_turn = run_is_running(model) || model->run.state == STARTING;
  if (meant == MEANT_NONE) return TIDINGS_E_STATE;
  if (meant == MEANT_OVER || !has_turn || !model_owner_lives(model)) return 0;
  model->stop_is_new = model->run.stop != STOP_ASKED;
  model->run.stop = STOP_ASKED;
  return 0;
}

int run_cancel(struct model *model, const struct act *act, const struct sim_settings *settings) {
  struct model_message *message = message_find(model, act->id);
  struct model_run *run = &model->run;
  if (!message || message->system || message->state == MESSAGE_CANCELLED ||
      message->state == MESSAGE_CLOSED)
    return TIDINGS_E_NOT_FOUND;
  if (message->state == MESSAGE_LEASED || message->state == MESSAGE_FIRED) return TIDINGS_E_FIRED;
  bool offered = message->state == MESSAGE_OFFERED;
  message->state = MESSAGE_CANCELLED;
  if (!offered) /* the running turn keeps the ids that it was started with */
    return 0;
  unsigned left = 0;
  for (unsigned i = 0; i < run->turn_count; i++)
    if (message_of(model, run->turn[i]) != message) run->turn[left++] = run->turn[i];
  run->turn_count = left;
  if (left == 0) {
    run_become_idle(model);
    run_offer(model, settings);
  }
  return 0;
}
