/* SPDX-License-Identifier: MIT
 *
 * scenario/play.c: plays a checked scenario, step by step, in up to three processes on one store.
 * This process keeps the clock and what must survive a crash of the host: the id of the newest
 * delivery, and the newest offer. It sends the plugin only what the scenario says.
 */
#include "scenario/scenario.h"

#include "command/paths.h"
#include "common/folder.h"
#include "host/agent.h"
#include "host/foreign.h"
#include "host/place.h"
#include "host/simhost.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The actor of a step. All but the first are started when needed. */
static const struct actor {
  const char *name; /* the value of "as"; NULL: a step without it */
  const char *role; /* as in the request "open" */
} actors[] = {{NULL, "host"}, {"second", "host"}, {"producer", "producer"}};

enum { ACTORS = sizeof actors / sizeof actors[0] };

struct play {
  json_t *scenario;
  const struct scenario_options *options;
  FILE *out;
  struct agent agents[ACTORS];
  size_t actor; /* index of this step's actor */
  char *dir;    /* for the store, and for the copies of the plugin that hostkit loads */
  char *store;
  char *config;       /* text, or NULL */
  uint64_t processes; /* how many were started; each has its own seed */
  int64_t now_ms;
  uint64_t mono_ns;
  char *last;            /* id of the newest delivery, or NULL */
  json_t *offer;         /* message ids of the newest offer, or NULL */
  size_t step;           /* from 1 */
  uint64_t fatal_commit; /* the next step dies in this commit; 0: it does not */
  bool died_as_expected;
  enum verdict verdict;
};

/* Starts a line with the step's number, which is missing before the first step and after the
 * last. */
static void print_step(const struct play *play) {
  if (play->step > 0) fprintf(play->out, "step %zu: ", play->step);
}

static void fail(struct play *play, const char *problem, const char *detail) {
  if (play->verdict == VERDICT_PASSED) play->verdict = VERDICT_FAILED;
  print_step(play);
  fprintf(play->out, "%s%s\n", problem, detail);
}

static void fail_with_error(struct play *play, const char *what, const json_t *error) {
  const char *code = json_string_value(json_object_get(error, "code"));
  const char *text = json_string_value(json_object_get(error, "text"));
  play->verdict = VERDICT_FAILED;
  if (play->options->skip_unsupported && strcmp(code, "TIDINGS_E_UNSUPPORTED") == 0)
    play->verdict = VERDICT_SKIPPED;
  print_step(play);
  fprintf(play->out, "%s: %s: %s\n", what, code, text);
}

static void fail_with_agent(struct play *play, enum agent_outcome outcome) {
  play->verdict = outcome == AGENT_DIED          ? VERDICT_CRASHED
                  : outcome == AGENT_HUNG        ? VERDICT_HUNG
                  : outcome == AGENT_INTERRUPTED ? VERDICT_INTERRUPTED
                                                 : VERDICT_FAILED;
  print_step(play);
  agent_describe(play->out, &play->agents[play->actor], outcome);
  fputc('\n', play->out);
}

static bool start_agent(struct play *play);

/* Sends one request, whose reference it takes. Returns the answer, or NULL: the scenario has
 * failed, or the process has died as the scenario demands and was started again. */
static json_t *call(struct play *play, json_t *request) {
  json_object_set_new(request, "now", json_integer(play->now_ms));
  json_object_set_new(request, "mono", json_integer((json_int_t)play->mono_ns));
  json_t *answer = NULL;
  struct agent *agent = &play->agents[play->actor];
  enum agent_outcome outcome = agent_call(agent, request, &answer);
  if (outcome == AGENT_OK) return answer;
  bool killed = WIFSIGNALED(agent->status) && WTERMSIG(agent->status) == SIGKILL;
  if (outcome == AGENT_DIED && play->fatal_commit > 0 && killed) {
    play->fatal_commit = 0;
    play->died_as_expected = true;
    start_agent(play);
    return NULL;
  }
  fail_with_agent(play, outcome);
  return NULL;
}

