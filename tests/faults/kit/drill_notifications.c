/* SPDX-License-Identifier: MIT
 */
#include "kit/drill_notifications.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "kit/drill_wake.h"

enum { MANY = 40 };

/* -- opening and closing ----------------------------------------------------------------------- */

static void prepare_closed(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  drill_push_due(drill, 3);
  drill_must(drill, rig_close(&drill->rig, &error), &error, "close without fault");
}

static void prepare_new_store(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  char name[32];
  drill_must(drill, rig_close(&drill->rig, &error), &error, "close without fault");
  snprintf(name, sizeof name, "store-%" PRIu64, ++drill->stores);
  folder_remove(drill->store);
  folder_join(drill->store, drill->folder, name);
  drill->in_doubt.count = 0;
}

static int32_t attempt_open(struct drill *drill, struct tidings_error *error) {
  return rig_open(&drill->rig, &(struct rig_open){.store = drill->store}, error);
}

static void check_open(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)error;
  if (code != 0 && drill->rig.plugin)
    drill_wrong(drill, "a failed open has written its output", NULL);
  drill_reopen(drill, &again, "after a failed open the next fails");
  drill_push_due(drill, 1);
}

static int32_t attempt_close(struct drill *drill, struct tidings_error *error) {
  return rig_close(&drill->rig, error);
}

static void check_close(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)error;
  if (code != 0)
    drill_must(drill, rig_close(&drill->rig, &again), &again,
               "after a failed close the next fails");
  drill_reopen(drill, &again, "open after close fails");
}

/* -- pushing ----------------------------------------------------------------------------------- */

static int32_t attempt_push(struct drill *drill, bool identified, struct tidings_error *error) {
  uint64_t token = drill->next_token++;
  int32_t code = rig_push(&drill->rig, DRILL_SESSION, token, identified, NULL, error);
  if (code == 0) tokens_add(&drill->due, token);
  else if (drill_outcome_unknown(code)) tokens_add(&drill->in_doubt, token);
  return code;
}

static int32_t attempt_push_short(struct drill *drill, struct tidings_error *error) {
  drill->next_token = (drill->next_token | 31) + 1;
  return attempt_push(drill, false, error);
}

static int32_t attempt_push_long(struct drill *drill, struct tidings_error *error) {
  drill->next_token |= 31;
  return attempt_push(drill, false, error);
}

static int32_t attempt_push_identified(struct drill *drill, struct tidings_error *error) {
  drill->next_token = (drill->next_token | 7) + 1;
  return attempt_push(drill, true, error);
}

/* Makes the same push again after a failure, without the fault, which its id allows. */
static void check_push_identified(struct drill *drill, int32_t code,
                                  const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  uint64_t token = drill->next_token - 1;
  (void)error;
  if (code == 0) return;
  drill_take(&drill->in_doubt, token);
  drill_must(drill, rig_push(&drill->rig, DRILL_SESSION, token, true, NULL, &again), &again,
             "pushing again with the same id fails");
  tokens_add(&drill->due, token);
}

static void prepare_duplicate(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  uint64_t token = drill->next_token++;
  drill_must(drill, rig_push(&drill->rig, DRILL_SESSION, token, true, NULL, &error), &error,
             "a push without fault fails");
  tokens_add(&drill->due, token);
}

static int32_t attempt_duplicate(struct drill *drill, struct tidings_error *error) {
  return rig_push(&drill->rig, DRILL_SESSION, drill->next_token - 1, true, NULL, error);
}

/* Pushes into a new session, which is drained at once, so that the lists are about one session
 * only. */
static int32_t attempt_push_elsewhere(struct drill *drill, struct tidings_error *error) {
  char session[40];
  snprintf(session, sizeof session, "new-%" PRIu64, drill->attempts);
  return rig_push(&drill->rig, session, 8, false, NULL, error);
}

