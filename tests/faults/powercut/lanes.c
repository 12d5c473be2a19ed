/* SPDX-License-Identifier: MIT
 */
#include "powercut/lanes.h"

#include <inttypes.h>
#include <string.h>

#include "kit/arguments.h"
#include "powercut/tracer.h"

enum { TURNS_MAX = 10000 };

static void must(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("workload: %s: %s", what, rig_why(code, error));
}

static void forget(struct tokens *tokens, uint64_t token) {
  size_t kept = 0;
  for (size_t i = 0; i < tokens->count; i++) {
    if (tokens->at[i] != token) tokens->at[kept++] = tokens->at[i];
  }
  tokens->count = kept;
}

void lane_hears(struct lane *lane, const struct heard *heard) {
  if (heard->damaged) die("workload: a message that nobody submitted: %s", heard->sample);
  if (!heard->asked) return;
  lane->offered.count = 0;
  for (size_t i = 0; i < heard->offered.count; i++) {
    tokens_add(&lane->offered, heard->offered.at[i]);
    forget(&lane->waiting, heard->offered.at[i]);
  }
}

/* -- steps of the host ------------------------------------------------------------------------- */

struct step {
  struct lane *lane;
  struct rig *rig;
  struct random *random;
  struct heard heard;
  struct tidings_error error;
};

static void submit(struct step *step, uint64_t token) {
  struct lane *lane = step->lane;
  tracer_mark_push(token, lane->number, false);
  must(turns_submit(step->rig, lane->session, token, random_chance(step->random, 30), &step->heard,
                    &step->error),
       &step->error, "submit");
  tracer_mark(MARK_PUSHED, token, lane->number, NULL, 0);
  tokens_add(&lane->waiting, token);
  lane_hears(lane, &step->heard);
}

/* Cancels a waiting message. If it has come back from a delivery, and is now offered, fired or in
 * another delivery, it stays. */
static void cancel(struct step *step) {
  struct lane *lane = step->lane;
  if (lane->waiting.count == 0) return;
  uint64_t token = lane->waiting.at[random_below(step->random, lane->waiting.count)];
  forget(&lane->waiting, token);
  tracer_mark(MARK_END, token, 0, NULL, 0);
  must(turns_cancel(step->rig, lane->session, token, &step->heard, &step->error), &step->error,
       "cancel");
  tracer_mark(MARK_ENDED, token, 0, NULL, 0);
  lane_hears(lane, &step->heard);
}

static void say(struct step *step, const char *type) {
  must(turns_event(step->rig, step->lane->session, type, NULL, &step->heard, &step->error),
       &step->error, type);
  lane_hears(step->lane, &step->heard);
}

static uint64_t take_offer(struct step *step) {
  struct lane *lane = step->lane;
  must(turns_request(step->rig, lane->session, &lane->offered, &step->heard, &step->error),
       &step->error, "a request with messages");
  tracer_mark(MARK_LEASED, step->heard.delivery, lane->number, lane->offered.at,
              lane->offered.count);
  lane->offered.count = 0;
  lane->runs = true;
  return step->heard.delivery;
}

/* Starts the offered turn without a request: its messages have fired for good. */
static void start_offer(struct step *step) {
  struct lane *lane = step->lane;
  for (size_t i = 0; i < lane->offered.count; i++)
    tracer_mark(MARK_END, lane->offered.at[i], 0, NULL, 0);
  must(turns_event(step->rig, lane->session, "turn.started", &lane->offered, &step->heard,
                   &step->error),
       &step->error, "turn.started");
  for (size_t i = 0; i < lane->offered.count; i++)
    tracer_mark(MARK_ENDED, lane->offered.at[i], 0, NULL, 0);
  lane->offered.count = 0;
  lane->runs = true;
}

static uint64_t steer(struct step *step) {
  struct lane *lane = step->lane;
  must(turns_result(step->rig, lane->session, &step->heard, &step->error), &step->error,
       "a tool result");
  if (!step->heard.delivery) return 0;
  tracer_mark(MARK_LEASED, step->heard.delivery, lane->number, step->heard.steered.at,
              step->heard.steered.count);
  for (size_t i = 0; i < step->heard.steered.count; i++)
    forget(&lane->waiting, step->heard.steered.at[i]);
  return step->heard.delivery;
}

static uint64_t answer_offer(struct step *step) {
  uint64_t dice = random_below(step->random, 100);
  if (dice < 70) return take_offer(step);
  if (dice < 85) {
    start_offer(step);
    return 0;
  }
  step->lane->offered.count = 0;
  say(step, dice < 95 ? "turn.declined" : "turn.failed");
  return 0;
}

static uint64_t go_on(struct step *step) {
  static const char *const phases[] = {"stream.started", "tools.started",      "turn.retrying",
                                       "turn.waiting",   "session.compacting", "session.compacted"};
  uint64_t dice = random_below(step->random, 100);
  if (dice < 40) return steer(step);
  if (dice < 60) {
    say(step, phases[random_below(step->random, sizeof phases / sizeof *phases)]);
    return 0;
  }
  step->lane->runs = false;
  say(step, dice < 85 ? "turn.finished" : dice < 93 ? "turn.aborted" : "turn.failed");
  return 0;
}

uint64_t lane_step(struct lane *lane, struct rig *rig, struct random *random, uint64_t token,
                   bool *ret_token_used) {
  struct step step = {.lane = lane, .rig = rig, .random = random, .error = RIG_ERROR};
  uint64_t delivery = 0, dice = random_below(random, 100);
  *ret_token_used = dice < 40;
  if (dice < 40) submit(&step, token);
  else if (dice < 45) cancel(&step);
  else if (lane->offered.count) delivery = answer_offer(&step);
  else if (lane->runs) delivery = go_on(&step);
  else say(&step, dice < 80 ? "turn.resume" : "session.compacted");
  heard_clear(&step.heard);
  return delivery;
}

/* -- afterwards -------------------------------------------------------------------------------- */

bool lane_drain(const char *session, struct rig *rig, struct tokens *ret_came, char *why,
                size_t why_size) {
  struct heard heard = {0};
  struct tidings_error error = RIG_ERROR;
  /* The offer in the reply to attaching is not known here. */
  int32_t code = turns_event(rig, session, "turn.declined", NULL, &heard, &error);
  if (code == 0) code = turns_event(rig, session, "turn.resume", NULL, &heard, &error);
  for (int turns = 0; code == 0 && heard.asked && turns < TURNS_MAX && !heard.damaged; turns++) {
    struct tokens offered = heard.offered;
    heard.offered = (struct tokens){0};
    for (size_t i = 0; i < offered.count; i++) tokens_add(ret_came, offered.at[i]);
    code = turns_request(rig, session, &offered, &heard, &error);
    if (code == 0) code = turns_settle(rig, heard.delivery, TIDINGS_COMMITTED, &heard, &error);
    if (code == 0) code = turns_event(rig, session, "turn.finished", &offered, &heard, &error);
    tokens_free(&offered);
  }
  bool good = code == 0 && !heard.damaged && heard.state == TIDINGS_STATE_IDLE;
  if (!good)
    snprintf(why, why_size, "draining the queue of %s: %s", session,
             code            ? rig_why(code, &error)
             : heard.damaged ? heard.sample
                             : "it comes to no end");
  heard_clear(&heard);
  return good;
}