/* Sends a request whose answer is only success or an error. */
static bool call_plainly(struct play *play, json_t *request, const char *what) {
  json_t *answer = call(play, request);
  if (!answer) return false;
  const json_t *error = json_object_get(answer, "error");
  if (error) fail_with_error(play, what, error);
  bool succeeded = error == NULL;
  json_decref(answer);
  return succeeded;
}

static bool start_agent(struct play *play) {
  play->processes++;
  uint64_t seed = play->options->seed * UINT64_C(1000003) + play->processes;
  enum agent_outcome outcome = agent_start(&play->agents[play->actor], seed,
                                           play->options->timeout_ms, play->options->verbose);
  if (outcome != AGENT_OK) {
    fail_with_agent(play, outcome);
    return false;
  }
  json_t *request =
      json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", "open", "plugin", play->options->plugin, "store",
                play->store, "copies", play->dir, "role", actors[play->actor].role);
  json_t *host_name = json_object_get(play->scenario, "host_name");
  if (host_name) json_object_set(request, "host_name", host_name);
  if (play->config) json_object_set_new(request, "config", json_string(play->config));
  return call_plainly(play, request, "open");
}

static void stop_agent(struct play *play) {
  char *error = NULL;
  enum agent_outcome outcome = agent_stop(&play->agents[play->actor], &error);
  if (error) {
    fail(play, "close: ", error);
    free(error);
  } else if (outcome != AGENT_OK) {
    fail_with_agent(play, outcome);
  }
}

/* Keeps the values for which "$last" and "$offer" stand. */
static void remember(struct play *play, const json_t *reply) {
  const char *delivery = json_string_value(json_object_get(reply, "delivery"));
  if (delivery && strcmp(delivery, "0") != 0) {
    free(play->last);
    play->last = strdup(delivery);
  }
  const json_t *actions = json_object_get(reply, "actions");
  for (size_t i = 0; i < json_array_size(actions); i++) {
    const json_t *action = json_array_get(actions, i);
    const char *type = json_string_value(json_object_get(action, "type"));
    if (!type || strcmp(type, "start_turn") != 0) continue;
    const json_t *messages = json_object_get(action, "messages");
    json_decref(play->offer);
    play->offer = json_array();
    for (size_t m = 0; m < json_array_size(messages); m++)
      json_array_append(play->offer, json_object_get(json_array_get(messages, m), "id"));
  }
}

/* Collects the values with which expectations are compared: the fields of the reply or answer, and
 * content, error and error_text. */
static json_t *flatten(const json_t *answer) {
  json_t *flat = json_object();
  json_t *fields = json_object_get(answer, "reply");
  json_object_update(flat, fields ? fields : json_object_get(answer, "answer"));
  json_t *content = json_object_get(answer, "content");
  if (content) json_object_set(flat, "content", content);
  const json_t *error = json_object_get(answer, "error");
  if (error) {
    json_object_set(flat, "error", json_object_get(error, "code"));
    json_object_set(flat, "error_text", json_object_get(error, "text"));
  }
  return flat;
}

static void compare(struct play *play, const json_t *step, const json_t *answer) {
  json_t *expect = json_object_get(step, "expect");
  const json_t *error = json_object_get(answer, "error");
  if (error && !json_object_get(expect, "error")) {
    fail_with_error(play, "unexpected error", error);
    return;
  }
  const char *missing = NULL;
  json_t *expected =
      expect ? scenario_substitute(expect, play->last, play->offer, &missing) : json_object();
  if (!expected) {
    fail(play, "expect: so far there was no ", missing);
    return;
  }
  char prefix[32];
  snprintf(prefix, sizeof prefix, "step %zu", play->step);
  json_t *got = flatten(answer);
  if (scenario_compare(expected, got, prefix, play->out) > 0) play->verdict = VERDICT_FAILED;
  json_decref(got);
  json_decref(expected);
}

