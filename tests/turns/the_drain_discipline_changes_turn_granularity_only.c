/* SPDX-License-Identifier: MIT
 *
 * The same random story of submits, cancels, moves, ends and declines is told to a serial and to a coalescing session: the messages fire in
 * the same order, never while a turn runs, and none is preempted; only the number of turns differs.
 */
#include "kit.h"

const char invariant[] = "The drain discipline (serial or coalescing) changes turn granularity only - never single-flight, order, or "
                         "preemption.";

struct story {
  struct client host;
  const char *fired; /* "a b c" */
  unsigned turns;
};

static unsigned random_below(unsigned limit) {
  static uint64_t state_of_it = 7;
  state_of_it = state_of_it * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state_of_it >> 33) % limit;
}

/* Starts and ends what `reply` offers, once. */
static json_t *one_turn(struct story *story, const json_t *reply) {
  same(state(story->host), "starting");
  start(story->host, reply);
  same(running(story->host), offered(reply));
  story->fired = text("%s %s", story->fired, offered(reply));
  story->turns++;
  return finish(story->host);
}

static struct story tell(const char *discipline, const char *const script[], unsigned length) {
  struct story story = {.fired = ""};
  store_folder = text("%s.%s", store_folder, discipline);
  story.host = open_host(text("{\"turns\":{\"discipline\":\"%s\"}}", discipline));
  event(story.host, "turn.started", NULL);
  for (unsigned i = 0; i < length; i++) {
    const char *verb = script[2 * i];
    json_t *reply = event(story.host, verb, "%s", script[2 * i + 1]);
    check(!json_array_size(json_object_get(reply, "actions")), "%s of \"%s\" asks for something while a turn runs", verb,
          script[2 * i + 1]);
  }
  for (json_t *reply = finish(story.host); offered(reply)[0];) reply = one_turn(&story, reply);
  same(state(story.host), "idle");
  close_client(story.host);
  return story;
}

void test(void) {
  enum { LENGTH = 120 };
  const char *script[2 * LENGTH], *folder = store_folder;
  unsigned waiting[LENGTH], count = 0;
  for (unsigned i = 0; i < LENGTH; i++) {
    unsigned one = count ? random_below(count) : 0, other = count ? random_below(count) : 0, kind = count > 1 ? random_below(4) : 0;
    if (kind == 1) {
      script[2 * i] = "message.cancelled";
      script[2 * i + 1] = text("{\"id\":\"m%u\"}", waiting[one]);
      waiting[one] = waiting[--count];
    } else if (kind == 2 && one != other) {
      script[2 * i] = "message.moved";
      script[2 * i + 1] = text("{\"id\":\"m%u\",\"before\":\"m%u\"}", waiting[one], waiting[other]);
    } else {
      script[2 * i] = "message.submitted";
      script[2 * i + 1] = text("{\"id\":\"m%u\",\"content\":\"x\"%s}", i, random_below(2) ? ",\"trigger\":{\"n\":1}" : "");
      waiting[count++] = i;
    }
  }
  struct story serial = tell("serial", script, LENGTH);
  store_folder = folder;
  struct story coalescing = tell("coalescing", script, LENGTH);
  same(coalescing.fired, serial.fired);
  check(serial.turns == count, "serial: %u turns for %u messages", serial.turns, count);
  check(coalescing.turns == 1, "coalescing: %u turns for what was queued at one instant", coalescing.turns);
}
