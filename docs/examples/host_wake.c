/* SPDX-License-Identifier: MIT
 * A host that sleeps until something must be done: host_wake PLUGIN STORE. Another process wakes
 * it: host_wake PLUGIN STORE TEXT pushes a critical notification. Build: cc host_wake.c
 * $(pkg-config --cflags --libs tidings-hostkit) */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tidings/hostkit.h>
#include <time.h>
#include <unistd.h>

static int64_t wake_at_ms; /* of the newest reply; 0: none */
static bool is_open;       /* the session is open here */
static bool failed;        /* a call has failed: the host looks again soon */

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* Does what a reply says, and frees it. Returns how many turns were started. */
static int act(struct tidings_reply *reply) {
  int turns = 0;
  if (!reply) return 0;
  for (size_t i = 0; i < reply->action_count; i++) {
    const struct tidings_action *action = reply->actions[i];
    if (action->type == TIDINGS_ACTION_ABORT_STREAM)
      printf("the stream of the running turn is to be stopped\n");
    if (action->type == TIDINGS_ACTION_STOP_TURN) printf("the running turn is to be ended\n");
    if (action->type != TIDINGS_ACTION_START_TURN) continue;
    printf("a turn is to be started: %.*s\n", (int)action->messages[0]->content.len,
           action->messages[0]->content.ptr);
    turns++;
  }
  wake_at_ms = reply->wake_at_ms;
  hostkit_reply_free(reply);
  return turns;
}

static bool succeeds(int32_t code, const struct tidings_error *error) {
  if (code) fprintf(stderr, "%s: %s\n", hostkit_error_name(code), error->text);
  if (code) failed = true;
  return !code;
}

/* Tells hostkit that the session is open here. */
static int open_session(struct hostkit *kit) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_span event =
      span("{\"type\": \"session.opened\", \"session\": \"s\", \"data\": {}}");
  struct tidings_reply *reply = NULL;
  is_open = succeeds(hostkit_event(kit, &event, &reply, &error), &error);
  return act(reply);
}

static int wake(struct hostkit *kit, struct tidings_span session) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  succeeds(hostkit_wake(kit, &session, &reply, &error), &error);
  return act(reply);
}

/* Opens the session, unless it is open, and asks which sessions rang, until none is left. */
static int look(struct hostkit *kit) {
  struct tidings_error error = {.size = sizeof error};
  char session[255];
  size_t len = 1;
  int turns = is_open ? 0 : open_session(kit);
  while (len && succeeds(hostkit_next_session(kit, session, sizeof session, &len, &error), &error))
    if (len) turns += wake(kit, (struct tidings_span){session, len});
  return turns;
}

/* How long to sleep: until wake_at, or for ever; a second after a failure. */
static int patience_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t left_ms = wake_at_ms - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
  if (failed) return 1000;
  if (!wake_at_ms) return -1;
  return left_ms < 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms;
}

/* The other process. The text may have any characters. */
static int32_t push(struct hostkit *kit, const char *text, struct tidings_error *error) {
  struct hostkit_notification note = {.size = sizeof note,
                                      .session = span("s"),
                                      .kind_source = span("ci"),
                                      .kind_name = span("failed"),
                                      .level = TIDINGS_LEVEL_CRITICAL,
                                      .text = span(text)};
  return hostkit_push(kit, &note, NULL, error);
}

static int32_t sleep_until_a_turn(struct hostkit *kit, struct tidings_error *error) {
  struct pollfd rings = {.fd = -1, .events = POLLIN};
  int32_t code = hostkit_wake_descriptor(kit, &rings.fd, error); /* first the descriptor, */
  if (code) return code;
  int turns = look(kit); /* then a look, */
  printf("asleep\n");
  fflush(stdout);
  while (!turns) { /* then sleep: in this order no ring is missed */
    int woken = poll(&rings, 1, patience_ms());
    failed = false;
    /* When the time of wake_at has come, a host wakes each session that has one. */
    if (woken == 0 && is_open) turns += wake(kit, span("s"));
    turns += look(kit);
  }
  close(rings.fd);
  return 0;
}

int main(int argc, char **argv) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = argc > 1 ? argv[1] : "tidings.so",
                                    .store_dir = argc > 2 ? argv[2] : NULL,
                                    .role = argc > 3 ? TIDINGS_ROLE_PRODUCER : TIDINGS_ROLE_HOST};
  struct hostkit *kit = NULL;

  int32_t code = hostkit_open(&options, &kit, &error);
  if (!code) code = argc > 3 ? push(kit, argv[3], &error) : sleep_until_a_turn(kit, &error);
  if (code) fprintf(stderr, "%s: %s\n", hostkit_error_name(code), error.text);
  return hostkit_close(kit, 1000, NULL) || code;
}
