/* SPDX-License-Identifier: MIT
 *
 * kit/drill.c: see drill.h.
 */
#include "kit/drill.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "kit/drill_turns.h"
#include "kit/drill_wake.h"

enum { ATTEMPTS_MAX = 2000, MANY = 40 };

static const struct drill_fault no_fault = {.name = "no fault"};

#define SESSION "drill"

void drill_wrong(const struct drill *drill, const char *what, const char *detail) {
  fail("%s, %s, call %" PRIu64 ": %s%s%s", drill->fault->name, drill->operation, drill->attempt,
       what, detail ? ": " : "", detail ? detail : "");
}

static void must(const struct drill *drill, int32_t code, const struct tidings_error *error,
                 const char *what) {
  if (code != 0) drill_wrong(drill, what, rig_why(code, error));
}

bool drill_outcome_unknown(int32_t code, const struct tidings_error *error) {
  return code == TIDINGS_E_STORE && strstr(error->text, "unknown");
}

/* -- the books --------------------------------------------------------------------------------- */

static bool take(struct tokens *tokens, uint64_t token) {
  for (size_t i = 0; i < tokens->count; i++) {
    if (tokens->at[i] != token) continue;
    tokens->at[i] = tokens->at[--tokens->count];
    return true;
  }
  return false;
}

/* Strikes what a carrier holds off the books. */
static void strike(struct drill *drill, const struct carried *carried) {
  char number[64];
  if (carried->damaged) drill_wrong(drill, "a damaged notification", carried->sample);
  for (size_t i = 0; i < carried->tokens.count; i++) {
    uint64_t token = carried->tokens.at[i];
    snprintf(number, sizeof number, "%" PRIu64, token);
    if (!take(&drill->due, token) && !take(&drill->unsure, token))
      drill_wrong(drill, "a notification came that was refused or had come before", number);
  }
}

/* All that is due comes now, and is committed. */
static void audit(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char number[64];
  int32_t code = rig_deliver(&drill->rig, SESSION, RIG_TOOL_RESULT, &carried, &error);
  must(drill, code, &error, "afterwards a hook fails");
  if (code == 0) {
    strike(drill, &carried);
    if (carried.delivery)
      must(drill, rig_settle(&drill->rig, carried.delivery, TIDINGS_COMMITTED, &error), &error,
           "afterwards settle fails");
  }
  snprintf(number, sizeof number, "%zu of them, token %" PRIu64, drill->due.count,
           drill->due.count ? drill->due.at[0] : 0);
  if (drill->due.count) drill_wrong(drill, "acknowledged notifications did not come", number);
  drill->due.count = 0;
  carried_clear(&carried);
}

static void push_due(struct drill *drill, size_t count) {
  struct tidings_error error = RIG_ERROR;
  for (size_t i = 0; i < count; i++) {
    uint64_t token = drill->next_token++;
    must(drill, rig_push(&drill->rig, SESSION, token, i % 2, NULL, &error), &error,
         "a push without fault fails");
    tokens_add(&drill->due, token);
  }
}

/* -- opening and closing ----------------------------------------------------------------------- */

static void reopen(struct drill *drill, struct tidings_error *error, const char *what) {
  struct rig_open options = {.store = drill->store};
  if (!drill->rig.plugin) must(drill, rig_open(&drill->rig, &options, error), error, what);
  if (!drill->rig.plugin) die("the drill cannot go on without a store");
}

static void prepare_closed(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  push_due(drill, 3);
  must(drill, rig_close(&drill->rig, &error), &error, "close without fault");
}

static void prepare_new_store(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  char name[32];
  must(drill, rig_close(&drill->rig, &error), &error, "close without fault");
  snprintf(name, sizeof name, "store-%" PRIu64, ++drill->stores);
  folder_remove(drill->store);
  folder_join(drill->store, drill->folder, name);
  drill->unsure.count = 0;
}

static int32_t attempt_open(struct drill *drill, struct tidings_error *error) {
  return rig_open(&drill->rig, &(struct rig_open){.store = drill->store}, error);
}

static void check_open(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)error;
  if (code != 0 && drill->rig.plugin)
    drill_wrong(drill, "a failed open has written its output", NULL);
  reopen(drill, &again, "after a failed open the next fails");
  push_due(drill, 1);
}

static int32_t attempt_close(struct drill *drill, struct tidings_error *error) {
  return rig_close(&drill->rig, error);
}

static void check_close(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)error;
  if (code != 0)
    must(drill, rig_close(&drill->rig, &again), &again, "after a failed close the next fails");
  reopen(drill, &again, "open after close fails");
}

/* -- pushing ----------------------------------------------------------------------------------- */

