/* SPDX-License-Identifier: MIT
 *
 * The same random submits, cancels and moves are sent to a serial and to a coalescing session: the
 * messages fire in the same order, never while a turn runs, and none is preempted; only the number
 * of turns differs.
 */
#include "kit.h"

const char invariant[] = "The drain discipline (serial or coalescing) changes turn granularity "
                         "only - never single-flight, order, or "
                         "preemption.";

enum { LENGTH = 120 };

struct played {
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
static json_t *one_turn(struct played *played, const json_t *reply) {
  same(state(played->host), "starting");
  start(played->host, reply);
  same(running(played->host), offered(reply));
  played->fired = text("%s %s", played->fired, offered(reply));
  played->turns++;
  return finish(played->host);
}

struct line {
  const char *verb, *data;
};

static struct played play(const char *discipline, const struct line *lines, unsigned length) {
  struct played played = {.fired = ""};
  store_folder = text("%s.%s", store_folder, discipline);
  played.host = open_host(text("{\"turns\":{\"discipline\":\"%s\"}}", discipline));
  event(played.host, "turn.started", NULL);
  for (unsigned i = 0; i < length; i++) {
    json_t *reply = event(played.host, lines[i].verb, "%s", lines[i].data);
    check(!json_array_size(json_object_get(reply, "actions")),
          "%s of %s asks for something while a turn runs", lines[i].verb, lines[i].data);
  }
  for (json_t *reply = finish(played.host); offered(reply)[0];) reply = one_turn(&played, reply);
  same(state(played.host), "idle");
  close_client(played.host);
  return played;
}

/* The numbers of the messages that wait after the lines so far. */
struct waiting {
  unsigned numbers[LENGTH];
  unsigned count;
};

static struct line next_line(unsigned number, struct waiting *waiting) {
  unsigned kind = waiting->count > 1 ? random_below(4) : 0;
  unsigned one = waiting->count ? random_below(waiting->count) : 0,
           other = waiting->count ? random_below(waiting->count) : 0;
  if (kind == 1) {
    struct line line = {"message.cancelled", text("{\"id\":\"m%u\"}", waiting->numbers[one])};
    waiting->numbers[one] = waiting->numbers[--waiting->count];
    return line;
  }
  if (kind == 2 && one != other)
    return (struct line){"message.moved", text("{\"id\":\"m%u\",\"before\":\"m%u\"}",
                                               waiting->numbers[one], waiting->numbers[other])};
  waiting->numbers[waiting->count++] = number;
  return (struct line){"message.submitted", text("{\"id\":\"m%u\",\"content\":\"x\"%s}", number,
                                                 random_below(2) ? ",\"trigger\":{\"n\":1}" : "")};
}

void test(void) {
  struct line lines[LENGTH];
  struct waiting waiting = {.count = 0};
  const char *folder = store_folder;
  for (unsigned i = 0; i < LENGTH; i++) lines[i] = next_line(i, &waiting);
  struct played serial = play("serial", lines, LENGTH);
  store_folder = folder;
  struct played coalescing = play("coalescing", lines, LENGTH);
  same(coalescing.fired, serial.fired);
  check(serial.turns == waiting.count, "serial: %u turns for %u messages", serial.turns,
        waiting.count);
  check(coalescing.turns == 1, "coalescing: %u turns for what was queued at one instant",
        coalescing.turns);
}
