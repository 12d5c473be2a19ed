/* SPDX-License-Identifier: MIT
 *
 * wake/sleeper.c: the host. A thread sleeps in poll without a time limit, at the descriptor that it
 * got once from hostkit, and when it is woken asks who rang. Another thread swaps the plugin.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tidings/hostkit.h>

#include "kit/arguments.h"
#include "wake/board.h"

enum { DRAIN_MS = 60000 };

struct sleeper {
  struct hostkit *hostkit;
  struct board *board;
  int fd, control;
};

static void check(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("%s: %s", what, rig_why(code, error));
}

/* Reads "LANE N", which follows a first line if a subagent said it. */
static void take(struct board *board, struct tidings_span message) {
  char text[256], *rest;
  snprintf(text, sizeof text, "%.*s", (int)message.len, message.ptr);
  const char *line = strrchr(text, '\n');
  unsigned long lane = strtoul(line ? line + 1 : text, &rest, 10);
  unsigned long long n = strtoull(rest, &rest, 10);
  if (lane >= LANES || *rest) die("a notification that nobody pushed: %s", text);
  if (n > atomic_load(&board->lanes[lane].delivered))
    atomic_store(&board->lanes[lane].delivered, n);
  if (sem_post(&board->lanes[lane].delivery) != 0) die("sem_post fails");
}

/* Returns whether there was a push that had to ring. */
static bool deliver(struct sleeper *sleeper, struct tidings_span session) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_reply *reply = NULL;
  struct tidings_tool_result result = {.size = sizeof result, .session = session};
  bool quiet = session.len == sizeof QUIET_SESSION - 1;
  check(hostkit_tool_result(sleeper->hostkit, &result, &reply, &error), &error, "a hook");
  if (!reply) return false;
  check(hostkit_settle(sleeper->hostkit, reply->delivery_id, TIDINGS_COMMITTED, NULL, &error),
        &error, "settle");
  for (size_t i = 0; !quiet && i < reply->notification_count; i++)
    take(sleeper->board, reply->notifications[i]->text);
  hostkit_reply_free(reply);
  return !quiet;
}

/* Returns how many of the named sessions had a push that had to ring. */
static uint64_t look(struct sleeper *sleeper) {
  struct tidings_error error = RIG_ERROR;
  uint64_t found = 0;
  for (;;) {
    char id[256];
    size_t len;
    check(hostkit_next_session(sleeper->hostkit, id, sizeof id, &len, &error), &error,
          "next_session");
    if (len == 0) return found;
    atomic_fetch_add(&sleeper->board->named, 1);
    if (deliver(sleeper, (struct tidings_span){id, len})) found++;
    else atomic_fetch_add(&sleeper->board->empty, 1);
  }
}

static void *sleep_main(void *context) {
  struct sleeper *sleeper = context;
  struct pollfd polled[] = {{.fd = sleeper->fd, .events = POLLIN},
                            {.fd = sleeper->control, .events = POLLIN}};
  (void)look(sleeper);
  atomic_store(&sleeper->board->ready, true);
  while (!polled[1].revents) {
    if (poll(polled, 2, -1) < 0) continue;
    atomic_fetch_add(&sleeper->board->woken, 1);
    if (polled[0].revents) (void)look(sleeper);
  }
  return NULL;
}

static void own_sessions(struct sleeper *sleeper) {
  for (unsigned i = 0; i <= LANES; i++) {
    struct tidings_error error = RIG_ERROR;
    struct tidings_reply *reply = NULL;
    char event[128], name[8] = QUIET_SESSION;
    if (i < LANES) lane_session(i, name);
    int len = snprintf(event, sizeof event,
                       "{\"type\":\"session.opened\",\"session\":\"%s\",\"data\":{}}", name);
    check(
        hostkit_event(sleeper->hostkit, &(struct tidings_span){event, (size_t)len}, &reply, &error),
        &error, "session.opened");
    hostkit_reply_free(reply);
  }
}

/* Checks that nothing is pending after the last look. */
static void audit(struct sleeper *sleeper) {
  for (unsigned i = 0; i < LANES; i++) {
    char name[8];
    lane_session(i, name);
    if (deliver(sleeper, (struct tidings_span){name, strlen(name)}))
      fail("session %s had something that no look has found", name);
  }
}

_Noreturn void sleeper_main(const char *plugin, struct board *board, const char *store,
                            int control) {
  static struct sleeper sleeper;
  struct tidings_error error = RIG_ERROR;
  pthread_t thread;
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTKIT_NO_PROBE,
                                    .plugin_path = plugin,
                                    .store_dir = store,
                                    .hook_budget_ms = 60000};
  sleeper.board = board;
  sleeper.control = control;
  check(hostkit_open(&options, &sleeper.hostkit, &error), &error, "hostkit_open");
  check(hostkit_wake_descriptor(sleeper.hostkit, &sleeper.fd, &error), &error, "the descriptor");
  own_sessions(&sleeper);
  if (pthread_create(&thread, NULL, sleep_main, &sleeper) != 0) die("no thread");
  while (sem_wait(&board->swap) != 0 || !atomic_load(&board->stop)) {
    check(hostkit_swap(sleeper.hostkit, NULL, DRAIN_MS, &error), &error, "a swap");
    atomic_fetch_add(&board->swaps, 1);
  }
  pthread_join(thread, NULL);
  atomic_store(&board->late, look(&sleeper));
  audit(&sleeper);
  close(sleeper.fd);
  check(hostkit_close(sleeper.hostkit, DRAIN_MS, &error), &error, "hostkit_close");
  exit(failures() != 0);
}