static int32_t attempt_push(struct drill *drill, bool identified, struct tidings_error *error) {
  uint64_t token = drill->next_token++;
  int32_t code = rig_push(&drill->rig, SESSION, token, identified, NULL, error);
  if (code == 0) tokens_add(&drill->due, token);
  else if (drill_outcome_unknown(code, error)) tokens_add(&drill->unsure, token);
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

/* After a failure the same push again, without the fault: that is what ids are for. */
static void check_push_identified(struct drill *drill, int32_t code,
                                  const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  uint64_t token = drill->next_token - 1;
  (void)error;
  if (code == 0) return;
  take(&drill->unsure, token);
  must(drill, rig_push(&drill->rig, SESSION, token, true, NULL, &again), &again,
       "pushing again with the same id fails");
  tokens_add(&drill->due, token);
}

static void prepare_duplicate(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  uint64_t token = drill->next_token++;
  must(drill, rig_push(&drill->rig, SESSION, token, true, NULL, &error), &error,
       "a push without fault fails");
  tokens_add(&drill->due, token);
}

static int32_t attempt_duplicate(struct drill *drill, struct tidings_error *error) {
  return rig_push(&drill->rig, SESSION, drill->next_token - 1, true, NULL, error);
}

/* A session never heard of; it is drained at once, so that the books stay with one session. */
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
  snprintf(session, sizeof session, "new-%" PRIu64, drill->attempts);
  must(drill, rig_deliver(&drill->rig, session, RIG_TOOL_RESULT, &carried, &again), &again,
       "a hook of the new session fails");
  size_t expected = code == 0, got = carried.tokens.count;
  if (got != expected && !(got == 1 && drill_outcome_unknown(code, error)))
    drill_wrong(drill, "the new session has too few or too many", NULL);
  if (carried.delivery)
    must(drill, rig_settle(&drill->rig, carried.delivery, TIDINGS_COMMITTED, &again), &again,
         "settling the new session");
  carried_clear(&carried);
}

/* -- delivering and settling ------------------------------------------------------------------- */

static void prepare_many(struct drill *drill) { push_due(drill, MANY); }

static int32_t attempt_deliver(struct drill *drill, enum rig_hook hook,
                               struct tidings_error *error) {
  struct carried carried = {0};
  int32_t code = rig_deliver(&drill->rig, SESSION, hook, &carried, error);
  drill->delivery = code == 0 ? carried.delivery : 0;
  if (code == 0) strike(drill, &carried);
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
    must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, &again), &again,
         "settling what was delivered");
}

static void prepare_leased(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  push_due(drill, 10);
  must(drill, attempt_deliver(drill, RIG_TOOL_RESULT, &error), &error,
       "a hook without fault fails");
}

static int32_t attempt_commit(struct drill *drill, struct tidings_error *error) {
  return rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, error);
}

static void check_commit(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_COMMITTED, &again), &again,
       "settling again fails");
}

static void prepare_to_roll_back(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  push_due(drill, 10);
  must(drill, rig_deliver(&drill->rig, SESSION, RIG_TOOL_RESULT, &carried, &error), &error,
       "a hook without fault fails");
  drill->delivery = carried.delivery; /* stays on the books: it comes again */
  carried_clear(&carried);
}

static int32_t attempt_roll_back(struct drill *drill, struct tidings_error *error) {
  return rig_settle(&drill->rig, drill->delivery, TIDINGS_ROLLED_BACK, error);
}

static void check_roll_back(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  must(drill, rig_settle(&drill->rig, drill->delivery, TIDINGS_ROLLED_BACK, &again), &again,
       "rolling back again fails");
}

/* -- the session's life, and queries ----------------------------------------------------------- */

static int32_t attempt_opened(struct drill *drill, struct tidings_error *error) {
  return rig_attach(&drill->rig, SESSION, NULL, 0, error);
}

static int32_t attempt_resumed(struct drill *drill, struct tidings_error *error) {
  return rig_attach(&drill->rig, SESSION, &drill->delivery, 1, error);
}