/* Settles the delivery that a hook has handed out, as the step says; by default commits it. */
static void settle_inline(struct play *play, const json_t *step, const json_t *answer) {
  const char *outcome = json_string_value(json_object_get(step, "settle"));
  const char *delivery =
      json_string_value(json_object_get(json_object_get(answer, "reply"), "delivery"));
  if (!delivery || strcmp(delivery, "0") == 0 || (outcome && strcmp(outcome, "none") == 0)) return;
  json_t *settled = call(play, json_pack("{s:s, s:s, s:s}", "op", "settle", "delivery", delivery,
                                         "outcome", outcome ? outcome : "committed"));
  if (!settled) return;
  if (json_object_get(settled, "error"))
    fail_with_error(play, "settle", json_object_get(settled, "error"));
  remember(play, json_object_get(settled, "reply"));
  json_decref(settled);
}

/* Checks after every step that no reply has more text than its carrier has room for. */
static void check_room(struct play *play, const json_t *value, const json_t *answer) {
  const json_t *parts = json_object_get(json_object_get(answer, "reply"), "messages");
  size_t room = (size_t)json_integer_value(json_object_get(value, "room")), bytes = 0;
  for (size_t i = 0; i < json_array_size(parts); i++)
    bytes += json_string_length(json_object_get(json_array_get(parts, i), "text"));
  if (!room || bytes <= room) return;
  play->verdict = VERDICT_FAILED;
  print_step(play);
  fprintf(play->out, "the reply's texts have %zu bytes, and there is room for %zu\n", bytes, room);
}

static json_t *request_for(const char *verb, json_t *value) {
  json_t *request = NULL;
  if (strcmp(verb, "event_raw") == 0) {
    request = json_pack("{s:s, s:O}", "op", "event", "event", value);
  } else if (strcmp(verb, "event") == 0 || strcmp(verb, "query") == 0) {
    char *text = json_dumps(value, JSON_COMPACT);
    request = json_pack("{s:s, s:s}", "op", verb, verb, text);
    free(text);
  } else {
    request = json_copy(value);
    json_object_set_new(request, "op", json_string(verb));
  }
  return request;
}

static bool arm(struct play *play) {
  return play->fatal_commit == 0 ||
         call_plainly(play,
                      json_pack("{s:s, s:I}", "op", "arm", "n", (json_int_t)play->fatal_commit),
                      "crash");
}

/* Call it after a step that should have died inside a commit: if the process lives, the step made
 * too few commits. */
static void disarm(struct play *play) {
  uint64_t wanted = play->fatal_commit;
  play->fatal_commit = 0;
  if (wanted == 0 || play->agents[play->actor].pid == 0) return;
  json_t *answer = call(play, json_pack("{s:s}", "op", "disarm"));
  if (answer) {
    play->verdict = VERDICT_FAILED;
    print_step(play);
    fprintf(play->out,
            "it was to die inside commit %" PRIu64 " but made only %" JSON_INTEGER_FORMAT
            " commits\n",
            wanted, json_integer_value(json_object_get(answer, "commits")));
    json_decref(answer);
  }
}

static void step_call(struct play *play, const json_t *step, const char *verb, json_t *value) {
  if (!arm(play)) return;
  play->died_as_expected = false;
  json_t *answer = call(play, request_for(verb, value));
  if (!answer) {
    if (play->died_as_expected && json_object_get(step, "expect"))
      fail(play, "died before it answered: nothing to compare with what was expected", "");
    return;
  }
  remember(play, json_object_get(answer, "reply"));
  compare(play, step, answer);
  check_room(play, value, answer);
  if (play->verdict == VERDICT_PASSED &&
      (strcmp(verb, "tool_result") == 0 || strcmp(verb, "chat_request") == 0))
    settle_inline(play, step, answer);
  json_decref(answer);
  if (play->verdict == VERDICT_PASSED) disarm(play);
}

