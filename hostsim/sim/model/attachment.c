/* SPDX-License-Identifier: MIT
 *
 * sim/model/attachment.c: says who owns the session, and resolves leases when the owner changes.
 */
#include "sim/model/parts.h"

#include <string.h>
#include <tidings/abi.h>

bool model_owner_is(const struct model *model, enum peer peer) {
  return model->owned && model->owner == peer && model->owner_process == model->peers[peer].process;
}

/* Is the owner's process alive? A process that ended was started again at once, but as another
 * one. */
bool model_owner_lives(const struct model *model) {
  return model->owned && model->owner_process == model->peers[model->owner].process;
}

/* Forgets the preamble if the transcript does not have the delivery with it. */
static void look_for_preamble(struct model *model, const struct act *act) {
  bool later = false;
  for (unsigned i = 0; i < model->delivery_count; i++)
    later = later ||
            (i + 1 >= model->preamble && act_names_delivery(act, model->deliveries[i].public_id));
  if (!later) model->preamble = 0;
}

/* Commits the leased deliveries that the act names, and rolls the others back. True: a message
 * waits again. */
static bool resolve_leases(struct model *model, const struct act *act) {
  bool queued = false, lost = false;
  for (unsigned i = 0; i < model->delivery_count; i++) {
    if (model->deliveries[i].state == DELIVERY_LEASED) {
      if (act_names_deliveries(act->kind) && act->has_deliveries &&
          act_names_delivery(act, model->deliveries[i].public_id))
        carrier_commit(model, (int)i);
      else {
        queued = carrier_roll_back(model, (int)i) || queued;
        lost = true;
      }
    }
  }
  if (lost) items_give_way(model);
  if (act->kind == ACT_RESUMED && act->has_deliveries) look_for_preamble(model, act);
  return queued;
}

static void recover_run(struct model *model, const struct sim_settings *settings) {
  struct model_run *run = &model->run;
  bool ran = run_is_running(model);
  if (ran) {
    run->orphaned_count = 0;
    for (unsigned i = 0; i < run->turn_count; i++) {
      const struct model_message *message = &model->messages[run->turn[i]];
      if (message->state == MESSAGE_FIRED || message->system)
        run->orphaned[run->orphaned_count++] = run->turn[i];
    }
  } else if (run->state == STARTING) {
    run_withdraw_offer(model);
  }
  run_become_idle(model);
  run->compacting = run->delayed = false;
  run->unfit = 0;
  if (settings->hold && (ran || message_waiting(model, MESSAGE_QUEUED, NULL) > 0))
    run->state = FAILED;
}

static void attach(struct model *model, const struct act *act) {
  bool recovers = model->owned;
  model->peers[act->peer].former = false;
  if (recovers && model_owner_lives(model)) model->peers[model->owner].former = true;
  model->owned = true;
  model->owner = act->peer;
  model->owner_process = model->peers[act->peer].process;
  model->epoch++;
  if (recovers) {
    enum run_state from = model->run.state;
    (void)resolve_leases(model, act);
    recover_run(model, &model->peers[act->peer].settings);
    items_ask_again(model);
    model_note_change(model, RECOVERED, from);
    model->found = model->run.state;
  }
}

/* Call it before an event that only the session's host may send. */
int attachment_enter(struct model *model, const struct act *act) {
  if (act->peer == PEER_PRODUCER) return TIDINGS_E_UNSUPPORTED;
  if (model_owner_is(model, act->peer)) return 0;
  /* A former owner cannot know that the session went to another host and came back. That host may
   * have died with carriers that only its transcript has. */
  bool opens = act->kind == ACT_OPENED || act->kind == ACT_RESUMED;
  if (model->peers[act->peer].former && !opens) return TIDINGS_E_CLOSED;
  if (model_owner_lives(model) && !act->takeover) return TIDINGS_E_OWNED;
  attach(model, act);
  return 0;
}

/* Asks a host that begins again for what it has not done. */
static void ask_anew(struct model_run *run) {
  if (run->state == STARTING) run->offer_known = false;
  if (run->stop == STOP_GIVEN) run->stop = STOP_ASKED;
}

/* Applies session.opened and session.resumed. If the owner names deliveries, its own leases are
 * resolved too. */
int attachment_open(struct model *model, const struct act *act) {
  const struct sim_settings *settings = &model->peers[act->peer].settings;
  bool mine = model_owner_is(model, act->peer);
  int error = attachment_enter(model, act);
  if (error != 0) return error;
  if (mine && act->rewound && run_is_running(model)) return TIDINGS_E_STATE;
  if (mine && act->kind == ACT_RESUMED && act->has_deliveries) (void)resolve_leases(model, act);
  if (act->rewound) {
    (void)carrier_rewind(model, act);
    model->run.unfit = 0;
    items_ask_again(model);
  }
  ask_anew(&model->run);
  if (model->run.state == IDLE && !model->run.delayed) run_offer(model, settings);
  return 0;
}

/* Applies a rewind, and offers nothing: items that come back, and older ones, ask for no turn,
 * because the user has just undone something. */
int attachment_rewind(struct model *model, const struct act *act) {
  bool mine = model_owner_is(model, act->peer);
  int error = attachment_enter(model, act);
  if (error != 0) return error;
  if (run_is_running(model)) return TIDINGS_E_STATE;
  if (mine) (void)resolve_leases(model, act);
  unsigned count = carrier_rewind(model, act);
  for (unsigned i = 0; i < count; i++)
    if (model->items[i].held == PENDING) model->items[i].has_asked = true;
  if (count > model->run.asked_count) {
    model->run.asked_count = count;
    model->run.asked_ms = model->now_ms;
  }
  return 0;
}

int attachment_close(struct model *model, const struct act *act) {
  if (act->peer == PEER_PRODUCER) return TIDINGS_E_UNSUPPORTED;
  if (model_owner_lives(model) && !model_owner_is(model, act->peer)) return TIDINGS_E_OWNED;
  for (unsigned i = 0; i < model->delivery_count; i++)
    if (model->deliveries[i].state == DELIVERY_LEASED) {
      model->deliveries[i].state = DELIVERY_ROLLED_BACK;
      model->deliveries[i].closed = true;
    }
  for (unsigned i = 0; i < model->item_count; i++)
    if (model->items[i].held != ENDED) items_end(model, &model->items[i], CLOSED);
  for (unsigned i = 0; i < model->message_count; i++)
    if (!message_is_over(&model->messages[i]))
      model->messages[i].state = model->messages[i].system ? MESSAGE_CANCELLED : MESSAGE_CLOSED;
  unsigned serial = model->run.serial;
  memset(&model->run, 0, sizeof model->run);
  model->run.serial = serial;
  model->preamble = 0;
  model->owned = false;
  for (unsigned i = 0; i < PEERS; i++) model->peers[i].former = false;
  return 0;
}
