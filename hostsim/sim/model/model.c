/* SPDX-License-Identifier: MIT
 *
 * sim/model/model.c: applies one act after the other.
 */
#include "sim/model/parts.h"

#include <string.h>
#include <tidings/abi.h>

void model_init(struct model *model, const struct sim_settings *settings, bool one_phase,
                int64_t now_ms) {
  memset(model, 0, sizeof *model);
  model->start_ms = model->now_ms = now_ms;
  model->settings = *settings;
  model->one_phase = one_phase;
  for (unsigned i = 0; i < PEERS; i++) model->peers[i].settings = *settings;
}

bool model_is_same(const struct model *a, const struct model *b) {
  const unsigned char *left = (const void *)a, *right = (const void *)b;
  for (size_t i = 0; i < sizeof *a; i++)
    if (left[i] != right[i]) return false;
  return true;
}

void model_process_ended(struct model *model, enum peer peer) {
  model->peers[peer].process++;
  model->peers[peer].former = false;
  model->peers[peer].settings = model->settings;
}

/* -- the kinds --------------------------------------------------------------------------------- */

static int take_notification(struct model *model, const struct act *act,
                             const struct sim_settings *settings) {
  if (act->kind == ACT_POLLED) {
    items_poll(model, act->handle);
    return 0;
  }
  return items_push(model, act, settings);
}

static int64_t delay_end_ms(const struct model *model, const struct sim_settings *settings) {
  return model->run.delay_begin_ms + settings->settle_delay_ms;
}

/* Is the settle delay over, by the settings in force now? It is also over if the clock was set back
 * to before its start; otherwise it would last too long. */
static bool delay_is_over(const struct model *model, const struct sim_settings *settings) {
  const struct model_run *run = &model->run;
  return run->delayed &&
         (model->now_ms >= delay_end_ms(model, settings) || model->now_ms < run->delay_begin_ms);
}

static int submit(struct model *model, const struct act *act, const struct sim_settings *settings) {
  int message = -1;
  int error = message_submit(model, act, settings, &message);
  if (error != 0) return error;
  if (model->run.state == FAILED && act->resume && model_owner_lives(model)) run_become_idle(model);
  if (model->run.state == IDLE && !model->run.delayed) run_offer(model, settings);
  return 0;
}

/* Every peer may send messages and turn.stop. A host that does so becomes the owner if no living
 * process owns the session. */
static int take_message(struct model *model, const struct act *act,
                        const struct sim_settings *settings) {
  if (act->peer != PEER_PRODUCER && !model_owner_lives(model))
    (void)attachment_enter(model, act); /* a former owner is refused, but its message is taken */
  switch (act->kind) {
  case ACT_STOP: return run_stop(model, act);
  case ACT_SUBMIT: return submit(model, act, settings);
  case ACT_CANCEL: return run_cancel(model, act, settings);
  case ACT_EDIT: return message_edit(model, act);
  case ACT_REDIRECT: return message_redirect(model, act);
  default: return message_move(model, act);
  }
}

static int take_lifecycle(struct model *model, const struct act *act,
                          const struct sim_settings *settings, struct answer *answer) {
  answer->ledger = act->rewound || act->kind == ACT_REWOUND;
  if (act->kind == ACT_OPENED || act->kind == ACT_RESUMED) return attachment_open(model, act);
  if (act->kind == ACT_REWOUND) return attachment_rewind(model, act);
  if (act->kind == ACT_CLOSED) return attachment_close(model, act);
  int error = attachment_enter(model, act);
  if (error != 0) return error;
  if (act->kind == ACT_FORKED) return items_check_fork(model, settings);
  if (act->kind == ACT_COMPACTING) {
    model->run.compacting = true;
  } else if (act->kind == ACT_COMPACTED) {
    model->run.compacting = false;
    model->preamble = 0; /* the summary may lack the preamble */
    answer->ledger = true;
    if (model->run.state == IDLE && !model->run.delayed) run_offer(model, settings);
  }
  return 0;
}

