/* SPDX-License-Identifier: MIT
 */
#include "sim/check.h"

#include "sim/expect.h"
#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *reply_of(const json_t *answer) { return json_object_get(answer, "reply"); }

static bool difference_none(const json_t *expected, const json_t *got) {
  const json_t *optional = json_object_get(expected, "optional");
  if (!optional) return json_equal(expected, got) != 0;
  const json_t *reply = reply_of(got);
  return (json_is_true(optional) && json_is_null(reply)) ||
         json_equal(reply_of(expected), reply) != 0;
}

static void print(FILE *out, const json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  fputs(text ? text : "nothing", out);
  free(text);
}

static void compare(json_t *expected, json_t *got, const char *path, FILE *out) {
  if (json_equal(expected, got)) return;
  if (!json_is_object(expected) || !json_is_object(got)) {
    fprintf(out, "%s: expected ", path);
    print(out, expected);
    fputs(" got ", out);
    print(out, got);
    fputc('\n', out);
    return;
  }
  const char *key = NULL;
  json_t *value = NULL;
  char *deeper = NULL;
  json_object_foreach(expected, key, value) {
    if (asprintf(&deeper, "%s.%s", path, key) >= 0) {
      compare(value, json_object_get(got, key), deeper, out);
      free(deeper);
    }
  }
  json_object_foreach(got, key, value) {
    if (!json_object_get(expected, key) && asprintf(&deeper, "%s.%s", path, key) >= 0) {
      compare(NULL, value, deeper, out);
      free(deeper);
    }
  }
}

/* Prints a line for each place that differs: "WHAT.PATH: expected … got …". */
static void difference_write(json_t *expected, json_t *got, const char *what, FILE *out) {
  json_t *reply = reply_of(expected);
  if (json_object_get(expected, "optional") && json_is_object(reply_of(got))) {
    compare(reply, reply_of(got), what, out);
    return;
  }
  compare(reply && reply_of(got) ? reply : expected, reply && reply_of(got) ? reply_of(got) : got,
          what, out);
}

enum { MOST_ROWS = 10000 };

/* -- asking the plugin ------------------------------------------------------------------------- */

static json_t *query(struct play *play, enum peer peer, const char *name, const char *session) {
  json_t *question = json_pack("{s:s, s:s}", "name", name, "session", session);
  if (strcmp(name, "pending") == 0 || strcmp(name, "history") == 0)
    json_object_set_new(question, "limit", json_integer(MOST_ROWS));
  char *text = json_dumps(question, JSON_COMPACT);
  json_decref(question);
  json_t *request = json_pack("{s:s, s:s}", "op", "query", "query", text);
  json_t *answer = NULL;
  free(text);
  if (processes_call(play->processes, peer, request, 0, &answer, play->out) != CALL_ANSWERED)
    return NULL;
  const json_t *error = json_object_get(answer, "error");
  if (error) {
    fprintf(play->out, "query %s: %s: %s\n", name,
            json_string_value(json_object_get(error, "code")),
            json_string_value(json_object_get(error, "text")));
    json_decref(answer);
    return NULL;
  }
  return answer;
}

/* Keeps the models that agree with the plugin. If none does, writes the differences of the first.
 * Takes `got` over. */
static bool keep_equal(struct play *play, const char *what, json_t *got,
                       json_t *(*expect)(const struct play *, const struct model *)) {
  unsigned possible = 0;
  json_t *first = NULL;
  for (unsigned i = 0; i < play->model_count; i++) {
    json_t *expected = expect(play, &play->models[i]);
    if (difference_none(expected, got)) {
      if (possible != i) play->models[possible] = play->models[i];
      possible++;
    }
    if (i == 0) first = json_incref(expected);
    json_decref(expected);
  }
  if (possible == 0) difference_write(first, got, what, play->out);
  play->model_count = possible;
  json_decref(first);
  json_decref(got);
  return possible > 0;
}

