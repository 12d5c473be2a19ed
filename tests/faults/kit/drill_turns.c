/* SPDX-License-Identifier: MIT
 */
#include "kit/drill_turns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/turns.h"

#define SESSION "drill-turns"
#define STATUS "{\"name\":\"status\",\"session\":\"" SESSION "\"}"
enum { BOOK_MAX = 64, TURNS_MAX = 200 };

/* Messages of the session: those that still must start a turn, and those that may. */
struct book {
  uint64_t at[BOOK_MAX];
  size_t count;
};

static struct book due, in_doubt;
/* named by the attempt; on the heap, because the kit frees it */
static struct tokens offered;
static uint64_t delivery, subject;
static char *status_before;

static void put(struct book *book, uint64_t token) {
  if (book->count < BOOK_MAX) book->at[book->count++] = token;
}

static bool strike(struct book *book, uint64_t token) {
  for (size_t i = 0; i < book->count; i++) {
    if (book->at[i] != token) continue;
    book->at[i] = book->at[--book->count];
    return true;
  }
  return false;
}

/* -- without faults ---------------------------------------------------------------------------- */

static void say(struct drill *drill, const char *type) {
  struct heard heard = {0};
  struct tidings_error error = RIG_ERROR;
  drill_must(drill, turns_event(&drill->rig, SESSION, type, NULL, &heard, &error), &error, type);
  if (heard.asked) {
    offered.count = 0;
    for (size_t i = 0; i < heard.offered.count; i++) tokens_add(&offered, heard.offered.at[i]);
  }
  heard_clear(&heard);
}

static void submit(struct drill *drill, bool steer) {
  struct heard heard = {0};
  struct tidings_error error = RIG_ERROR;
  uint64_t token = drill->next_token++;
  drill_must(drill, turns_submit(&drill->rig, SESSION, token, steer, &heard, &error), &error,
             "a submit without fault");
  put(&due, token);
  subject = token;
  offered.count = 0;
  for (size_t i = 0; i < heard.offered.count; i++) tokens_add(&offered, heard.offered.at[i]);
  heard_clear(&heard);
}

static void request(struct drill *drill) {
  struct heard heard = {0};
  struct tidings_error error = RIG_ERROR;
  drill_must(drill, turns_request(&drill->rig, SESSION, &offered, &heard, &error), &error,
             "a request without fault");
  delivery = heard.delivery;
  heard_clear(&heard);
}

static void remember(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  drill_must(drill, rig_query(&drill->rig, STATUS, &status_before, &error), &error, "query status");
}

static void expect_unchanged(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  char *now = NULL;
  drill_must(drill, rig_query(&drill->rig, STATUS, &now, &error), &error, "query status");
  if (now && status_before && strcmp(now, status_before) != 0)
    drill_wrong(drill, "what was refused has changed the session", now);
  free(now);
}

/* Makes everything that waits start a turn. First, messages that a call of unknown outcome has
 * leased come back, because their delivery is in no transcript. */
static void audit(struct drill *drill) {
  struct heard heard = {0};
  struct tidings_error error = RIG_ERROR;
  uint64_t nothing = 0;
  char number[32];
  drill_must(drill, rig_attach(&drill->rig, SESSION, &nothing, 0, &error), &error,
             "session.resumed");
  offered.count = 0;
  say(drill, "turn.failed"); /* ends any offered or running turn, and nothing starts */
  say(drill, "session.compacted");
  say(drill, "turn.resume");
  for (int turns = 0; offered.count && turns < TURNS_MAX; turns++) {
    for (size_t i = 0; i < offered.count; i++) {
      snprintf(number, sizeof number, "%" PRIu64, offered.at[i]);
      if (!strike(&due, offered.at[i]) && !strike(&in_doubt, offered.at[i]))
        drill_wrong(drill, "a message was offered that was refused, cancelled or had fired",
                    number);
    }
    request(drill);
    drill_must(drill, turns_settle(&drill->rig, delivery, TIDINGS_COMMITTED, &heard, &error),
               &error, "settle");
    offered.count = 0;
    say(drill, "turn.finished");
  }
  heard_clear(&heard);
  snprintf(number, sizeof number, "%zu of them", due.count);
  if (due.count) drill_wrong(drill, "acknowledged messages did not start a turn", number);
  due.count = in_doubt.count = 0;
}

static void check(struct drill *drill, int32_t code, const struct tidings_error *error) {
  (void)error;
  if (code != 0 && !drill_outcome_unknown(code)) expect_unchanged(drill);
  free(status_before);
  status_before = NULL;
  audit(drill);
  tokens_free(&offered);
}

/* -- prepared ---------------------------------------------------------------------------------- */

