/* SPDX-License-Identifier: MIT
 *
 * rules/producers/calls.c: see calls.h. A call that the host never ends is ended with its turn.
 */
#include "rules/producers/calls.h"

#include <string.h>

static void drop_call(struct memory *memory, size_t at) {
  memory->call_count--;
  memmove(&memory->calls[at], &memory->calls[at + 1],
          (memory->call_count - at) * sizeof memory->calls[0]);
}

/* Removes the oldest call that is over; else the oldest. */
static void make_room(struct memory *memory) {
  size_t at = 0;
  if (memory->call_count < MEMORY_CALLS) return;
  while (at < memory->call_count && !memory->calls[at].over) at++;
  drop_call(memory, at < memory->call_count ? at : 0);
}

static bool end_calls(struct memory *memory, struct tidings_span call_id, int64_t now_ms) {
  bool any = false;
  for (size_t i = 0; i < memory->call_count; i++) {
    struct tool_call *call = &memory->calls[i];
    if (call->over || (call_id.len && !span_equal(call->call_id, call_id))) continue;
    call->over = any = true;
    call->to_ms = now_ms;
  }
  return any;
}

static bool ends_all(const struct event *event) {
  switch (event->type) {
  case EVENT_TURN_STARTED:
  case EVENT_TURN_FINISHED:
  case EVENT_TURN_ABORTED:
  case EVENT_TURN_FAILED:
  case EVENT_SESSION_OPENED:
  case EVENT_SESSION_RESUMED: return true;
  case EVENT_TOOLS_FINISHED: return !event->call.call_id.len;
  default: return false;
  }
}

bool calls_concerns(const struct event *event) {
  return ends_all(event) || event->call.call_id.len;
}

bool calls_end(struct memory *memory, const struct event *event, int64_t now_ms) {
  if (ends_all(event)) return end_calls(memory, span_of(NULL, 0), now_ms);
  if (event->type != EVENT_TOOLS_FINISHED) return false;
  return end_calls(memory, event->call.call_id, now_ms);
}

bool calls_take(struct memory *memory, const struct event *event, int64_t now_ms) {
  if (event->type != EVENT_TOOLS_STARTED) return calls_end(memory, event, now_ms);
  if (!event->call.call_id.len) return false;
  (void)end_calls(memory, event->call.call_id, now_ms);
  make_room(memory);
  memory->calls[memory->call_count++] = (struct tool_call){
      .call_id = event->call.call_id, .tool = event->call.tool, .from_ms = now_ms};
  return true;
}

/* Finds the newest call of this id; NULL: there is none. */
static const struct tool_call *find_call_of(const struct memory *memory,
                                            struct tidings_span call_id) {
  for (size_t i = memory->call_count; i-- > 0;)
    if (span_equal(memory->calls[i].call_id, call_id)) return &memory->calls[i];
  return NULL;
}

static bool update_call(struct memory *memory, const struct tool_call *call) {
  const struct tool_call *known = find_call_of(memory, call->call_id);
  if (known && known->from_ms > call->from_ms) return false;
  if (known && known->from_ms == call->from_ms && known->over == call->over) return false;
  if (known) {
    memory->calls[known - memory->calls] = *call;
    return true;
  }
  if (call->over) return false;
  make_room(memory);
  memory->calls[memory->call_count++] = *call;
  return true;
}

bool calls_update(struct memory *memory, const struct memory *shared) {
  bool any = false;
  for (size_t i = 0; i < shared->call_count; i++)
    if (find_call_of(shared, shared->calls[i].call_id) == &shared->calls[i])
      any = update_call(memory, &shared->calls[i]) || any;
  return any;
}

void calls_leave_out(struct memory *memory, const struct memory *shared) {
  size_t kept = 0;
  for (size_t i = 0; i < memory->call_count; i++) {
    const struct tool_call *call = &memory->calls[i], *known = find_call_of(shared, call->call_id);
    if (!known || known->from_ms < call->from_ms) memory->calls[kept++] = *call;
  }
  memory->call_count = kept;
}

bool calls_orphan(struct memory *memory, const struct memory *shared) {
  size_t kept = 0;
  calls_leave_out(memory, shared);
  for (size_t i = 0; i < memory->call_count; i++)
    if (!memory->calls[i].over) memory->calls[kept++] = memory->calls[i];
  memory->call_count = kept;
  for (size_t i = 0; i < shared->call_count; i++) {
    const struct tool_call *call = &shared->calls[i];
    if (call->over) continue;
    make_room(memory);
    memory->calls[memory->call_count++] = *call;
  }
  for (size_t i = 0; i < memory->call_count; i++)
    memory->calls[i].over = memory->calls[i].orphaned = true;
  return memory->call_count > 0;
}

static bool covers(const struct tool_call *call, int64_t time_ms, bool alive) {
  return !call->orphaned && call->from_ms <= time_ms &&
         (call->over ? time_ms <= call->to_ms : alive);
}

/* If the report names several files, they may have changed at any time between the event and now.
 */
struct tidings_span calls_during(const struct memory *memory, const struct event *event,
                                 int64_t now_ms, bool alive) {
  bool before = event->occurred_ms && event->occurred_ms < now_ms;
  int64_t time_ms = before ? event->occurred_ms : now_ms;
  int64_t last_ms = event->report.path_count > 1 ? now_ms : time_ms;
  for (size_t i = memory->call_count; i-- > 0;) {
    const struct tool_call *call = &memory->calls[i];
    if (covers(call, time_ms, alive) && covers(call, last_ms, alive)) return call->tool;
  }
  return span_of(NULL, 0);
}
