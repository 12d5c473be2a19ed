/* SPDX-License-Identifier: MIT
 *
 * timeline/trace.c: turns an answer into Trace Event JSON, which https://ui.perfetto.dev opens.
 * Each notification is an asynchronous slice from its push to its outcome, in the track of its
 * producer; turns and carriers are slices, and the pending notifications are a counter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/timeline/timeline.h"
#include "command/json_value.h"
#include "common/json_write.h"

enum { TRACK_TURNS = 1, TRACK_CARRIERS = 2, TRACK_AGENT = 3, PROCESS = 1 };

struct tracing {
  struct json_writer writer;
  int64_t end_ms; /* the answer's time, until which everything lasts that has not ended */
};

/* Begins an event with the members that every event has. */
static void open_event(struct tracing *tracing, const char *phase, const char *name, int track,
                       int64_t ms) {
  struct json_writer *writer = &tracing->writer;
  json_open(writer, NULL, '{');
  json_put_text(writer, "ph", phase);
  json_put_text(writer, "name", name);
  json_put_i64(writer, "pid", PROCESS);
  json_put_i64(writer, "tid", track);
  json_put_i64(writer, "ts", ms * 1000);
}

static void name_track(struct tracing *tracing, const char *what, int track, const char *name) {
  open_event(tracing, "M", what, track, 0);
  json_open(&tracing->writer, "args", '{');
  json_put_text(&tracing->writer, "name", name);
  json_close(&tracing->writer, '}');
  json_close(&tracing->writer, '}');
}

static void put_arguments(struct json_writer *writer, const json_t *object,
                          const char *const *names, size_t count) {
  json_open(writer, "args", '{');
  for (size_t i = 0; i < count; i++) {
    const char *text = json_value_text(object, names[i]);
    if (text[0]) json_put_text(writer, names[i], text);
  }
  json_close(writer, '}');
}

/* -- notifications ----------------------------------------------------------------------------- */

static void put_half(struct tracing *tracing, const char *phase, const json_t *item, int64_t ms) {
  static const char *const names[] = {"id", "level", "outcome", "reason", "message", "delivery"};
  const json_t *kind = json_object_get(item, "kind");
  struct buffer name = BUFFER_EMPTY;
  buffer_format(&name, "%s%s%s (%s)", json_value_text(kind, "source"),
                json_value_text(kind, "name")[0] ? "." : "", json_value_text(kind, "name"),
                json_value_text(item, "outcome"));
  buffer_byte(&name, '\0');
  open_event(tracing, phase, name.failed ? "" : name.bytes, 0, ms);
  json_put_text(&tracing->writer, "cat", json_value_text(kind, "source"));
  json_put_text(&tracing->writer, "id", json_value_text(item, "id"));
  if (phase[0] == 'b') put_arguments(&tracing->writer, item, names, sizeof names / sizeof *names);
  json_close(&tracing->writer, '}');
  if (name.failed) tracing->writer.out->failed = true;
  buffer_free(&name);
}

static void put_notification(struct tracing *tracing, const json_t *item) {
  int64_t taken_ms = timeline_ms(json_value_text(item, "taken_at"));
  put_half(tracing, "b", item, timeline_ms(json_value_text(item, "time")));
  put_half(tracing, "e", item, taken_ms ? taken_ms : tracing->end_ms);
}

/* -- what was pending -------------------------------------------------------------------------- */

struct step {
  int64_t ms;
  int change;
};

static int compare_step(const void *a, const void *b) {
  const struct step *one = a, *other = b;
  return one->ms < other->ms ? -1 : one->ms > other->ms;
}

static void put_pending(struct tracing *tracing, const json_t *items) {
  size_t most = 2 * json_array_size(items) + 1, count = 0, i = 0;
  struct step *steps = calloc(most, sizeof *steps);
  const json_t *item = NULL;
  int64_t pending = 0;
  if (!steps) {
    tracing->writer.out->failed = true;
    return;
  }
  json_array_foreach(items, i, item) {
    int64_t taken_ms = timeline_ms(json_value_text(item, "taken_at"));
    steps[count++] = (struct step){timeline_ms(json_value_text(item, "time")), 1};
    if (taken_ms) steps[count++] = (struct step){taken_ms, -1};
  }
  qsort(steps, count, sizeof *steps, compare_step);
  for (i = 0; i < count; i++) {
    pending += steps[i].change;
    if (i + 1 < count && steps[i + 1].ms == steps[i].ms) continue;
    open_event(tracing, "C", "pending", 0, steps[i].ms);
    json_open(&tracing->writer, "args", '{');
    json_put_i64(&tracing->writer, "notifications", pending);
    json_close(&tracing->writer, '}');
    json_close(&tracing->writer, '}');
  }
  free(steps);
}

/* -- turns, carriers, the agent ---------------------------------------------------------------- */

