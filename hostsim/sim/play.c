/* SPDX-License-Identifier: MIT
 *
 * sim/play.c: plays a schedule, step by step. Usually there is one model. When a process dies
 * inside a commit, there are several, because the commit may or may not be stored. Each model is
 * kept as long as it agrees with the store.
 */
#include "sim/play.h"

#include "host/simhost.h"

#include "sim/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_NS = 1000000, LAST_STEPS = 150, HISTORY_EVERY = 32 };

/* -- calls ------------------------------------------------------------------------------------- */

static bool is_new(const struct play *play, unsigned count, const struct model *model) {
  for (unsigned i = 0; i < count; i++)
    if (model_is_same(&play->next[i], model)) return false;
  return count < MODELS;
}

/* Makes the models for a process that died inside a commit: nothing of the call happened, or all of
 * it, or only what an earlier commit stored. */
static enum played branch(struct play *play, const struct act *act) {
  unsigned count = 0;
  for (unsigned i = 0; i < play->model_count; i++) {
    static struct model variant;
    variant = play->models[i];
    model_process_ended(&variant, act->peer);
    if (is_new(play, count, &variant)) play->next[count++] = variant;
    variant = play->models[i];
    bool has_first = model_apply_first(&variant, act);
    model_process_ended(&variant, act->peer);
    if (has_first && is_new(play, count, &variant)) play->next[count++] = variant;
    variant = play->models[i];
    model_apply(&variant, act, &play->answer);
    model_process_ended(&variant, act->peer);
    if (is_new(play, count, &variant)) play->next[count++] = variant;
  }
  memcpy(play->models, play->next, count * sizeof play->next[0]);
  play->model_count = count;
  play->tally->commits_died++;
  return processes_begin(play->processes, act->peer, play->out) ? PLAYED_SAME : PLAYED_BROKEN;
}

static enum played call(struct play *play, const struct act *act) {
  json_t *answer = NULL;
  if (check_before_ring(play, act) != PLAYED_SAME) return PLAYED_BROKEN;
  switch (processes_call(play->processes, act->peer, request_of_act(act, &play->names),
                         act->dies_in, &answer, play->out)) {
  case CALL_DIED: return branch(play, act);
  case CALL_FAILED: return PLAYED_BROKEN;
  case CALL_ANSWERED: break;
  }
  enum played played = PLAYED_SAME;
  if (act->kind == ACT_CONFIGURE) {
    for (unsigned i = 0; i < play->model_count; i++)
      model_apply(&play->models[i], act, &play->answer);
    if (json_object_get(answer, "error")) {
      fprintf(play->out, "configure: %s\n",
              json_string_value(json_object_get(json_object_get(answer, "error"), "text")));
      played = PLAYED_DIFFERENT;
    }
  } else {
    bool forks = act->kind == ACT_FORKED &&
                 json_is_false(json_object_get(json_object_get(answer, "reply"), "duplicate"));
    played = check_answer(play, act, answer);
    if (played == PLAYED_SAME && forks) played = check_child(play, act);
    if (played == PLAYED_SAME) played = check_ring(play, act);
  }
  json_decref(answer);
  return played;
}

static enum played act_on_process(struct play *play, const struct act *act) {
  json_t *answer = NULL;
  bool well = true;
  switch (act->kind) {
  case ACT_CLOCK:
    play->processes->now_ms += act->clock_ms;
    play->processes->mono_ns += TICK_NS;
    break;
  case ACT_SWAP:
    well = processes_call(play->processes, act->peer, json_pack("{s:s}", "op", "swap"), 0, &answer,
                          play->out) == CALL_ANSWERED;
    if (well && json_object_get(answer, "error")) {
      fprintf(play->out, "swap: %s\n",
              json_string_value(json_object_get(json_object_get(answer, "error"), "text")));
      well = false;
    }
    json_decref(answer);
    break;
  case ACT_CRASH:
    processes_kill(play->processes, act->peer);
    well = processes_begin(play->processes, act->peer, play->out);
    break;
  default:
    well = processes_end(play->processes, act->peer, play->out) &&
           processes_begin(play->processes, act->peer, play->out);
    break;
  }
  for (unsigned i = 0; i < play->model_count; i++)
    if (act->kind == ACT_CLOCK) model_apply(&play->models[i], act, &play->answer);
    else if (act->kind != ACT_SWAP && !act->in_place)
      model_process_ended(&play->models[i], act->peer);
    else if (act->in_place) play->models[i].peers[act->peer].settings = play->models[i].settings;
  return well ? PLAYED_SAME : PLAYED_BROKEN;
}

