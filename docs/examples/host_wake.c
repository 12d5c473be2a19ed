/* SPDX-License-Identifier: MIT
 * A host that sleeps until something must be done: host_wake PLUGIN STORE. What wakes it comes from
 * another process: host_wake PLUGIN STORE MESSAGE pushes a critical notification. Build: cc
 * host_wake.c $(pkg-config --cflags --libs tidings-hostkit) */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <tidings/hostkit.h>
#include <time.h>
#include <unistd.h>

static int64_t wake_at_ms; /* of the newest reply; 0: none */

/* Sends an event and does what the reply says. Returns how many turns were started. */
static int send_event(struct hostkit *kit, const char *text) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_span event = {text, strlen(text)};
  struct tidings_reply *reply = NULL;
  int turns = 0;
  if (hostkit_event(kit, &event, &reply, &error)) fprintf(stderr, "%s\n", error.text);
  if (!reply) return 0;
  for (size_t i = 0; i < reply->action_count; i++) {
    const struct tidings_action *action = reply->actions[i];
    if (action->type == TIDINGS_ACTION_ABORT_STREAM)
      printf("the stream of the running turn is to be stopped\n");
    if (action->type != TIDINGS_ACTION_START_TURN) continue;
    printf("a turn is to be started: %.*s\n", (int)action->messages[0]->content.len,
           action->messages[0]->content.ptr);
    turns++;
  }
  wake_at_ms = reply->wake_at_ms;
  hostkit_reply_free(reply);
  return turns;
}

/* Asks who rang, until nobody is left. */
static int look(struct hostkit *kit) {
  char session[256], event[512];
  size_t len = 0;
  int turns = 0;
  while (!hostkit_next_session(kit, session, sizeof session, &len, NULL) && len) {
    snprintf(event, sizeof event, "{\"type\": \"wake\", \"session\": \"%.*s\"}", (int)len,
             session); /* an id with " or \ needs escaping */
    turns += send_event(kit, event);
  }
  return turns;
}

/* How long to sleep: until wake_at, or for ever. */
static int patience_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t left_ms = wake_at_ms - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
  if (!wake_at_ms) return -1;
  return left_ms < 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms;
}

int main(int argc, char **argv) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = argc > 1 ? argv[1] : "tidings.so",
                                    .store_dir = argc > 2 ? argv[2] : NULL,
                                    .role = argc > 3 ? TIDINGS_ROLE_PRODUCER : TIDINGS_ROLE_HOST};
  struct hostkit *kit = NULL;
  struct pollfd rings = {.fd = -1, .events = POLLIN};
  char event[1024];

  int32_t code = hostkit_open(&options, &kit, &error);
  if (!code && argc > 3) {
    snprintf(event, sizeof event,
             "{\"type\": \"notification\", \"session\": \"s\", \"data\": {\"kind\": \"ci.failed\", "
             "\"level\": \"critical\", "
             "\"message\": \"%s\"}}",
             argv[3]);
    send_event(kit, event);
    return hostkit_close(kit, 1000, NULL);
  }
  if (!code) code = hostkit_wake_descriptor(kit, &rings.fd, &error); /* first the descriptor, */
  if (code) {
    fprintf(stderr, "%s: %s\n", hostkit_error_name(code), error.text);
    return hostkit_close(kit, 1000, NULL) || code;
  }
  int turns = send_event(kit, "{\"type\": \"session.opened\", \"session\": \"s\", \"data\": {}}");
  turns += look(kit); /* then a look, */
  printf("asleep\n");
  fflush(stdout);
  while (!turns) { /* then sleep: so no ring is missed */
    int woken = poll(&rings, 1, patience_ms());
    if (woken == 0)
      turns += send_event(
          kit, "{\"type\": \"wake\", \"session\": \"s\"}"); /* its time has come; for each session
                                                               that has one */
    turns += look(kit);
  }
  close(rings.fd);
  return hostkit_close(kit, 1000, NULL);
}