static void put_slice(struct tracing *tracing, const char *name, int track, int64_t from_ms,
                      int64_t to_ms) {
  open_event(tracing, "X", name, track, from_ms);
  json_put_i64(&tracing->writer, "dur", to_ms > from_ms ? (to_ms - from_ms) * 1000 : 0);
}

/* Writes each state other than idle as a slice, and each step that does not change the state as an
 * instant. */
static void put_turns(struct tracing *tracing, const json_t *transitions) {
  static const char *const names[] = {"event", "from", "to"};
  size_t count = json_array_size(transitions);
  int64_t since_ms = 0;
  for (size_t i = 0; i < count; i++) {
    const json_t *transition = json_array_get(transitions, i);
    const char *from = json_value_text(transition, "from"), *to = json_value_text(transition, "to");
    int64_t ms = timeline_ms(json_value_text(transition, "time"));
    bool moves = strcmp(from, to) != 0;
    if (moves && since_ms && strcmp(from, "idle") != 0) {
      put_slice(tracing, from, TRACK_TURNS, since_ms, ms);
      json_close(&tracing->writer, '}');
    }
    if (moves || i == 0) since_ms = ms;
    if (i + 1 == count && strcmp(to, "idle") != 0) {
      put_slice(tracing, to, TRACK_TURNS, since_ms, tracing->end_ms);
      json_close(&tracing->writer, '}');
    }
    open_event(tracing, "i", json_value_text(transition, "event"), TRACK_TURNS, ms);
    json_put_text(&tracing->writer, "s", "t");
    put_arguments(&tracing->writer, transition, names, sizeof names / sizeof *names);
    json_close(&tracing->writer, '}');
  }
}

static void put_carrier(struct tracing *tracing, const json_t *delivery) {
  static const char *const names[] = {"id", "outcome", "carrier", "tool", "call_id", "settled_by"};
  int64_t settled_ms = timeline_ms(json_value_text(delivery, "settled_at"));
  put_slice(tracing, json_value_text(delivery, "carrier"), TRACK_CARRIERS,
            timeline_ms(json_value_text(delivery, "time")),
            settled_ms ? settled_ms : tracing->end_ms);
  put_arguments(&tracing->writer, delivery, names, sizeof names / sizeof *names);
  json_close(&tracing->writer, '}');
}

/* Writes when hosts attached: before the first delivery of each epoch. */
static void put_restarts(struct tracing *tracing, const json_t *answer) {
  const json_t *attachment = json_object_get(answer, "attachment"), *delivery = NULL;
  uint64_t epoch = 0, newest = json_value_count(attachment, "epoch");
  size_t i = 0;
  json_array_foreach(json_object_get(answer, "deliveries"), i, delivery) {
    uint64_t this_one = json_value_count(delivery, "epoch");
    if (this_one == epoch || this_one == newest) continue;
    epoch = this_one;
    open_event(tracing, "i", "attached", TRACK_AGENT,
               timeline_ms(json_value_text(delivery, "time")));
    json_put_text(&tracing->writer, "s", "p");
    json_close(&tracing->writer, '}');
  }
  if (!json_is_object(attachment)) return;
  static const char *const names[] = {"host", "cwd"};
  open_event(tracing, "i", "attached", TRACK_AGENT,
             timeline_ms(json_value_text(attachment, "since")));
  json_put_text(&tracing->writer, "s", "p");
  put_arguments(&tracing->writer, attachment, names, sizeof names / sizeof *names);
  json_close(&tracing->writer, '}');
}

void timeline_trace(const json_t *answer, struct buffer *out) {
  struct tracing tracing = {.writer = {.out = out},
                            .end_ms = timeline_ms(json_value_text(answer, "time"))};
  const json_t *items = json_object_get(answer, "items"), *row = NULL;
  struct buffer name = BUFFER_EMPTY;
  size_t i = 0;
  json_open(&tracing.writer, NULL, '{');
  json_put_text(&tracing.writer, "displayTimeUnit", "ms");
  json_open(&tracing.writer, "traceEvents", '[');
  buffer_format(&name, "tidings: %s", json_value_text(answer, "session"));
  buffer_byte(&name, '\0');
  name_track(&tracing, "process_name", 0, name.failed ? "" : name.bytes);
  name_track(&tracing, "thread_name", TRACK_TURNS, "turns");
  name_track(&tracing, "thread_name", TRACK_CARRIERS, "carriers");
  name_track(&tracing, "thread_name", TRACK_AGENT, "agent");
  json_array_foreach(items, i, row) put_notification(&tracing, row);
  put_pending(&tracing, items);
  put_turns(&tracing, json_object_get(answer, "transitions"));
  json_array_foreach(json_object_get(answer, "deliveries"), i, row) put_carrier(&tracing, row);
  put_restarts(&tracing, answer);
  json_close(&tracing.writer, ']');
  json_close(&tracing.writer, '}');
  if (name.failed) out->failed = true;
  buffer_free(&name);
}
