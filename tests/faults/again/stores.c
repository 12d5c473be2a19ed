/* SPDX-License-Identifier: MIT
 *
 * again/stores.c: calls the functions of tidings.store/1 with the plugin of again.c, so that each
 * fails in turn for every reason. A call that fails must leave nothing at `to`, otherwise the next
 * attempt would be refused. The stores that the calls make have the rows of the first one.
 */
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"
#include "kit/turns.h"

enum { SESSIONS = 3, PUSHES = 40 };

static struct rig rig;
static const struct tidings_store *functions;
static char folder[FOLDER_PATH_MAX];

static void must(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("%s: %s", what, rig_why(code, error));
}

/* Every kind of row: delivered, leased and pending notifications, messages, ids, a closed
 * session. */
static void make_store(const char *store) {
  struct tidings_error error = RIG_ERROR;
  must(rig_open(&rig, &(struct rig_open){.store = store}, &error), &error, "open");
  for (int s = 0; s < SESSIONS; s++) {
    struct carried carried = {0};
    struct heard heard = {0};
    char session[8];
    snprintf(session, sizeof session, "s%d", s);
    must(rig_attach(&rig, session, NULL, 0, &error), &error, "session.opened");
    for (int round = 0; round < 3; round++) {
      for (uint64_t i = 0; i < PUSHES; i++) {
        uint64_t token = (uint64_t)(s * 3 + round) * PUSHES + i;
        must(rig_push(&rig, session, token, i % 2, NULL, &error), &error, "push");
      }
      if (round == 2) break;
      must(rig_deliver(&rig, session, RIG_TOOL_RESULT, &carried, &error), &error, "deliver");
      if (round == 0)
        must(rig_settle(&rig, carried.delivery, TIDINGS_OUTCOME_COMMITTED, &error), &error,
             "settle");
      carried_clear(&carried);
    }
    for (uint64_t i = 0; i < 5; i++)
      must(turns_submit(&rig, session, i + 1, false, &heard, &error), &error, "submit");
    heard_clear(&heard);
  }
  must(rig_event(&rig, "{\"type\":\"session.closed\",\"session\":\"s1\"}", &error), &error,
       "close");
  must(rig_close(&rig, &error), &error, "close the store");
}

typedef int32_t task(const struct tidings_store_request *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error);

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* Runs a task, and checks that its answer contains `expected`. If salvage or forget has no memory
 * for the answer, its work may be done, and the next call answers `done`. */
static void run(task *run_task, const char *what, const char *from, const char *to,
                const char *session, const char *expected, int32_t done) {
  struct tidings_error error = RIG_ERROR;
  const struct tidings_answer *answer = NULL;
  struct tidings_store_request request = {
      .size = sizeof request, .from = span(from), .to = span(to), .session = span(session)};
  int32_t code = run_task(&request, &answer, &error);
  for (int i = 0; i < 9 && done && code == TIDINGS_E_NOMEM; i++)
    code = run_task(&request, &answer, &error);
  if (done && code == done) return;
  if (code != 0) {
    fail("%s: %s", what, rig_why(code, &error));
  } else if (!memmem(answer->json.ptr, answer->json.len, expected, strlen(expected))) {
    fail("%s: expected %s in the answer %.*s", what, expected, (int)answer->json.len,
         answer->json.ptr);
  }
  functions->release_answer(answer);
}

static const char *in_folder(const char *name, char path[FOLDER_PATH_MAX]) {
  folder_join(path, folder, name);
  return path;
}

static void expect_equal_dumps(const char *one, const char *other) {
  size_t lengths[2];
  uint8_t *first = file_read(one, &lengths[0]), *second = file_read(other, &lengths[1]);
  if (lengths[0] != lengths[1] || memcmp(first, second, lengths[0]) != 0)
    fail("the dumps %s and %s differ", one, other);
  free(first);
  free(second);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.seed = 1};
  char ways[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX], backup[FOLDER_PATH_MAX],
      salvaged[FOLDER_PATH_MAX], loaded[FOLDER_PATH_MAX], dump[3][FOLDER_PATH_MAX];
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "again", folder);
  setenv("TIDINGS_WAYS", in_folder("ways", ways), 1);
  rig_load(&rig, arguments.plugin);
  functions = rig.entry->get_extension(TIDINGS_EXT_STORE);
  make_store(in_folder("store", store));
  run(functions->check, "check", store, "", "", "\"findings\":[]", 0);
  run(functions->backup, "backup", store, in_folder("backup", backup), "", "{", 0);
  run(functions->salvage, "salvage", store, in_folder("salvaged", salvaged), "", "{",
      TIDINGS_E_STATE);
  run(functions->dump, "dump", store, in_folder("dump", dump[0]), "", "{", 0);
  run(functions->dump, "dump the backup", backup, in_folder("dump-of-backup", dump[1]), "", "{", 0);
  expect_equal_dumps(dump[0], dump[1]);
  run(functions->load, "load", dump[0], in_folder("loaded", loaded), "", "{", 0);
  run(functions->dump, "dump what was loaded", loaded, in_folder("dump-of-loaded", dump[2]), "",
      "{", 0);
  expect_equal_dumps(dump[0], dump[2]);
  run(functions->check, "check what was salvaged", salvaged, "", "", "\"findings\":[]", 0);
  run(functions->forget, "forget", backup, "", "s1", "{", TIDINGS_E_NOT_FOUND);
  run(functions->check, "check what is left", backup, "", "", "\"findings\":[]", 0);
  rig_unload(&rig);
  folder_remove(folder);
  return failures() == 0 ? 0 : 1;
}
