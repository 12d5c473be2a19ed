/* SPDX-License-Identifier: MIT
 */
#include "kit/drill.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "kit/drill_notifications.h"
#include "kit/drill_turns.h"

enum { ATTEMPTS_MAX = 2000 };

static const struct drill_fault no_fault = {.name = "no fault"};

void drill_wrong(const struct drill *drill, const char *what, const char *detail) {
  fail("%s, %s, call %" PRIu64 ": %s%s%s", drill->fault->name, drill->operation, drill->attempt,
       what, detail ? ": " : "", detail ? detail : "");
}

void drill_must(const struct drill *drill, int32_t code, const struct tidings_error *error,
                const char *what) {
  if (code != 0) drill_wrong(drill, what, rig_why(code, error));
}

bool drill_outcome_unknown(int32_t code) { return code == TIDINGS_E_OUTCOME_UNKNOWN; }

/* -- the books --------------------------------------------------------------------------------- */

bool drill_take(struct tokens *tokens, uint64_t token) {
  for (size_t i = 0; i < tokens->count; i++) {
    if (tokens->at[i] != token) continue;
    tokens->at[i] = tokens->at[--tokens->count];
    return true;
  }
  return false;
}

/* Removes a carrier's notifications from the lists of what is due or in doubt. */
void drill_strike(struct drill *drill, const struct carried *carried) {
  char number[64];
  if (carried->damaged) drill_wrong(drill, "a damaged notification", carried->sample);
  for (size_t i = 0; i < carried->tokens.count; i++) {
    uint64_t token = carried->tokens.at[i];
    snprintf(number, sizeof number, "%" PRIu64, token);
    if (!drill_take(&drill->due, token) && !drill_take(&drill->in_doubt, token))
      drill_wrong(drill, "a notification came that was refused or had come before", number);
  }
}

/* Delivers and commits everything that is due. */
static void audit(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char number[64];
  int32_t code = rig_deliver(&drill->rig, DRILL_SESSION, RIG_TOOL_RESULT, &carried, &error);
  drill_must(drill, code, &error, "afterwards a hook fails");
  if (code == 0) {
    drill_strike(drill, &carried);
    if (carried.delivery)
      drill_must(drill, rig_settle(&drill->rig, carried.delivery, TIDINGS_COMMITTED, &error),
                 &error, "afterwards settle fails");
  }
  snprintf(number, sizeof number, "%zu of them, token %" PRIu64, drill->due.count,
           drill->due.count ? drill->due.at[0] : 0);
  if (drill->due.count) drill_wrong(drill, "acknowledged notifications did not come", number);
  drill->due.count = 0;
  carried_clear(&carried);
}

void drill_push_due(struct drill *drill, size_t count) {
  struct tidings_error error = RIG_ERROR;
  for (size_t i = 0; i < count; i++) {
    uint64_t token = drill->next_token++;
    drill_must(drill, rig_push(&drill->rig, DRILL_SESSION, token, i % 2, NULL, &error), &error,
               "a push without fault fails");
    tokens_add(&drill->due, token);
  }
}

void drill_reopen(struct drill *drill, struct tidings_error *error, const char *what) {
  struct rig_open options = {.store = drill->store};
  if (!drill->rig.plugin) drill_must(drill, rig_open(&drill->rig, &options, error), error, what);
  if (!drill->rig.plugin) die("the drill cannot go on without a store");
}

/* -- running them ------------------------------------------------------------------------------ */

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

/* Checks the store after reopening it. A notification of unknown outcome may come late, but only
 * once; then nothing more comes. */
static void check_reopened(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  drill->operation = "reopening in the end";
  drill_must(drill, rig_close(&drill->rig, &error), &error, "close");
  drill_reopen(drill, &error, "open");
  audit(drill);
  drill_push_due(drill, 2);
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
  drill_reopen(drill, &error, "open");
}

void drill_run(struct drill *drill, const struct drill_fault *fault) {
  uint64_t attempts = drill->attempts, refused = drill->refused, tolerated = drill->tolerated;
  drill->fault = fault;
  for (size_t i = 0; i < drill_notifications_count; i++)
    run_operation(drill, &drill_notifications[i]);
  for (size_t i = 0; i < drill_turns_count; i++) run_operation(drill, &drill_turns[i]);
  check_reopened(drill);
  printf("%s: %" PRIu64 " attempts, %" PRIu64 " refused, %" PRIu64 " went well in spite of it\n",
         fault->name, drill->attempts - attempts, drill->refused - refused,
         drill->tolerated - tolerated);
}

void drill_end(struct drill *drill) {
  rig_unload(&drill->rig);
  tokens_free(&drill->due);
  tokens_free(&drill->in_doubt);
  if (failures() == 0) folder_remove(drill->folder);
  else printf("kept: %s\n", drill->folder);
}
