/* SPDX-License-Identifier: MIT
 *
 * sim/play.c: a schedule, step by step. Usually there is one model. A process that dies inside a commit leaves several, because what the
 * commit was for may or may not have happened: all those go on that agree with what the store says, until they do not.
 */
#include "sim/play.h"

#include "simhost.h"

#include "sim/difference.h"
#include "sim/expect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 12, TICK_NS = 1000000, LAST_STEPS = 150, HISTORY_EVERY = 32, MOST_ROWS = 10000 };

struct play {
  struct processes *processes;
  struct tally *tally;
  struct names names;
  FILE *story, *out;
  bool separate, interrupted; /* interrupted: the step's answer is not known */
  uint32_t serial;
  unsigned model_count;
  struct model models[MODELS];
  struct answer answer; /* of the model that was asked last */
  struct model next[MODELS];
};

/* -- asking the plugin --------------------------------------------------------------------------------------------------------------------- */

static json_t *query(struct play *play, enum peer peer, const char *name, const char *session) {
  json_t *question = json_pack("{s:s, s:s}", "name", name, "session", session);
  if (strcmp(name, "pending") == 0 || strcmp(name, "history") == 0) {
    json_object_set_new(question, "limit", json_integer(MOST_ROWS));
  }
  char *text = json_dumps(question, JSON_COMPACT);
  json_decref(question);
  json_t *request = json_pack("{s:s, s:s}", "op", "query", "query", text);
  json_t *answer = NULL;
  free(text);
  if (processes_call(play->processes, peer, request, 0, &answer, play->out) != CALL_ANSWERED) {
    return NULL;
  }
  const json_t *error = json_object_get(answer, "error");
  if (error != NULL) {
    fprintf(play->out, "query %s: %s: %s\n", name, json_string_value(json_object_get(error, "code")),
            json_string_value(json_object_get(error, "text")));
    json_decref(answer);
    return NULL;
  }
  return answer;
}

/* Keeps the models that say the same as the plugin. What the first one says differently is written if none is left. Takes `got`. */
static bool keep_equal(struct play *play, const char *what, json_t *got, json_t *(*expect)(const struct play *, const struct model *)) {
  unsigned kept = 0;
  json_t *first = NULL;
  for (unsigned i = 0; i < play->model_count; i++) {
    json_t *expected = expect(play, &play->models[i]);
    if (difference_none(expected, got)) {
      if (kept != i) {
        play->models[kept] = play->models[i];
      }
      kept++;
    }
    if (i == 0) {
      first = json_incref(expected);
    }
    json_decref(expected);
  }
  if (kept == 0) {
    difference_write(first, got, what, play->out);
  }
  play->model_count = kept;
  json_decref(first);
  json_decref(got);
  return kept > 0;
}

static json_t *status_of(const struct play *play, const struct model *model) {
  int pids[PEERS];
  for (int i = 0; i < PEERS; i++) {
    pids[i] = play->processes->all[i].pid;
  }
  return expect_status(model, pids);
}

static json_t *pending_of(const struct play *play, const struct model *model) {
  (void)play;
  return expect_pending(model);
}

static json_t *stats_of(const struct play *play, const struct model *model) {
  (void)play;
  return expect_stats(model);
}

static json_t *history_of(const struct play *play, const struct model *model) {
  (void)play;
  return expect_history(model);
}

/* Asks one query and compares its answer. */
static enum played compare_query(struct play *play, const char *name, json_t *(*plain)(const json_t *, struct names *),
                                 json_t *(*expect)(const struct play *, const struct model *)) {
  json_t *answer = query(play, PEER_HOST, name, play->names.session);
  if (answer == NULL) {
    return PLAYED_BROKEN;
  }
  bool same = keep_equal(play, name, plain(answer, &play->names), expect);
  json_decref(answer);
  return same ? PLAYED_SAME : PLAYED_DIFFERENT;
}

/* The past is longer than the present: it is compared now and then. */
static enum played compare_states(struct play *play, bool with_past) {
  enum played played = compare_query(play, "status", plain_status, status_of);
  if (played == PLAYED_SAME) {
    played = compare_query(play, "pending", plain_pending, pending_of);
  }
  if (played == PLAYED_SAME && with_past) {
    played = compare_query(play, "stats", plain_stats, stats_of);
  }
  if (played == PLAYED_SAME && with_past) {
    played = compare_query(play, "history", plain_history, history_of);
  }
  return played;
}

/* -- calls --------------------------------------------------------------------------------------------------------------------------------- */