static void prepare_idle(struct drill *drill) {
  say(drill, "turn.resume"); /* attaches */
  remember(drill);
}

static void prepare_turn(struct drill *drill) {
  say(drill, "turn.started");
  remember(drill);
}

static void prepare_queue(struct drill *drill) {
  say(drill, "turn.started");
  submit(drill, false);
  submit(drill, false);
  remember(drill);
}

static void prepare_steering(struct drill *drill) {
  say(drill, "turn.started");
  submit(drill, true);
  submit(drill, true);
  remember(drill);
}

static void prepare_offer(struct drill *drill) {
  say(drill, "turn.resume");
  submit(drill, false);
  remember(drill);
}

static void prepare_request(struct drill *drill) {
  say(drill, "turn.resume");
  submit(drill, false);
  request(drill);
  remember(drill);
}

static void prepare_compacting(struct drill *drill) {
  say(drill, "turn.started");
  submit(drill, false);
  say(drill, "session.compacting");
  remember(drill);
}

/* -- attempted --------------------------------------------------------------------------------- */

static int32_t attempt_submit(struct drill *drill, bool steer, struct tidings_error *error) {
  struct heard heard = {0};
  uint64_t token = drill->next_token++;
  int32_t code = turns_submit(&drill->rig, SESSION, token, steer, &heard, error);
  if (code == 0) put(&due, token);
  else if (drill_outcome_unknown(code)) put(&in_doubt, token);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_submit_queued(struct drill *drill, struct tidings_error *error) {
  return attempt_submit(drill, false, error);
}
static int32_t attempt_submit_steered(struct drill *drill, struct tidings_error *error) {
  return attempt_submit(drill, true, error);
}

static int32_t attempt_event(struct drill *drill, const char *type, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_event(&drill->rig, SESSION, type, NULL, &heard, error);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_finish(struct drill *drill, struct tidings_error *error) {
  return attempt_event(drill, "turn.finished", error);
}
static int32_t attempt_fail(struct drill *drill, struct tidings_error *error) {
  return attempt_event(drill, "turn.failed", error);
}
static int32_t attempt_compacted(struct drill *drill, struct tidings_error *error) {
  return attempt_event(drill, "session.compacted", error);
}

static int32_t attempt_cancel(struct drill *drill, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_cancel(&drill->rig, SESSION, subject, &heard, error);
  bool unknown = drill_outcome_unknown(code);
  if ((code == 0 || unknown) && strike(&due, subject) && unknown) put(&in_doubt, subject);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_start(struct drill *drill, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_event(&drill->rig, SESSION, "turn.started", &offered, &heard, error);
  bool unknown = drill_outcome_unknown(code);
  if ((code == 0 || unknown) && strike(&due, subject) && unknown) put(&in_doubt, subject);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_request(struct drill *drill, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_request(&drill->rig, SESSION, &offered, &heard, error);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_result(struct drill *drill, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_result(&drill->rig, SESSION, &heard, error);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_settle(struct drill *drill, uint32_t outcome, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code = turns_settle(&drill->rig, delivery, outcome, &heard, error);
  bool unknown = drill_outcome_unknown(code), committed = outcome == TIDINGS_COMMITTED;
  if (committed && (code == 0 || unknown) && strike(&due, subject) && unknown)
    put(&in_doubt, subject);
  heard_clear(&heard);
  return code;
}

static int32_t attempt_commit(struct drill *drill, struct tidings_error *error) {
  return attempt_settle(drill, TIDINGS_COMMITTED, error);
}
static int32_t attempt_roll_back(struct drill *drill, struct tidings_error *error) {
  return attempt_settle(drill, TIDINGS_ROLLED_BACK, error);
}

const struct drill_operation drill_turns[] = {
    {"submit to an idle session", false, prepare_idle, attempt_submit_queued, check},
    {"submit behind others", false, prepare_queue, attempt_submit_queued, check},
    {"submit, steer", false, prepare_turn, attempt_submit_steered, check},
    {"message.cancelled", false, prepare_queue, attempt_cancel, check},
    {"turn.started with an offer", false, prepare_offer, attempt_start, check},
    {"a request with messages", false, prepare_offer, attempt_request, check},
    {"a tool result that steers", false, prepare_steering, attempt_result, check},
    {"turn.finished with a queue", false, prepare_queue, attempt_finish, check},
    {"turn.failed with a queue", false, prepare_queue, attempt_fail, check},
    {"session.compacted with a ledger", false, prepare_compacting, attempt_compacted, check},
    {"settle a request, committed", false, prepare_request, attempt_commit, check},
    {"settle a request, rolled back", false, prepare_request, attempt_roll_back, check},
};
const size_t drill_turns_count = sizeof drill_turns / sizeof drill_turns[0];