static void step_advance(struct play *play, int64_t by_ms) {
  play->now_ms += by_ms;
  if (by_ms > 0) play->mono_ns += (uint64_t)by_ms * UINT64_C(1000000);
}

static void step_crash(struct play *play, const json_t *value) {
  const json_t *n = json_object_get(value, "n");
  if (n && foreign_in_use()) {
    play->verdict = VERDICT_SKIPPED;
    print_step(play);
    fputs("only hostsim's own host can die inside a commit\n", play->out);
    return;
  }
  if (n) {
    play->fatal_commit = (uint64_t)json_integer_value(n);
    return;
  }
  agent_kill(&play->agents[play->actor]);
  start_agent(play);
}

/* Chooses the process of this step, and starts it if need be. */
static void choose_actor(struct play *play, const json_t *step) {
  const char *name = json_string_value(json_object_get(step, "as"));
  play->actor = 0;
  while (name && play->actor + 1 < ACTORS &&
         (!actors[play->actor].name || strcmp(name, actors[play->actor].name) != 0))
    play->actor++;
  if (play->agents[play->actor].pid == 0) start_agent(play);
}

static void perform(struct play *play, const json_t *step) {
  const char *verb = scenario_verb(step);
  const char *missing = NULL;
  choose_actor(play, step);
  if (play->verdict != VERDICT_PASSED) return;
  json_t *value =
      scenario_substitute(json_object_get(step, verb), play->last, play->offer, &missing);
  if (!value) {
    fail(play, "so far there was no ", missing);
    return;
  }
  if (strcmp(verb, "advance_ms") == 0) {
    step_advance(play, json_integer_value(value));
  } else if (strcmp(verb, "restart") == 0) {
    stop_agent(play);
    if (play->verdict == VERDICT_PASSED) start_agent(play);
  } else if (strcmp(verb, "crash") == 0) {
    step_crash(play, value);
  } else if (strcmp(verb, "swap") == 0) {
    call_plainly(play, json_pack("{s:s}", "op", "swap"), "swap");
  } else {
    step_call(play, step, verb, value);
  }
  json_decref(value);
}

static void finish(struct play *play) {
  play->step = 0;
  for (play->actor = 0; play->actor < ACTORS; play->actor++) {
    if (play->verdict == VERDICT_PASSED || play->verdict == VERDICT_FAILED ||
        play->verdict == VERDICT_SKIPPED)
      stop_agent(play);
    agent_kill(&play->agents[play->actor]);
  }
  if (play->store && play->options->keep)
    fprintf(stderr, "hostsim: the store is %s\n", play->store);
  else {
    (void)folder_remove_all(play->dir);
    place_remove(play->store, play->options->plugin);
  }
  free(play->store);
  free(play->dir);
  free(play->config);
  free(play->last);
  json_decref(play->offer);
}

enum verdict scenario_play(json_t *scenario, const struct scenario_options *options, FILE *out) {
  struct play play = {.scenario = scenario,
                      .options = options,
                      .out = out,
                      .now_ms = SIMHOST_EPOCH_MS,
                      .mono_ns = SIMHOST_START_NS};
  const json_t *config = json_object_get(scenario, "config");
  play.config = config ? json_dumps(config, JSON_COMPACT) : NULL;
  play.dir = folder_make_temporary(NULL, "hostsim-scenario");
  char why[256] = "";
  play.store = play.dir ? place_make(play.dir, options->plugin, why, sizeof why) : NULL;
  if (!play.store) fail(&play, "no place for the store: ", why[0] ? why : strerror(errno));
  else start_agent(&play);
  const json_t *steps = json_object_get(scenario, "steps");
  for (size_t i = 0; i < json_array_size(steps) && play.verdict == VERDICT_PASSED; i++) {
    play.step = i + 1;
    perform(&play, json_array_get(steps, i));
  }
  finish(&play);
  return play.verdict;
}