static enum played play_act(struct play *play, const struct act *act) {
  play->tally->kinds[act->kind]++;
  play->tally->steps++;
  if (play->story) {
    char *words = request_words_of_act(act, &play->names);
    fprintf(play->story, "%4" PRIu32 "  %s\n", act->serial, words ? words : "");
    fflush(play->story);
    free(words);
  }
  enum played played = act->kind >= ACT_CLOCK ? act_on_process(play, act) : call(play, act);
  return played != PLAYED_SAME ? played : check_states(play, act->serial % HISTORY_EVERY == 0);
}

/* -- schedules --------------------------------------------------------------------------------- */

static bool same_settings(const struct sim_settings *a, const struct sim_settings *b) {
  return a->coalescing == b->coalescing && a->hold == b->hold && a->force == b->force &&
         a->filter == b->filter && a->settle_delay_ms == b->settle_delay_ms &&
         a->max_auto_turns == b->max_auto_turns && a->max_aborts == b->max_aborts &&
         a->abort_window_ms == b->abort_window_ms && a->max_items == b->max_items &&
         a->pending_limit == b->pending_limit && a->look == b->look && a->order == b->order &&
         a->age_after_ms == b->age_after_ms && a->preamble == b->preamble;
}

/* Starts all processes with the head's settings, at the starting time of all schedules. */
static enum played set_up(struct play *play, const struct sim_settings *settings) {
  play->processes->now_ms = SIMHOST_EPOCH_MS;
  play->processes->mono_ns += TICK_NS;
  play->processes->settings = *settings;
  for (int peer = 0; peer < PEERS; peer++) {
    struct act act = {.kind = ACT_CONFIGURE, .peer = (enum peer)peer, .settings = *settings};
    if (same_settings(settings, &play->processes->all[peer].settings)) continue;
    if (call(play, &act) != PLAYED_SAME) return PLAYED_BROKEN;
  }
  return PLAYED_SAME;
}

static unsigned count_pending(const struct model *model) {
  unsigned count = 0;
  for (unsigned i = 0; i < model->item_count; i++) count += model->items[i].held == PENDING;
  return count;
}

/* Plays until everything that waits is delivered, which may show differences that were hidden. */
static enum played play_out(struct play *play) {
  enum played played = PLAYED_SAME;
  struct act act;
  for (unsigned i = 0; i < LAST_STEPS && played == PLAYED_SAME; i++) {
    if (!schedule_follow(&play->models[0], ++play->serial, &act)) break;
    played = play_act(play, &act);
  }
  while (played == PLAYED_SAME && schedule_deliver(&play->models[0], ++play->serial, &act)) {
    unsigned before = count_pending(&play->models[0]);
    played = play_act(play, &act);
    if (count_pending(&play->models[0]) >= before) break;
  }
  return played == PLAYED_SAME ? check_states(play, true) : played;
}

enum played schedule_play(struct processes *processes, const struct schedule *schedule,
                          uint64_t session, struct tally *tally, FILE *story, FILE *out) {
  struct sim_settings settings;
  static struct play play;
  struct act act;
  play.processes = processes;
  play.tally = tally;
  play.story = story;
  play.out = out;
  play.separate = !processes->all[PEER_HOST].inside;
  play.serial = 0;
  play.model_count = 1;
  play.names.system_count = 0;
  (void)snprintf(play.names.session, sizeof play.names.session, "session-%" PRIu64, session);
  schedule_settings(schedule->head, &settings);
  model_init(&play.models[0], &settings, processes->one_phase, SIMHOST_EPOCH_MS);
  enum played played = set_up(&play, &settings);
  for (size_t i = 0; i < schedule->step_count && played == PLAYED_SAME; i++) {
    schedule_decode(schedule->steps[i], ++play.serial, &play.models[0], play.separate, &act);
    played = play_act(&play, &act);
  }
  if (played == PLAYED_SAME) played = play_out(&play);
  for (int peer = 0; peer < PEERS; peer++)
    processes->all[peer].settings = play.models[0].peers[peer].settings;
  check_forget(&play);
  tally->schedules++;
  return played;
}