static void check_push_elsewhere(struct drill *drill, int32_t code,
                                 const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  struct carried carried = {0};
  char session[40];
  (void)error;
  snprintf(session, sizeof session, "new-%" PRIu64, drill->attempts);
  drill_must(drill, rig_deliver(&drill->rig, session, RIG_TOOL_RESULT, &carried, &again), &again,
             "a hook of the new session fails");
  size_t expected = code == 0, got = carried.tokens.count;
  if (got != expected && !(got == 1 && drill_outcome_unknown(code)))
    drill_wrong(drill, "the new session has too few or too many", NULL);
  if (carried.delivery)
    drill_must(drill, rig_settle(&drill->rig, carried.delivery, TIDINGS_COMMITTED, &again), &again,
               "settling the new session");
  carried_clear(&carried);
}

/* -- delivering and settling ------------------------------------------------------------------- */

static void prepare_many(struct drill *drill) { drill_push_due(drill, MANY); }

static int32_t attempt_deliver(struct drill *drill, enum rig_hook hook,
                               struct tidings_error *error) {
  struct carried carried = {0};
  int32_t code = rig_deliver(&drill->rig, DRILL_SESSION, hook, &carried, error);
  drill->delivery = code == 0 ? carried.delivery : 0;
  if (code == 0) drill_strike(drill, &carried);
  carried_clear(&carried);
  return code;
}

static int32_t attempt_tool_result(struct drill *drill, struct tidings_error *error) {
  return attempt_deliver(drill, RIG_TOOL_RESULT, error);
}

static int32_t attempt_chat_request(struct drill *drill, struct tidings_error *error) {
  return attempt_deliver(drill, RIG_CHAT_REQUEST, error);
}

static void check_deliver(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)error;
  if (code == 0)
    drill_must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, &again), &again,
               "settling what was delivered");
}

static void prepare_leased(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  drill_push_due(drill, 10);
  drill_must(drill, attempt_deliver(drill, RIG_TOOL_RESULT, &error), &error,
             "a hook without fault fails");
}

static int32_t attempt_commit(struct drill *drill, struct tidings_error *error) {
  return rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, error);
}

static void check_commit(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  drill_must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, &again), &again,
             "settling again fails");
}

static void prepare_to_roll_back(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  drill_push_due(drill, 10);
  drill_must(drill, rig_deliver(&drill->rig, DRILL_SESSION, RIG_TOOL_RESULT, &carried, &error),
             &error, "a hook without fault fails");
  drill->delivery = carried.delivery; /* stays due, because it comes again */
  carried_clear(&carried);
}

static int32_t attempt_roll_back(struct drill *drill, struct tidings_error *error) {
  return rig_settle(&drill->rig, drill->delivery, TIDINGS_ROLLED_BACK, error);
}

static void check_roll_back(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  drill_must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_ROLLED_BACK, &again), &again,
             "rolling back again fails");
}

/* -- the session's life, and queries ----------------------------------------------------------- */

static int32_t attempt_opened(struct drill *drill, struct tidings_error *error) {
  return rig_attach(&drill->rig, DRILL_SESSION, NULL, 0, error);
}

static int32_t attempt_resumed(struct drill *drill, struct tidings_error *error) {
  return rig_attach(&drill->rig, DRILL_SESSION, &drill->delivery, 1, error);
}

/* Sends the event again, whether or not the first one took effect. */
static void check_resumed(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  drill_must(drill, attempt_resumed(drill, &again), &again, "session.resumed again fails");
  drill_must(drill, attempt_commit(drill, &again), &again,
             "settling what session.resumed had named fails");
}

static int32_t attempt_closed(struct drill *drill, struct tidings_error *error) {
  (void)drill;
  return rig_event(&drill->rig, "{\"type\":\"session.closed\",\"session\":\"gone\",\"data\":{}}",
                   error);
}

#define QUERY(function, text)                                                                      \
  static int32_t function(struct drill *drill, struct tidings_error *error) {                      \
    return rig_query(&drill->rig, text, NULL, error);                                              \
  }