/* The plugin's answer against each model's; the models go on as the plugin did. */
static enum played compare_answer(struct play *play, const struct act *act, const json_t *answer) {
  uint64_t delivery = 0;
  json_t *got = plain_answer(answer, &play->names, &delivery);
  json_t *first = NULL;
  unsigned kept = 0;
  for (unsigned i = 0; i < play->model_count; i++) {
    struct model *model = &play->models[i];
    model_apply(model, act, &play->answer);
    json_t *expected = expect_answer(model, &play->answer);
    if (difference_none(expected, got)) {
      if (play->answer.delivery >= 0 && play->answer.error == 0) {
        model->deliveries[play->answer.delivery].public_id = delivery;
      }
      if (kept != i) {
        play->models[kept] = *model;
      }
      kept++;
    }
    if (i == 0) {
      first = json_incref(expected);
    }
    json_decref(expected);
  }
  play->model_count = kept;
  if (kept == 0) {
    difference_write(first, got, act_is_event(act->kind) ? "reply" : "answer", play->out);
    const json_t *text = json_object_get(json_object_get(answer, "error"), "text");
    if (text != NULL) {
      fprintf(play->out, "the plugin's words: %s\n", json_string_value(text));
    }
  }
  json_decref(first);
  json_decref(got);
  return kept > 0 ? PLAYED_SAME : PLAYED_DIFFERENT;
}

static bool is_new(const struct play *play, unsigned count, const struct model *model) {
  for (unsigned i = 0; i < count; i++) {
    if (memcmp(&play->next[i], model, sizeof *model) == 0) {
      return false;
    }
  }
  return count < MODELS;
}

/* The process died inside a commit: nothing of the call happened, or all of it, or only what has a commit of its own before the rest. */
static enum played branch(struct play *play, const struct act *act) {
  unsigned count = 0;
  for (unsigned i = 0; i < play->model_count; i++) {
    static struct model variant;
    variant = play->models[i];
    model_process_ended(&variant, act->peer);
    if (is_new(play, count, &variant)) {
      play->next[count++] = variant;
    }
    variant = play->models[i];
    bool has_first = model_apply_first(&variant, act);
    model_process_ended(&variant, act->peer);
    if (has_first && is_new(play, count, &variant)) {
      play->next[count++] = variant;
    }
    variant = play->models[i];
    model_apply(&variant, act, &play->answer);
    model_process_ended(&variant, act->peer);
    if (is_new(play, count, &variant)) {
      play->next[count++] = variant;
    }
  }
  memcpy(play->models, play->next, count * sizeof play->next[0]);
  play->model_count = count;
  play->tally->commits_died++;
  return processes_begin(play->processes, act->peer, play->out) ? PLAYED_SAME : PLAYED_BROKEN;
}

/* The child of a fork has a copy of what is pending, and nothing else. */
static enum played compare_child(struct play *play, const struct act *act) {
  char child[2 * NAME_SIZE];
  (void)snprintf(child, sizeof child, "%s-%" PRIu32, play->names.session, act->serial);
  json_t *answer = query(play, PEER_HOST, "pending", child);
  if (answer == NULL) {
    return PLAYED_BROKEN;
  }
  json_t *got = plain_pending(answer, &play->names);
  json_decref(answer);
  json_object_set_new(got, "leased", json_integer(-1)); /* the parent's */
  json_t *expected = expect_pending(&play->models[0]);
  json_object_set_new(expected, "leased", json_integer(-1));
  bool same = difference_none(expected, got);
  if (!same) {
    difference_write(expected, got, "the child's pending", play->out);
  }
  json_decref(expected);
  json_decref(got);
  return same ? PLAYED_SAME : PLAYED_DIFFERENT;
}

static enum played call(struct play *play, const struct act *act) {
  json_t *answer = NULL;
  switch (processes_call(play->processes, act->peer, request_of_act(act, &play->names), act->dies_in, &answer, play->out)) {
  case CALL_DIED: play->interrupted = true; return branch(play, act);
  case CALL_FAILED: return PLAYED_BROKEN;
  case CALL_ANSWERED: break;
  }
  enum played played = PLAYED_SAME;
  if (act->kind == ACT_CONFIGURE) {
    for (unsigned i = 0; i < play->model_count; i++) {
      model_apply(&play->models[i], act, &play->answer);
    }
    if (json_object_get(answer, "error") != NULL) {
      fprintf(play->out, "configure: %s\n", json_string_value(json_object_get(json_object_get(answer, "error"), "text")));
      played = PLAYED_DIFFERENT;
    }
  } else {
    bool forks = act->kind == ACT_FORKED && json_is_false(json_object_get(json_object_get(answer, "reply"), "duplicate"));
    played = compare_answer(play, act, answer);
    if (played == PLAYED_SAME && forks) {
      played = compare_child(play, act);
    }
  }
  json_decref(answer);
  return played;
}

