/* SPDX-License-Identifier: MIT
 *
 * session/stage.c: see stage.h.
 */
#include "session/stage.h"

#include "common/error.h"
#include "session/urging.h"

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to decide on a session's turns");
}

static int begin(struct stage *stage, struct tidings_error *error) {
  stage->turning = (struct turning){.instance = stage->instance,
                                    .settings = stage->settings,
                                    .txn = stage->txn,
                                    .session = stage->session,
                                    .head = &stage->head,
                                    .arena = &stage->arena,
                                    .now_ms = stage->now_ms};
  return item_last(stage->txn, stage->session, &stage->head, &stage->last_item, error);
}

int stage_load(struct stage *stage, const struct tidings_span *ids, size_t count,
               ptrdiff_t *ret_named, struct tidings_error *error) {
  int code = begin(stage, error);
  return code ? code : turning_load(&stage->turning, ids, count, ret_named, error);
}

int stage_load_numbers(struct stage *stage, const uint64_t *numbers, size_t count,
                       ptrdiff_t *ret_named, struct tidings_error *error) {
  int code = begin(stage, error);
  return code ? code : turning_load_numbers(&stage->turning, numbers, count, ret_named, error);
}

struct turns_input stage_input(const struct stage *stage, enum turns_event event) {
  struct turns_input input = turning_input(&stage->turning, event);
  input.last_item = stage->last_item;
  input.answers = stage->answers;
  input.owned = stage->owned;
  return input;
}

static int find_urgency(struct stage *stage, struct urging *ret_urging,
                        struct tidings_error *error) {
  const struct planning planning = {.instance = stage->instance,
                                    .settings = stage->settings,
                                    .now_ms = stage->now_ms,
                                    .arena = &stage->arena};
  struct item *items;
  size_t count;
  int code =
      item_pending(stage->txn, stage->session, &stage->head, &stage->arena, &items, &count, error);
  if (code) return code;
  return urging_find(&planning, items, count, ret_urging) ? no_memory(error) : 0;
}

int stage_look(struct stage *stage, struct tidings_error *error) {
  struct turns_input input = stage_input(stage, TURNS_LOOK);
  struct urging urging = {0};
  if (stage->answers && turns_minds_urgency(&stage->turning.turns.run)) {
    int code = find_urgency(stage, &urging, error);
    if (code) return code;
  }
  input.urgency = urging.urgency;
  turns_look(&stage->turning.turns, &input, &stage->result);
  bool system = stage->result.offer && stage->turning.turns.run.kind == TURN_OF_SYSTEM;
  if (system && urging.most && urging_message(urging.most, &stage->arena, &stage->system_text))
    return no_memory(error);
  return 0;
}

int stage_save(struct stage *stage, enum turns_event event, bool *ret_changed,
               struct tidings_error *error) {
  bool changed = false;
  int code = turning_save(&stage->turning, event, stage->result.abort, &changed, error);
  changed = changed || stage->head_changed;
  if (!code && changed) code = head_put(stage->txn, stage->session, &stage->head, error);
  if (!code) *ret_changed = changed;
  return code;
}

int stage_reply(struct stage *stage, struct tidings_reply **ret_reply,
                struct tidings_error *error) {
  const struct turns *turns = &stage->turning.turns;
  struct tidings_reply *reply = reply_make(&stage->arena);
  if (!reply || reply_status(reply, &turns->run, turns, &stage->arena)) return no_memory(error);
  if (stage->result.abort && reply_abort(reply, &stage->arena)) return no_memory(error);
  if (stage->result.offer) {
    int code = reply_offer(reply, &stage->turning, stage->system_text, error);
    if (code) return code;
  }
  if (stage->answers)
    reply_wake(reply, stage->instance, stage->settings, &turns->run, stage->now_ms);
  *ret_reply = reply;
  return 0;
}

int stage_stand(struct stage *stage, struct tidings_span session, struct tidings_reply **ret_reply,
                struct tidings_error *error) {
  int code = store_read(stage->instance->store, &stage->txn, error);
  if (code) return code;
  code = session_find(stage->txn, session, &stage->session, error);
  if (!code) code = head_get(stage->txn, stage->session, &stage->arena, &stage->head, error);
  if (!code) code = stage_load(stage, NULL, 0, NULL, error);
  if (!code) code = stage_reply(stage, ret_reply, error);
  store_end(stage->txn);
  return code;
}