QUERY(query_pending, "{\"name\":\"pending\",\"session\":\"" DRILL_SESSION "\"}")
QUERY(query_status, "{\"name\":\"status\",\"session\":\"" DRILL_SESSION "\"}")
QUERY(query_history, "{\"name\":\"history\",\"session\":\"" DRILL_SESSION "\"}")
QUERY(query_stats, "{\"name\":\"stats\",\"session\":\"" DRILL_SESSION "\"}")
QUERY(query_stream, "{\"name\":\"stream\",\"session\":\"" DRILL_SESSION "\"}")
QUERY(query_configure, "{\"name\":\"configure\",\"config\":{\"delivery\":{\"order\":\"level\"}}}")

static void prepare_few(struct drill *drill) { drill_push_due(drill, 5); }

/* The first push makes the file grow. */
static void prepare_fresh(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_new_store(drill);
  drill_reopen(drill, &error, "opening a new store");
}

/* -- waking: the drill's own session is this process's, and every session is named once after open
 * --- */

static void prepare_reopened(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_closed(drill);
  drill_reopen(drill, &error, "open after close");
  drill_must(drill, rig_attach(&drill->rig, DRILL_SESSION, NULL, 0, &error), &error,
             "session.opened without fault");
}

static void prepare_waiting(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_reopened(drill);
  drill_must(drill, drill_descriptor(drill, &error), &error, "the wake descriptor without fault");
}

static void check_descriptor(struct drill *drill, int32_t code, const struct tidings_error *error) {
  const char *why = drill_check_descriptor(drill);
  (void)code, (void)error;
  if (why) drill_wrong(drill, "afterwards there is no wake descriptor", why);
}

static void check_named(struct drill *drill, int32_t code, const struct tidings_error *error) {
  const char *why = drill_check_named(drill, DRILL_SESSION);
  (void)code, (void)error;
  if (why) drill_wrong(drill, "afterwards next_session", why);
}

static int32_t attempt_push_ringing(struct drill *drill, struct tidings_error *error) {
  uint64_t token = drill->next_token++;
  int32_t code = drill_push_ringing(drill, DRILL_SESSION, token, error);
  if (code == 0) tokens_add(&drill->due, token);
  else if (drill_outcome_unknown(code)) tokens_add(&drill->in_doubt, token);
  return code;
}

const struct drill_operation drill_notifications[] = {
    {"open a new store", true, prepare_new_store, attempt_open, check_open},
    {"open a store", true, prepare_closed, attempt_open, check_open},
    {"the first push", false, prepare_fresh, attempt_push_short, NULL},
    {"push", false, NULL, attempt_push_short, NULL},
    {"push a long one", false, NULL, attempt_push_long, NULL},
    {"push with an id", false, NULL, attempt_push_identified, check_push_identified},
    {"push a duplicate", false, prepare_duplicate, attempt_duplicate, NULL},
    {"push into a new session", false, NULL, attempt_push_elsewhere, check_push_elsewhere},
    {"tool result with 40", false, prepare_many, attempt_tool_result, check_deliver},
    {"chat request with 40", false, prepare_many, attempt_chat_request, check_deliver},
    {"settle, committed", false, prepare_leased, attempt_commit, check_commit},
    {"settle, rolled back", false, prepare_to_roll_back, attempt_roll_back, check_roll_back},
    {"session.opened", false, prepare_few, attempt_opened, NULL},
    {"session.resumed", false, prepare_leased, attempt_resumed, check_resumed},
    {"session.closed", false, NULL, attempt_closed, NULL},
    {"query pending", false, prepare_few, query_pending, NULL},
    {"query status", false, prepare_few, query_status, NULL},
    {"query history", false, prepare_few, query_history, NULL},
    {"query stats", false, prepare_few, query_stats, NULL},
    {"query stream", false, prepare_few, query_stream, NULL},
    {"query configure", false, NULL, query_configure, NULL},
    {"wake descriptor", false, prepare_reopened, drill_descriptor, check_descriptor},
    {"push that rings", false, prepare_waiting, attempt_push_ringing, check_named},
    {"next_session", false, prepare_waiting, drill_next_session, check_named},
    {"close", false, prepare_few, attempt_close, check_close},
};

const size_t drill_notifications_count = sizeof drill_notifications / sizeof drill_notifications[0];