/* Whether it was heard or not: the host says it again. */
static void check_resumed(struct drill *drill, int32_t code, const struct tidings_error *error) {
  struct tidings_error again = RIG_ERROR;
  (void)code, (void)error;
  must(drill, attempt_resumed(drill, &again), &again, "session.resumed again fails");
  must(drill, attempt_commit(drill, &again), &again,
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
QUERY(query_pending, "{\"name\":\"pending\",\"session\":\"" SESSION "\"}")
QUERY(query_status, "{\"name\":\"status\",\"session\":\"" SESSION "\"}")
QUERY(query_history, "{\"name\":\"history\",\"session\":\"" SESSION "\"}")
QUERY(query_stats, "{\"name\":\"stats\",\"session\":\"" SESSION "\"}")
QUERY(query_stream, "{\"name\":\"stream\",\"session\":\"" SESSION "\"}")
QUERY(query_configure, "{\"name\":\"configure\",\"config\":{\"delivery\":{\"order\":\"level\"}}}")

static void prepare_few(struct drill *drill) { push_due(drill, 5); }

/* The first push makes the file grow. */
static void prepare_fresh(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_new_store(drill);
  reopen(drill, &error, "opening a new store");
}

/* -- waking: the drill's own session is this process's, and every session is named once after open
 * --- */

static void prepare_reopened(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_closed(drill);
  reopen(drill, &error, "open after close");
  must(drill, rig_attach(&drill->rig, SESSION, NULL, 0, &error), &error,
       "session.opened without fault");
}

static void prepare_waiting(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  prepare_reopened(drill);
  must(drill, drill_descriptor(drill, &error), &error, "the wake descriptor without fault");
}

static void check_descriptor(struct drill *drill, int32_t code, const struct tidings_error *error) {
  const char *why = drill_check_descriptor(drill);
  (void)code, (void)error;
  if (why) drill_wrong(drill, "afterwards there is no wake descriptor", why);
}

static void check_named(struct drill *drill, int32_t code, const struct tidings_error *error) {
  const char *why = drill_check_named(drill, SESSION);
  (void)code, (void)error;
  if (why) drill_wrong(drill, "afterwards next_session", why);
}

static int32_t attempt_push_ringing(struct drill *drill, struct tidings_error *error) {
  uint64_t token = drill->next_token++;
  int32_t code = drill_push_ringing(drill, SESSION, token, error);
  if (code == 0) tokens_add(&drill->due, token);
  else if (drill_outcome_unknown(code, error)) tokens_add(&drill->unsure, token);
  return code;
}

static const struct drill_operation operations[] = {
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

static void check_code(struct drill *drill, const struct drill_operation *operation, int32_t code,
                       const struct tidings_error *error, bool hit) {
  if (!hit) {
    if (code != 0) drill_wrong(drill, "failed though no call did", rig_why(code, error));
    return;
  }
  drill->refused += code != 0;
  drill->tolerated += code == 0;
  if (code == 0) return;
  if (!drill->fault->allowed(code, error, operation->opening))
    drill_wrong(drill, "the wrong answer", rig_why(code, error));
  if (error->code != code || error->text[0] == 0)
    drill_wrong(drill, "the error was not explained", rig_why(code, error));
}

static void run_operation(struct drill *drill, const struct drill_operation *operation) {
  bool hit = true;
  drill->operation = operation->name;
  for (uint64_t n = 1; hit; n++) {
    struct tidings_error error = RIG_ERROR;
    drill->attempt = n;
    drill->attempts++;
    if (n > ATTEMPTS_MAX) die("%s, %s: there is no end to it", drill->fault->name, operation->name);
    if (operation->prepare) operation->prepare(drill);
    drill->fault->arm(n);
    drill->rig.before = drill->fault->before;
    drill->rig.after = drill->fault->after;
    int32_t code = operation->attempt(drill, &error);
    drill->rig.before = drill->rig.after = NULL;
    hit = drill->fault->disarm();
    check_code(drill, operation, code, &error, hit);
    if (operation->check) operation->check(drill, code, &error);
    audit(drill);
  }
}

/* What an unknown outcome had left may come late, but only ever once; after reopening there is
 * nothing more. */
static void check_reopened(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  drill->operation = "reopening in the end";
  must(drill, rig_close(&drill->rig, &error), &error, "close");
  reopen(drill, &error, "open");
  audit(drill);
  push_due(drill, 2);
  audit(drill);
}

void drill_begin(struct drill *drill, const struct arguments *arguments, const char *name) {
  struct tidings_error error = RIG_ERROR;
  memset(drill, 0, sizeof *drill);
  drill->arguments = arguments;
  drill->next_token = 1;
  drill->fault = &no_fault;
  drill->operation = "begin";
  folder_make(arguments->scratch, name, drill->folder);
  folder_join(drill->store, drill->folder, "store");
  rig_load(&drill->rig, arguments->plugin);
  reopen(drill, &error, "open");
}

void drill_run(struct drill *drill, const struct drill_fault *fault) {
  uint64_t attempts = drill->attempts, refused = drill->refused, tolerated = drill->tolerated;
  drill->fault = fault;
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
    run_operation(drill, &operations[i]);
  for (size_t i = 0; i < drill_turns_count; i++) run_operation(drill, &drill_turns[i]);
  check_reopened(drill);
  printf("%s: %" PRIu64 " attempts, %" PRIu64 " refused, %" PRIu64 " went well in spite of it\n",
         fault->name, drill->attempts - attempts, drill->refused - refused,
         drill->tolerated - tolerated);
}

void drill_end(struct drill *drill) {
  rig_unload(&drill->rig);
  tokens_free(&drill->due);
  tokens_free(&drill->unsure);
  if (failures() == 0) folder_remove(drill->folder);
  else printf("kept: %s\n", drill->folder);
}
