/* SPDX-License-Identifier: MIT
 */
#include "session/planning.h"

#include "common/error.h"
#include "event/facts.h"
#include "session/outdated.h"
#include "session/reply.h"

static int no_memory_to_plan(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to plan a delivery");
}

/* `sound`: the items that may be planned, in the caller's array or in a copy. The other arrays: the
 * dispositions of items that may not. An item that is not due is in none. */
struct sorted {
  struct item *sound;
  struct disposition *damaged, *replaced, *outdated;
  size_t sound_count, damaged_count, replaced_count, outdated_count;
};

/* Call it for items in the order of `n`. `at`: the position in sorted->replaced, at first 0. */
static bool is_planned(const struct op *op, const struct sorted *sorted, const struct item *item,
                       size_t *at) {
  while (*at < sorted->replaced_count && sorted->replaced[*at].n < item->n) ++*at;
  bool replaced = *at < sorted->replaced_count && sorted->replaced[*at].n == item->n;
  return item->note.message.len && item_is_due(item, op->now_ms) && !replaced;
}

static int keep_planned(struct op *op, const struct item *items, size_t count, size_t damaged,
                        struct sorted *sorted) {
  size_t at = 0;
  sorted->sound = arena_zalloc(&op->arena, count, sizeof *sorted->sound);
  sorted->damaged = arena_zalloc(&op->arena, damaged, sizeof *sorted->damaged);
  if (!sorted->sound || !sorted->damaged) return -1;
  sorted->sound_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_planned(op, sorted, &items[i], &at)) sorted->sound[sorted->sound_count++] = items[i];
    else if (!items[i].note.message.len)
      sorted->damaged[sorted->damaged_count++] = (struct disposition){
          .n = items[i].n, .outcome = OUTCOME_DROPPED, .reason = REASON_DAMAGED};
  }
  return 0;
}

/* Keeps three kinds of items out of the plan. Damaged items are dropped. Items that are not due
 * stay pending. Items that were replaced before they were due are ended, although no carrier came
 * in that time. */
static int sort_out(struct op *op, uint64_t pinned, struct item *items, size_t count,
                    struct sorted *ret) {
  struct sorted sorted = {.sound = items, .sound_count = count};
  size_t damaged = 0, planned = 0, at = 0;
  if (plan_replaced(items, count, op->settings, op->now_ms, &op->arena, &sorted.replaced,
                    &sorted.replaced_count))
    return -1;
  for (size_t i = 0; i < count; i++) {
    items[i].pinned = items[i].n == pinned;
    items[i].shortened = false;
    damaged += !items[i].note.message.len;
    planned += is_planned(op, &sorted, &items[i], &at);
  }
  if (planned < count && keep_planned(op, items, count, damaged, &sorted)) return -1;
  *ret = sorted;
  return 0;
}

static int merge_dispositions(struct arena *arena, struct plan *plan,
                              const struct disposition *more, size_t more_count) {
  if (!more_count) return 0;
  struct disposition *dispositions =
      arena_zalloc(arena, plan->disposition_count + more_count, sizeof *dispositions);
  size_t a = 0, b = 0, count = 0;
  if (!dispositions) return -1;
  while (a < plan->disposition_count || b < more_count) {
    bool from_plan =
        b == more_count || (a < plan->disposition_count && plan->dispositions[a].n < more[b].n);
    dispositions[count++] = from_plan ? plan->dispositions[a++] : more[b++];
  }
  plan->dispositions = dispositions;
  plan->disposition_count = count;
  return 0;
}

struct counting {
  struct tidings_host host;
  uint8_t format;
  struct buffer shown; /* scratch */
};

/* Counts a message as it will be shown, because neutralizing can make hostile text much longer. If
 * there is no memory, counts the message as it is. */
static uint64_t count_tokens(void *context, struct tidings_span message) {
  struct counting *counting = context;
  counting->shown.len = 0;
  render_item_text(counting->format, message, &counting->shown);
  struct tidings_span shown = counting->shown.failed ? message : buffer_view(&counting->shown);
  if (counting->host.count_tokens)
    return counting->host.count_tokens(counting->host.context, &shown);
  return (shown.len + 3) / 4;
}

/* -- room -------------------------------------------------------------------------------------- */

uint64_t planning_room(const struct op *op, uint64_t carriers) {
  uint64_t configured = op->settings->max_bytes;
  return carriers && (!configured || carriers < configured) ? carriers : configured;
}

static int bytes_of_steered(const struct render_input *frame, const struct tidings_span *steered,
                            size_t count, uint64_t *ret_bytes) {
  struct render_input input = *frame;
  struct buffer scratch = BUFFER_EMPTY;
  input.steered = steered;
  input.steered_count = count;
  int code = render_bytes(&input, &scratch, ret_bytes);
  buffer_free(&scratch);
  return code;
}

