/* SPDX-License-Identifier: MIT
 *
 * storm/storm.c: many threads use one instance: they push into one session and into several, some
 * events twice, deliver, settle, query and configure at once. Everything comes exactly once. The
 * test is for the thread sanitizer, but runs in all builds.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"

enum {
  PUSHERS = 8,
  DELIVERERS = 4,
  ASKERS = 1,
  THREADS = PUSHERS + DELIVERERS + ASKERS,
  SESSIONS = 4,
  TOKENS = 1 << 20
};

struct storm {
  struct rig rig;
  uint64_t pushes_each;
  bool one_session;
  atomic_uint pushing; /* how many threads still push */
  _Atomic(uint8_t) carried[TOKENS];
};

struct thread {
  struct storm *storm;
  unsigned number;
  pthread_t id;
};

static void session_name(const struct storm *storm, uint64_t number, char name[16]) {
  snprintf(name, 16, storm->one_session ? "one" : "s%u", (unsigned)(number % SESSIONS));
}

static void *pusher_main(void *context) {
  struct thread *thread = context;
  struct storm *storm = thread->storm;
  for (uint64_t i = 0; i < storm->pushes_each; i++) {
    uint64_t token = 1 + thread->number * storm->pushes_each + i;
    char session[16];
    session_name(storm, token, session);
    for (int again = 0; again <= (token % 40 == 0); again++) {
      struct tidings_error error = RIG_ERROR;
      bool duplicate = false;
      int32_t code;
      while ((code = rig_push(&storm->rig, session, token, token % 4 == 0, &duplicate, &error)) ==
             TIDINGS_E_FULL)
        usleep(500);
      if (code != 0) fail("a push: %s", rig_why(code, &error));
      else if (duplicate != again) fail("token %" PRIu64 ": again %d", token, again);
    }
  }
  atomic_fetch_sub(&storm->pushing, 1);
  return NULL;
}

static void note(struct storm *storm, const struct carried *carried) {
  if (carried->damaged) fail("a notification that nobody pushed: %s", carried->sample);
  for (size_t i = 0; i < carried->tokens.count; i++) {
    uint64_t token = carried->tokens.at[i];
    if (token >= TOKENS) fail("token %" PRIu64 " was never pushed", token);
    else if (atomic_fetch_add(&storm->carried[token], 1)) fail("token %" PRIu64 " twice", token);
  }
}

/* Several threads deliver in the same sessions. Decisions of hooks are made one at a time, so each
 * item goes to one thread. */
static void *deliverer_main(void *context) {
  struct thread *thread = context;
  struct storm *storm = thread->storm;
  struct random random = random_seeded(11, thread->number);
  struct carried carried = {0};
  for (unsigned quiet = 0; quiet < 2 * SESSIONS;) {
    bool last = atomic_load(&storm->pushing) == 0;
    struct tidings_error error = RIG_ERROR;
    char session[16];
    session_name(storm, random_next(&random), session);
    int32_t code = rig_deliver(&storm->rig, session,
                               random_chance(&random, 50) ? RIG_TOOL_RESULT : RIG_CHAT_REQUEST,
                               &carried, &error);
    if (code != 0) fail("a hook: %s", rig_why(code, &error));
    if (code == 0 && carried.delivery) {
      bool commit = random_chance(&random, 85);
      if (commit) note(storm, &carried);
      code = rig_settle(&storm->rig, carried.delivery,
                        commit ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK, &error);
      if (code != 0) fail("settle: %s", rig_why(code, &error));
      quiet = 0;
    } else {
      quiet += last;
    }
  }
  carried_clear(&carried);
  return NULL;
}

static void *asker_main(void *context) {
  struct thread *thread = context;
  struct storm *storm = thread->storm;
  static const char *const names[] = {"pending", "status", "stats", "history", "configure"};
  for (uint64_t i = 0; atomic_load(&storm->pushing) > 0; i++) {
    struct tidings_error error = RIG_ERROR;
    char session[16], request[96];
    session_name(storm, i, session);
    if (i % 5 == 4)
      snprintf(request, sizeof request, "{\"name\":\"configure\",\"config\":{\"delivery\":{%s}}}",
               i % 2 ? "\"order\":\"time\"" : "");
    else
      snprintf(request, sizeof request, "{\"name\":\"%s\",\"session\":\"%s\"}", names[i % 5],
               session);
    int32_t code = rig_query(&storm->rig, request, NULL, &error);
    if (code != 0) fail("query %s: %s", names[i % 5], rig_why(code, &error));
    usleep(1000);
  }
  return NULL;
}

/* Delivers what the last rollback may have left pending after the deliverers ended. */
static void drain(struct storm *storm) {
  struct carried carried = {0};
  for (unsigned session = 0; session < SESSIONS; session++) {
    struct tidings_error error = RIG_ERROR;
    char name[16];
    session_name(storm, session, name);
    if (rig_deliver(&storm->rig, name, RIG_TOOL_RESULT, &carried, &error) != 0)
      fail("draining: %s", error.text);
    note(storm, &carried);
    if (carried.delivery &&
        rig_settle(&storm->rig, carried.delivery, TIDINGS_COMMITTED, &error) != 0)
      fail("draining: %s", error.text);
  }
  carried_clear(&carried);
}

static void run(const struct arguments *arguments, bool one_session) {
  struct storm *storm = calloc(1, sizeof *storm);
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  struct thread threads[THREADS];
  struct tidings_error error = RIG_ERROR;
  if (!storm) die("out of memory");
  storm->pushes_each = arguments->count / PUSHERS;
  storm->one_session = one_session;
  if (storm->pushes_each * PUSHERS >= TOKENS) die("at most %d pushes", TOKENS);
  atomic_store(&storm->pushing, PUSHERS);
  folder_make(arguments->scratch, "storm", folder);
  folder_join(store, folder, "store");
  rig_load(&storm->rig, arguments->plugin);
  if (rig_open(&storm->rig, &(struct rig_open){.store = store, .hook_budget_ms = 60000}, &error) !=
      0)
    die("open: %s", error.text);
  for (unsigned i = 0; i < THREADS; i++) {
    threads[i] = (struct thread){.storm = storm, .number = i};
    void *(*body)(void *) = i < PUSHERS                ? pusher_main
                            : i < PUSHERS + DELIVERERS ? deliverer_main
                                                       : asker_main;
    if (pthread_create(&threads[i].id, NULL, body, &threads[i]) != 0) die("no thread");
  }
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i].id, NULL);
  drain(storm);
  for (uint64_t token = 1; token <= storm->pushes_each * PUSHERS; token++) {
    if (atomic_load(&storm->carried[token]) != 1)
      fail("token %" PRIu64 " came %u times", token, atomic_load(&storm->carried[token]));
  }
  printf("%" PRIu64 " pushes by %d threads, delivered by %d\n", storm->pushes_each * PUSHERS,
         PUSHERS, DELIVERERS);
  rig_unload(&storm->rig);
  if (failures() == 0) folder_remove(folder);
  free(storm);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.count = 8000};
  arguments_read(&arguments, argc, argv);
  if (arguments_part(&arguments, "one-session")) run(&arguments, true);
  if (arguments_part(&arguments, "several-sessions")) run(&arguments, false);
  return failures() == 0 ? 0 : 1;
}
