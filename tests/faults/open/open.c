/* SPDX-License-Identifier: MIT
 *
 * open/open.c: tests stores that must not be opened, and stores that must be opened although a
 * process died while it used them. Each refusal is a sentence that says what is wrong, never a
 * signal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "open/parts.h"

static void session_of(uint64_t token, char name[8]) {
  snprintf(name, 8, "s%u", (unsigned)(token % FILLED_SESSIONS));
}

static void must(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("%s: %s", what, rig_why(code, error));
}

static void keep_earlier(const char *store) {
  char data[FOLDER_PATH_MAX], earlier[FOLDER_PATH_MAX];
  size_t length;
  folder_join(data, store, "data.mdb");
  folder_join(earlier, store, FILLED_EARLIER);
  uint8_t *bytes = file_read(data, &length);
  file_write(earlier, bytes, length);
  free(bytes);
}

static void fill(struct rig *rig, const char *store) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char session[8];
  must(rig_open(rig, &(struct rig_open){.store = store}, &error), &error, "open");
  for (uint64_t token = 1000; token < 1000 + FILLED_TOKENS; token++) {
    session_of(token, session);
    must(rig_push(rig, session, token, false, NULL, &error), &error, "push");
  }
  for (uint64_t i = 0; i < FILLED_SESSIONS; i++) {
    session_of(i, session);
    must(rig_deliver(rig, session, RIG_TOOL_RESULT, &carried, &error), &error, "deliver");
    must(rig_settle(rig, carried.delivery, TIDINGS_COMMITTED, &error), &error, "settle");
  }
  for (uint64_t token = 1; token <= FILLED_TOKENS; token++) {
    session_of(token, session);
    must(rig_push(rig, session, token, true, NULL, &error), &error, "push");
    if (token == FILLED_TOKENS / 2) keep_earlier(store);
  }
  carried_clear(&carried);
  must(rig_close(rig, &error), &error, "close");
}

/* Runs in another process, because a session belongs to the process that delivers. */
void fill_store(struct rig *rig, const char *store) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child == 0) {
    fill(rig, store);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    die("%s cannot be filled: status 0x%x", store, (unsigned)status);
}

int32_t read_store(struct rig *rig, const char *store, uint8_t *seen, struct tidings_error *error) {
  struct carried carried = {0};
  int32_t code = rig_open(rig, &(struct rig_open){.store = store}, error);
  memset(seen, 0, FILLED_TOKENS + 1);
  if (code != 0) return code;
  for (uint64_t i = 0; i < FILLED_SESSIONS; i++) {
    char session[8];
    struct tidings_error ignored = RIG_ERROR;
    session_of(i, session);
    int32_t delivered = rig_deliver(rig, session, RIG_TOOL_RESULT, &carried, error);
    if (delivered != 0) {
      code = delivered;
      continue;
    }
    if (carried.damaged)
      fail("a damaged store hands out what nobody pushed: \"%s\"", carried.sample);
    for (size_t k = 0; k < carried.tokens.count; k++) {
      uint64_t token = carried.tokens.at[k];
      if (token == 0 || token > FILLED_TOKENS) seen[0]++;
      else seen[token]++;
    }
    if (carried.delivery) (void)rig_settle(rig, carried.delivery, TIDINGS_COMMITTED, &ignored);
  }
  carried_clear(&carried);
  struct tidings_error closing = RIG_ERROR;
  if (rig_close(rig, &closing) != 0) fail("close: %s", closing.text);
  return code;
}

void expect_whole(struct rig *rig, const char *store, const char *what) {
  uint8_t seen[FILLED_TOKENS + 1];
  struct tidings_error error = RIG_ERROR;
  int32_t code = read_store(rig, store, seen, &error);
  if (code != 0) fail("%s: %s", what, rig_why(code, &error));
  if (seen[0]) fail("%s: %u that had been settled come again", what, seen[0]);
  for (unsigned token = 1; code == 0 && token <= FILLED_TOKENS; token++) {
    if (seen[token] != 1) fail("%s: token %u comes %u times", what, token, seen[token]);
  }
}

int main(int argc, char **argv) {
  struct arguments arguments = {.seed = 1, .count = 2000};
  char folder[FOLDER_PATH_MAX];
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "open", folder);
  if (arguments_part(&arguments, "refusals")) part_refusals(&arguments, folder);
  if (arguments_part(&arguments, "twice")) part_twice(&arguments, folder);
  if (arguments_part(&arguments, "lock-files")) part_lock_files(&arguments, folder);
  if (arguments_part(&arguments, "creation")) part_creation(&arguments, folder);
  if (arguments_part(&arguments, "truncation")) part_truncation(&arguments, folder);
  if (arguments_part(&arguments, "damage")) part_damage(&arguments, folder);
  if (arguments_part(&arguments, "salvage")) part_salvage(&arguments, folder);
  if (failures() == 0) folder_remove(folder);
  else printf("kept: %s\n", folder);
  return failures() == 0 ? 0 : 1;
}