static int take_carrier(struct model *model, const struct act *act,
                        const struct sim_settings *settings, struct answer *answer) {
  int error = attachment_enter(model, act);
  if (error == 0 && act->kind == ACT_CHAT_REQUEST && act->has_ids)
    error = run_start_named(model, act, false);
  if (error != 0) return error;
  if (act->kind == ACT_TOOL_RESULT) run_tool_result(model);
  carrier_make(model, act, settings, answer);
  return 0;
}

static int take_step(struct model *model, const struct act *act,
                     const struct sim_settings *settings, struct answer *answer) {
  if (act_is_notification(act->kind)) return take_notification(model, act, settings);
  if (act_is_message(act->kind) || act->kind == ACT_STOP) return take_message(model, act, settings);
  switch (act->kind) {
  case ACT_TOOL_RESULT:
  case ACT_CHAT_REQUEST: return take_carrier(model, act, settings, answer);
  case ACT_SETTLE:
    return act->peer == PEER_PRODUCER ? TIDINGS_E_UNSUPPORTED
                                      : carrier_settle(model, act, settings, &answer->rolled_back);
  case ACT_OPENED:
  case ACT_RESUMED:
  case ACT_REWOUND:
  case ACT_FORKED:
  case ACT_COMPACTING:
  case ACT_COMPACTED:
  case ACT_CLOSED:
  case ACT_WAKE: return take_lifecycle(model, act, settings, answer);
  default: break;
  }
  int error = attachment_enter(model, act);
  return error != 0 ? error : run_event(model, act, settings);
}

/* Is it a passive notification, which is only stored? */
static bool is_plain_notification(const struct act *act) {
  return act->kind == ACT_POLLED ||
         (act->kind == ACT_NOTE && act->activation == PASSIVE &&
          act->level != TIDINGS_LEVEL_CRITICAL) ||
         (act->kind == ACT_NOTE && act->activation == SILENT);
}

/* Gives the actions to the attached host, whichever function it called. */
static void reply_to_owner(struct model *model, const struct act *act,
                           const struct sim_settings *settings, struct answer *answer) {
  struct model_run *run = &model->run;
  if (is_plain_notification(act) || act->no_reply) return;
  bool has_offers = act_is_event(act->kind) || answer->rolled_back;
  bool streams = run->state == BUSY && run->phase == PHASE_STREAMING && !run->aborted &&
                 run->stop == STOP_NONE;
  bool looks =
      (has_offers || act_is_hook(act->kind)) && !run->compacting && (run->state == IDLE || streams);
  int64_t next_ms = looks ? items_next_ms(model) : 0;
  if (has_offers && run->state == IDLE && delay_is_over(model, settings))
    run_offer(model, settings);
  if (has_offers && run->stop == STOP_ASKED && run_is_running(model) && !run->compacting) {
    run->stop = STOP_GIVEN;
    answer->stop_turn = true;
  }
  if (has_offers) urgency_look(model, settings, answer);
  if (has_offers && run->state == STARTING && !run->offer_known && !run->compacting) {
    run->offer_known = true;
    answer->offered_count = run->turn_count;
    memcpy(answer->offered, run->turn, run->turn_count * sizeof run->turn[0]);
  }
  answer->wakes = run->delayed && !run->compacting;
  answer->wake_at_ms = delay_end_ms(model, settings);
  if (next_ms != 0 && (!answer->wakes || next_ms < answer->wake_at_ms)) {
    answer->wakes = true;
    answer->wake_at_ms = next_ms;
  }
}

void model_note_change(struct model *model, unsigned cause, enum run_state from) {
  if (model->run.state != from) {
    model->changes[model->change_count++] =
        (struct model_change){(uint8_t)cause, (uint8_t)from, (uint8_t)model->run.state};
  }
}

static void note_waiting(struct model *model) {
  for (unsigned i = 0; i < model->message_count; i++) {
    enum message_state state = model->messages[i].state;
    if (state == MESSAGE_QUEUED || state == MESSAGE_STEERING) model->messages[i].waited = true;
  }
}

/* An error must change nothing, so an act that may fail half-way works on a copy. But a refused
 * hook call has already made its host the owner. */