static json_t *status_of(const struct play *play, const struct model *model) {
  int pids[PEERS];
  for (int i = 0; i < PEERS; i++) pids[i] = play->processes->all[i].pid;
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

static const struct {
  const char *name;
  json_t *(*plain)(const json_t *, struct names *);
  json_t *(*expect)(const struct play *, const struct model *);
  bool is_past;
} queries[QUERIES] = {{"status", plain_status, status_of, false},
                      {"pending", plain_pending, pending_of, false},
                      {"stats", plain_stats, stats_of, true},
                      {"history", plain_history, history_of, true}};

/* Returns the plain form of the answer, which is often the same object as the last time. */
static json_t *plain_of(struct play *play, size_t i, const json_t *answer) {
  json_t *value = json_object_get(answer, "answer");
  if (value != play->known[i].answer) {
    json_decref(play->known[i].answer);
    json_decref(play->known[i].plain);
    play->known[i].answer = json_incref(value);
    play->known[i].plain = queries[i].plain(answer, &play->names);
  }
  return json_incref(play->known[i].plain);
}

void check_forget(struct play *play) {
  for (size_t i = 0; i < QUERIES; i++) {
    json_decref(play->known[i].answer);
    json_decref(play->known[i].plain);
    play->known[i].answer = play->known[i].plain = NULL;
  }
}

/* Asks one query and compares its answer. */
static enum played compare_query(struct play *play, size_t i) {
  json_t *answer = query(play, PEER_HOST, queries[i].name, play->names.session);
  if (!answer) return PLAYED_BROKEN;
  bool same = keep_equal(play, queries[i].name, plain_of(play, i, answer), queries[i].expect);
  json_decref(answer);
  return same ? PLAYED_SAME : PLAYED_DIFFERENT;
}

enum played check_states(struct play *play, bool with_past) {
  enum played played = PLAYED_SAME;
  for (size_t i = 0; i < QUERIES && played == PLAYED_SAME; i++)
    if (with_past || !queries[i].is_past) played = compare_query(play, i);
  return played;
}

/* -- answers ----------------------------------------------------------------------------------- */

/* Compares the plugin's answer with each model's. Models that agree continue. */
enum played check_answer(struct play *play, const struct act *act, const json_t *answer) {
  uint64_t delivery = 0;
  const struct sim_settings *settings = &play->models[0].peers[act->peer].settings;
  json_t *got = plain_answer(answer, &play->names, act_looks[settings->look].format, &delivery);
  json_t *first = NULL;
  unsigned possible = 0;
  for (unsigned i = 0; i < play->model_count; i++) {
    struct model *model = &play->models[i];
    model_apply(model, act, &play->answer);
    json_t *expected = expect_answer(model, &play->answer, &model->peers[act->peer].settings);
    if (difference_none(expected, got)) {
      if (play->answer.delivery >= 0 && play->answer.error == 0)
        model->deliveries[play->answer.delivery].public_id = delivery;
      if (possible != i) play->models[possible] = *model;
      possible++;
    }
    if (i == 0) first = json_incref(expected);
    json_decref(expected);
  }
  play->model_count = possible;
  if (possible == 0) {
    difference_write(first, got, act_is_event(act->kind) ? "reply" : "answer", play->out);
    const json_t *text = json_object_get(json_object_get(answer, "error"), "text");
    if (text) fprintf(play->out, "the plugin's error: %s\n", json_string_value(text));
  }
  json_decref(first);
  json_decref(got);
  return possible > 0 ? PLAYED_SAME : PLAYED_DIFFERENT;
}

/* -- what other processes receive -------------------------------------------------------------- */

/* Takes `expected` over. */
static enum played compare_child(struct play *play, const char *child, json_t *expected,
                                 const char *what) {
  json_t *answer = query(play, PEER_HOST, "pending", child);
  bool same = false;
  if (answer) {
    json_t *got = plain_pending(answer, &play->names);
    json_object_set_new(got, "leased", json_integer(-1)); /* the parent's */
    json_object_set_new(expected, "leased", json_integer(-1));
    same = difference_none(expected, got);
    if (!same) difference_write(expected, got, what, play->out);
    json_decref(got);
  }
  json_decref(expected);
  json_decref(answer);
  return same ? PLAYED_SAME : answer ? PLAYED_DIFFERENT : PLAYED_BROKEN;
}

/* Resumes the child with a transcript that has everything that the parent has leased. */
static enum played resume_child(struct play *play, enum peer peer, const char *child) {
  const struct model *model = &play->models[0];
  json_t *answer = NULL, *deliveries = json_array();
  for (unsigned i = 0; i < model->delivery_count; i++)
    if (model->deliveries[i].state == DELIVERY_LEASED && model->deliveries[i].public_id != 0)
      json_array_append_new(deliveries, json_sprintf("%" PRIu64, model->deliveries[i].public_id));
  json_t *event = json_pack("{s:s, s:s, s:{s:o}}", "type", "session.resumed", "session", child,
                            "data", "deliveries", deliveries);
  char *text = json_dumps(event, JSON_COMPACT);
  json_t *request = json_pack("{s:s, s:s}", "op", "event", "event", text);
  free(text);
  json_decref(event);
  enum call_outcome outcome = processes_call(play->processes, peer, request, 0, &answer, play->out);
  bool refused = outcome == CALL_ANSWERED && json_object_get(answer, "error");
  if (refused) fputs("the child could not be resumed\n", play->out);
  json_decref(answer);
  return outcome != CALL_ANSWERED ? PLAYED_BROKEN : refused ? PLAYED_DIFFERENT : PLAYED_SAME;
}

/* Checks that the child has copies of leased items too, until it resumes with the parent's
 * deliveries. */
enum played check_child(struct play *play, const struct act *act) {
  const struct model *model = &play->models[0];
  char child[2 * NAME_SIZE];
  (void)snprintf(child, sizeof child, "%s-%" PRIu32, play->names.session, act->serial);
  enum played played =
      compare_child(play, child, expect_child(model, false), "the child's pending");
  if (played == PLAYED_SAME) played = resume_child(play, act->peer, child);
  if (played != PLAYED_SAME) return played;
  return compare_child(play, child, expect_child(model, true),
                       "what the resumed child has pending");
}

static bool names_session(const json_t *sessions, const char *session) {
  size_t i = 0;
  const json_t *name = NULL;
  json_array_foreach(sessions, i, name) {
    if (strcmp(json_string_value(name), session) == 0) return true;
  }
  return false;
}

/* Takes the names of the sessions that have rung for the owner so far. */
static json_t *take_rings(struct play *play) {
  json_t *answer = NULL;
  enum peer owner = play->models[0].owner;
  if (processes_call(play->processes, owner, json_pack("{s:s}", "op", "next_session"), 0, &answer,
                     play->out) != CALL_ANSWERED)
    return NULL;
  return answer;
}

static bool may_ring(const struct play *play, const struct act *act) {
  const struct model *model = &play->models[0];
  bool rings = act_is_notification(act->kind) || act_is_message(act->kind) || act->kind == ACT_STOP;
  return rings && play->model_count == 1 && model_owner_lives(model) && model->owner != act->peer &&
         act->dies_in == 0;
}

enum played check_before_ring(struct play *play, const struct act *act) {
  json_t *answer = may_ring(play, act) ? take_rings(play) : json_object();
  json_decref(answer);
  return answer ? PLAYED_SAME : PLAYED_BROKEN;
}

enum played check_ring(struct play *play, const struct act *act) {
  if (!may_ring(play, act) || !model_must_ring(&play->models[0], act, &play->answer))
    return PLAYED_SAME;
  json_t *answer = take_rings(play);
  if (!answer) return PLAYED_BROKEN;
  bool rang = names_session(json_object_get(answer, "sessions"), play->names.session);
  if (!rang) {
    fprintf(play->out, "wake: expected the session to have woken the %s\n",
            act_peer_names[play->models[0].owner]);
  }
  json_decref(answer);
  return rang ? PLAYED_SAME : PLAYED_DIFFERENT;
}
