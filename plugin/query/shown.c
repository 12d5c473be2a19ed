/* SPDX-License-Identifier: MIT
 *
 * query/shown.c: the query `preview`, which shows what the model would read at the next delivery
 * point, and the query `render`, which shows what it has read.
 */
#include "common/error.h"
#include "query/answer.h"
#include "render/render.h"
#include "session/planning.h"
#include "session/reply.h"

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
}

void query_write_shown(struct json_writer *writer, const struct tidings_reply *reply) {
  static const char *const roles[] = {"carrier", "block", "developer", "user", "tool"};
  static const char *const places[] = {"prepend", "append", "before", "after", "pair"};
  json_open(writer, "messages", '[');
  for (size_t i = 0; i < reply->part_count; i++) {
    const struct tidings_part *message = reply->parts[i];
    json_open(writer, NULL, '{');
    json_put_text(writer, "role", roles[message->voice]);
    json_put_text(writer, "place", places[message->place]);
    json_put_string(writer, "text", message->text);
    if (message->voice == TIDINGS_VOICE_TOOL) {
      json_put_string(writer, "call_id", message->call_id);
      json_put_string(writer, "tool", message->tool);
    }
    json_close(writer, '}');
  }
  json_close(writer, ']');
}

static void write_notifications(struct json_writer *writer, const struct plan *plan) {
  json_open(writer, "notifications", '[');
  for (size_t i = 0; i < plan->line_count; i++) {
    const struct line *line = &plan->lines[i];
    json_open(writer, NULL, '{');
    query_write_kind(writer, &line->item->note);
    json_put_text(writer, "level", level_name(line->level));
    json_put_string(writer, "message", line->message);
    if (line->count > 1) json_put_u64(writer, "count", line->count);
    json_close(writer, '}');
  }
  json_close(writer, ']');
}

/* -- preview ----------------------------------------------------------------------------------- */

/* Steps the run as a tool result would, and finds what that would steer. */
static int look_ahead(struct question *question, struct stored_run *stored, struct steered *steered,
                      struct tidings_error *error) {
  struct op *op = &question->op;
  if (!op->session) return 0;
  int code = stored_run_load(op, stored, NULL, 0, NULL, error);
  if (code || question->request->chat_request) return code;
  struct turns_input input = stored_run_input(op, TURNS_TOOL_RESULT);
  input.delivery = op->head.last_delivery + 1;
  code = planning_steered(op, stored, planning_room(op, 0), &input.steered_most, error);
  if (!code) code = turns_step(&stored->turns, &input, error);
  return code ? code : stored_run_steered(op, stored, input.delivery, steered, error);
}

int query_preview(struct question *question, struct tidings_error *error) {
  struct op *op = &question->op;
  struct item *items = NULL;
  struct stored_run stored = {.from = 0};
  struct steered steered = {0};
  size_t count = 0;
  struct plan plan;
  int code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &count, error);
  if (!code) code = look_ahead(question, &stored, &steered, error);
  if (code) return code;
  count = query_leave_out_ended(items, count);
  const struct run *run = &stored.turns.run;
  const struct planned_carrier carrier = {.chat_request = question->request->chat_request,
                                          .pinned =
                                              run->kind == TURN_OF_SYSTEM ? run->system_item : 0,
                                          .room = planning_room(op, 0),
                                          .steered = steered.contents,
                                          .steered_count = steered.count};
  struct tidings_reply *reply = reply_make(&op->arena);
  if (!reply) return no_memory(error);
  code = planning_make(op, &carrier, items, count, &plan, error);
  if (code) return code;
  const struct showing showing = {.chat_request = question->request->chat_request,
                                  .bare = reply_is_bare(op),
                                  .steered = steered.contents,
                                  .steered_count = steered.count,
                                  .plan = &plan};
  code = plan.line_count || steered.count ? reply_show(reply, op, &showing, error) : 0;
  if (code) return code;
  write_notifications(&question->writer, &plan);
  query_write_shown(&question->writer, reply);
  json_put_u64(&question->writer, "deferred", plan.deferred);
  return 0;
}

/* -- render ------------------------------------------------------------------------------------ */

/* Writes "messages". All items were shown, so the policy only joins and orders lines. */
static int render_items(struct question *question, struct item *items, size_t count,
                        uint32_t coalesce_window_ms, const struct showing *carrier,
                        struct tidings_error *error) {
  struct op *op = &question->op;
  const struct settings plain = {.notifications_enabled = true,
                                 .order = op->settings->order,
                                 .coalesce_window_ms = coalesce_window_ms,
                                 .message_bytes = op->settings->message_bytes};
  struct tidings_reply *reply = reply_make(&op->arena);
  struct showing showing = *carrier;
  struct plan plan;
  if (!reply || plan_delivery(items, count, &plain, op->now_ms, NULL, &op->arena, &plan))
    return no_memory(error);
  uint8_t preamble = op->settings->preamble;
  showing.bare = preamble == PREAMBLE_NEVER || (preamble == PREAMBLE_FIRST && carrier->bare);
  showing.plan = &plan;
  int code = reply_show(reply, op, &showing, error);
  if (!code) query_write_shown(&question->writer, reply);
  return code;
}

/* A stream does not say how old its notifications were, so they are shown as new. */
static int render_again(struct question *question, const struct streamed *carrier, bool first,
                        struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  const struct showing showing = {.chat_request = carrier->chat_request, .bare = !first};
  struct item *items = arena_zalloc(&op->arena, carrier->note_count, sizeof *items);
  if (!items) return no_memory(error);
  for (size_t i = 0; i < carrier->note_count; i++)
    items[i] = (struct item){.n = i + 1, .time_ms = op->now_ms, .note = carrier->notes[i]};
  json_open(writer, NULL, '{');
  json_put_text(writer, "type", carrier->chat_request ? "chat_request" : "tool_call_response");
  if (carrier->chat_request) json_put_text(writer, "source", carrier->source ? "system" : "user");
  else json_put_string(writer, "id", carrier->id);
  int code = render_items(question, items, carrier->note_count, 0, &showing, error);
  json_close(writer, '}');
  return code;
}

int query_render(struct question *question, struct tidings_error *error) {
  int code = 0;
  json_open(&question->writer, "carriers", '[');
  for (size_t i = 0; i < question->request->carrier_count && !code; i++)
    code = render_again(question, &question->request->carriers[i], i == 0, error);
  json_close(&question->writer, ']');
  return code;
}