int planning_steered(struct op *op, const struct stored_run *stored, uint64_t room,
                     size_t *ret_most, struct tidings_error *error) {
  const struct turns *turns = &stored->turns;
  struct tidings_span content, trigger;
  uint64_t left = room, bytes;
  size_t most = 0;
  if (!room || !turns->run.steering) {
    *ret_most = SIZE_MAX;
    return 0;
  }
  struct reply_frame frame;
  reply_frame_make(op, false, true, NULL, &frame);
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].state != MESSAGE_STEERING) continue;
    int code = content_get(op->txn, op->session, turns->messages[i].n, &op->arena, &content,
                           &trigger, error);
    if (code) return code;
    if (bytes_of_steered(&frame.input, &content, 1, &bytes))
      return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
    if (bytes > left) break;
    left -= bytes;
    most++;
  }
  *ret_most = most;
  return 0;
}

/* -- the plan ---------------------------------------------------------------------------------- */

static int make_plan(struct op *op, const struct planned_carrier *carrier,
                     const struct sorted *sorted, const struct token_counter *counter,
                     struct plan *ret_plan) {
  if (!carrier->room)
    return plan_delivery_in(NULL, carrier->rest, sorted->sound, sorted->sound_count, op->settings,
                            op->now_ms, counter, &op->arena, ret_plan);
  struct reply_frame frame;
  reply_frame_make(op, carrier->chat_request, reply_is_bare(op), carrier->as, &frame);
  struct room room = {.frame = &frame.input,
                      .bytes = carrier->room,
                      .deferred = carrier->as ? carrier->as->deferred : 0};
  if (bytes_of_steered(&frame.input, carrier->steered, carrier->steered_count, &room.taken))
    return -1;
  return plan_delivery_in(&room, carrier->rest, sorted->sound, sorted->sound_count, op->settings,
                          op->now_ms, counter, &op->arena, ret_plan);
}

static bool needs_facts(const struct op *op, const struct planned_carrier *carrier,
                        const struct sorted *sorted) {
  if (plan_needs_facts(sorted->sound, sorted->sound_count, op->settings)) return true;
  for (size_t i = 0; !carrier->as && i < sorted->sound_count; i++)
    if (outdated_may_leave_out(op, &sorted->sound[i])) return true;
  return false;
}

/* Keeps items out of the plan if another delivery has shown newer reports of all their files. */
static int leave_out_shown(struct op *op, struct sorted *sorted, struct tidings_error *error) {
  size_t kept = 0, d = 0;
  int code = outdated_leave_out(op, sorted->sound, sorted->sound_count, &sorted->outdated,
                                &sorted->outdated_count, error);
  if (code || !sorted->outdated_count) return code;
  struct item *sound = arena_array(&op->arena, sorted->sound_count, sizeof *sound);
  if (!sound) return no_memory_to_plan(error);
  for (size_t i = 0; i < sorted->sound_count; i++) {
    if (d < sorted->outdated_count && sorted->outdated[d].n == sorted->sound[i].n) d++;
    else sound[kept++] = sorted->sound[i];
  }
  sorted->sound = sound;
  sorted->sound_count = kept;
  return 0;
}

int planning_make(struct op *op, const struct planned_carrier *carrier, struct item *items,
                  size_t item_count, struct plan *ret_plan, struct tidings_error *error) {
  struct counting counting = {
      .host = op->instance->host, .format = op->settings->format, .shown = BUFFER_EMPTY};
  const struct token_counter counter = {count_tokens, &counting};
  struct sorted sorted;
  struct plan plan;
  if (sort_out(op, carrier->pinned, items, item_count, &sorted)) return no_memory_to_plan(error);
  if (needs_facts(op, carrier, &sorted) && facts_read(sorted.sound, sorted.sound_count, &op->arena))
    return no_memory_to_plan(error);
  int code = carrier->as ? 0 : leave_out_shown(op, &sorted, error);
  if (code) return code;
  code = make_plan(op, carrier, &sorted, &counter, &plan);
  buffer_free(&counting.shown);
  if (code || merge_dispositions(&op->arena, &plan, sorted.replaced, sorted.replaced_count) ||
      merge_dispositions(&op->arena, &plan, sorted.outdated, sorted.outdated_count) ||
      merge_dispositions(&op->arena, &plan, sorted.damaged, sorted.damaged_count))
    return no_memory_to_plan(error);
  if (sorted.damaged_count) {
    static const char words[] =
        "store: damaged notification records were dropped; see query explain";
    struct tidings_span text = span_text(words);
    counting.host.log(counting.host.context, TIDINGS_LOG_ERROR, &text);
  }
  *ret_plan = plan;
  return 0;
}

int planning_left(struct op *op, struct item *items, size_t item_count, const bool **ret_left) {
  struct sorted sorted;
  size_t replaced = 0;
  if (sort_out(op, 0, items, item_count, &sorted)) return -1;
  bool *left = arena_zalloc(&op->arena, item_count, sizeof *left),
       *sound = arena_zalloc(&op->arena, item_count, sizeof *sound);
  if (!left || !sound) return -1;
  if (plan_needs_facts(sorted.sound, sorted.sound_count, op->settings) &&
      facts_read(sorted.sound, sorted.sound_count, &op->arena))
    return -1;
  if (plan_left(sorted.sound, sorted.sound_count, op->settings, op->now_ms, &op->arena, sound))
    return -1;
  for (size_t i = 0, at = 0; i < item_count; i++)
    left[i] = is_planned(op, &sorted, &items[i], &replaced) && sound[at++];
  *ret_left = left;
  return 0;
}