static enum played befall(struct play *play, const struct act *act) {
  json_t *answer = NULL;
  bool well = true;
  switch (act->kind) {
  case ACT_CLOCK:
    play->processes->now_ms += act->clock_ms;
    play->processes->mono_ns += TICK_NS;
    break;
  case ACT_SWAP:
    well = processes_call(play->processes, act->peer, json_pack("{s:s}", "op", "swap"), 0, &answer, play->out) == CALL_ANSWERED;
    if (well && json_object_get(answer, "error") != NULL) {
      fprintf(play->out, "swap: %s\n", json_string_value(json_object_get(json_object_get(answer, "error"), "text")));
      well = false;
    }
    json_decref(answer);
    break;
  case ACT_CRASH: processes_kill(play->processes, act->peer); well = processes_begin(play->processes, act->peer, play->out); break;
  default: well = processes_end(play->processes, act->peer, play->out) && processes_begin(play->processes, act->peer, play->out); break;
  }
  for (unsigned i = 0; i < play->model_count; i++) {
    if (act->kind == ACT_CLOCK) {
      model_apply(&play->models[i], act, &play->answer);
    } else if (act->kind != ACT_SWAP && !act->in_place) {
      model_process_ended(&play->models[i], act->peer);
    } else if (act->in_place) {
      play->models[i].peers[act->peer].settings = play->models[i].settings;
    }
  }
  return well ? PLAYED_SAME : PLAYED_BROKEN;
}

static enum played play_act(struct play *play, const struct act *act) {
  play->interrupted = false;
  play->tally->kinds[act->kind]++;
  play->tally->steps++;
  if (play->story != NULL) {
    char *words = words_of_act(act, &play->names);
    fprintf(play->story, "%4" PRIu32 "  %s\n", act->serial, words != NULL ? words : "");
    fflush(play->story);
    free(words);
  }
  enum played played = act->kind >= ACT_CLOCK ? befall(play, act) : call(play, act);
  return played != PLAYED_SAME ? played : compare_states(play, act->serial % HISTORY_EVERY == 0);
}

/* -- schedules ----------------------------------------------------------------------------------------------------------------------------- */

static bool same_settings(const struct sim_settings *a, const struct sim_settings *b) {
  return a->coalescing == b->coalescing && a->hold == b->hold && a->force == b->force && a->filter == b->filter &&
         a->settle_delay_ms == b->settle_delay_ms && a->max_auto_turns == b->max_auto_turns && a->max_aborts == b->max_aborts &&
         a->abort_window_ms == b->abort_window_ms && a->max_items == b->max_items && a->pending_limit == b->pending_limit;
}

/* Everybody starts with the head's settings, at the time at which all schedules start. */
static enum played set_up(struct play *play, const struct sim_settings *settings) {
  play->processes->now_ms = SIMHOST_EPOCH_MS;
  play->processes->mono_ns += TICK_NS;
  play->processes->settings = *settings;
  for (int peer = 0; peer < PEERS; peer++) {
    struct act act = {.kind = ACT_CONFIGURE, .peer = (enum peer)peer, .settings = *settings};
    if (same_settings(settings, &play->processes->all[peer].settings)) {
      continue;
    }
    if (call(play, &act) != PLAYED_SAME) {
      return PLAYED_BROKEN;
    }
  }
  return PLAYED_SAME;
}

/* All that waits must come out in the end: differences that nobody saw so far are seen then. */
static enum played play_out(struct play *play) {
  enum played played = PLAYED_SAME;
  struct act act;
  for (unsigned i = 0; i < LAST_STEPS && played == PLAYED_SAME; i++) {
    if (!schedule_follow(&play->models[0], ++play->serial, &act)) {
      break;
    }
    played = play_act(play, &act);
  }
  return played == PLAYED_SAME ? compare_states(play, true) : played;
}

enum played play_schedule(struct processes *processes, const struct schedule *schedule, uint64_t session, struct tally *tally, FILE *story,
                          FILE *out) {
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
  model_init(&play.models[0], &settings, SIMHOST_EPOCH_MS);
  enum played played = set_up(&play, &settings);
  for (size_t i = 0; i < schedule->step_count && played == PLAYED_SAME; i++) {
    schedule_decode(schedule->steps[i], ++play.serial, &play.models[0], play.separate, &act);
    played = play_act(&play, &act);
  }
  if (played == PLAYED_SAME) {
    played = play_out(&play);
  }
  for (int peer = 0; peer < PEERS; peer++) {
    processes->all[peer].settings = play.models[0].peers[peer].settings;
  }
  tally->schedules++;
  return played;
}