static int attempt(struct model *model, const struct act *act, const struct sim_settings *settings,
                   struct answer *answer) {
  bool attaches = !act_is_notification(act->kind) && act->peer != PEER_PRODUCER &&
                  !model_owner_is(model, act->peer);
  if (!attaches) return take_step(model, act, settings, answer);
  static struct model before;
  before = *model;
  int error = take_step(model, act, settings, answer);
  if (error != 0) {
    *model = before;
    if (act->kind == ACT_CHAT_REQUEST) (void)attachment_enter(model, act);
  }
  return error;
}

static const struct answer nothing_said = {.delivery = -1};

static void do_act(struct model *model, const struct act *act, const struct sim_settings *settings,
                   struct answer *answer) {
  enum run_state state = model->run.state;
  enum phase phase = model->run.phase;
  model->found = state;
  model->stop_is_new = false;
  answer->error = attempt(model, act, settings, answer);
  if (answer->error != 0) return;
  model->seen |= act->seen != 0 ? 1u << act->seen : 0;
  if (model_owner_is(model, act->peer)) reply_to_owner(model, act, settings, answer);
  note_waiting(model);
  model_note_change(model, act->kind, model->found);
  bool names = act->kind == ACT_CHAT_REQUEST && act->has_ids; /* such a call always gets a reply */
  bool says = names || answer->delivery >= 0 || answer->shown_count + answer->steered_count > 0 ||
              answer->offered_count > 0 || answer->abort_stream || answer->stop_turn;
  bool changed = model->run.state != state || model->run.phase != phase || answer->wakes;
  bool notification = act_is_notification(act->kind);
  answer->silent =
      (notification && !says && !answer->wakes) || (act_is_hook(act->kind) && !says && !changed);
  answer->optional = (!act_is_event(act->kind) || notification) && !says;
}

/* A duplicate changes nothing itself. The attached host is answered as after `wake`, because it may
 * not have got the first answer. */
static void do_duplicate(struct model *model, const struct act *act,
                         const struct sim_settings *settings, struct answer *answer) {
  struct act wake = {.kind = ACT_WAKE, .peer = act->peer, .no_reply = act->no_reply};
  enum run_state state = model->run.state;
  answer->duplicate = true;
  if (!model_owner_is(model, act->peer)) return;
  reply_to_owner(model, &wake, settings, answer);
  model_note_change(model, act_is_notification(act->kind) ? act->kind : wake.kind, state);
}

void model_apply(struct model *model, const struct act *act, struct answer *ret_answer) {
  struct sim_settings settings = model->peers[act->peer].settings;
  memcpy(ret_answer, &nothing_said,
         offsetof(struct answer, shown)); /* the lists need no zeros, because they have counts */
  if (act->kind == ACT_CONFIGURE) model->peers[act->peer].settings = act->settings;
  else if (act->kind == ACT_CLOCK) model->now_ms += act->clock_ms;
  else if (act->seen != 0 && (model->seen & (1u << act->seen)) != 0)
    do_duplicate(model, act, &settings, ret_answer);
  else do_act(model, act, &settings, ret_answer);
}

bool model_apply_first(struct model *model, const struct act *act) {
  if (act_is_notification(act->kind)) {
    bool stored = take_notification(model, act, &model->peers[act->peer].settings) == 0;
    model->seen |= act->seen != 0 ? 1u << act->seen : 0;
    return stored;
  }
  return act_is_hook(act->kind) && !model_owner_is(model, act->peer) &&
         attachment_enter(model, act) == 0;
}

bool model_must_ring(const struct model *model, const struct act *act,
                     const struct answer *answer) {
  if (answer->error != 0 || answer->duplicate || !model_owner_lives(model) ||
      model->owner == act->peer)
    return false;
  bool offers = act_is_message(act->kind) && model->run.state == STARTING &&
                !model->run.offer_known && model->found != STARTING;
  bool withdraws = act->kind == ACT_CANCEL && model->found == STARTING && model->run.state == IDLE;
  return offers || withdraws || model->stop_is_new || act->kind == ACT_SUBAGENT ||
         (act->kind == ACT_NOTE && !is_plain_notification(act));
}
