/* SPDX-License-Identifier: MIT
 *
 * query/again.c: renders a delivery again. The store keeps how it was rendered and a hash of the
 * texts, so the answer says whether these are the bytes that the host was given.
 */
#include "common/error.h"
#include "config/config.h"
#include "query/past.h"
#include "session/planning.h"
#include "session/reply.h"

static int no_memory_again(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to render a delivery again");
}

/* A delivery as it was shown: its items, and the messages that it steered into the turn. */
struct shown_then {
  const struct delivery *delivery;
  bool bare; /* used if the delivery does not say it */
  struct item *items;
  size_t count;
  struct tidings_span *steered;
  size_t steered_count;
};

static int read_steered(struct question *question, struct shown_then *then,
                        struct tidings_error *error) {
  const struct delivery *delivery = then->delivery;
  struct op *op = &question->op;
  struct tidings_span trigger;
  if (delivery->carrier != CARRIER_TOOL_RESULT || !delivery->message_count) return 0;
  then->steered = arena_zalloc(&op->arena, delivery->message_count, sizeof *then->steered);
  if (!then->steered) return no_memory_again(error);
  for (size_t i = 0; i < delivery->message_count; i++) {
    int code = content_get(op->txn, op->session, delivery->messages[i], &op->arena,
                           &then->steered[then->steered_count], &trigger, error);
    if (code) return code;
    then->steered_count++;
  }
  return 0;
}

static int read_then(struct question *question, const struct past *past, struct shown_then *then,
                     struct tidings_error *error) {
  struct item *items = NULL;
  size_t count = 0;
  if (past_items_shown(past, then->delivery, &items, &count)) return no_memory_again(error);
  then->items = items;
  for (size_t i = 0; i < count; i++)
    if (items[i].note.message.len) then->items[then->count++] = items[i]; /* not damaged */
  return read_steered(question, then, error);
}

/* -- rendering --------------------------------------------------------------------------------- */

/* All items were shown, or gave their place to one that was, so only the policy's steps that join,
 * order and cut lines stay on. */
static struct settings settings_then(const struct op *op, const struct rendering *as) {
  return (struct settings){.notifications_enabled = true,
                           .format = as->format,
                           .order = as->order,
                           .coalesce_window_ms = as->coalesce_window_ms,
                           .max_tokens = as->max_tokens,
                           .message_bytes = op->settings->message_bytes};
}

static int render_then(struct question *question, const struct shown_then *then,
                       const struct rendering *as, struct tidings_reply **ret_reply,
                       struct tidings_error *error) {
  struct op *op = &question->op;
  bool chat_request = then->delivery->carrier == CARRIER_CHAT_REQUEST;
  const struct planned_carrier carrier = {.chat_request = chat_request,
                                          .room = as->room,
                                          .steered = then->steered,
                                          .steered_count = then->steered_count,
                                          .as = as};
  struct tidings_reply *reply = reply_make(&op->arena);
  struct plan plan;
  if (!reply) return no_memory_again(error);
  int code = planning_make(op, &carrier, then->items, then->count, &plan, error);
  if (code) return code;
  plan.deferred = as->deferred;
  const struct showing showing = {.chat_request = chat_request,
                                  .plan = &plan,
                                  .steered = then->steered,
                                  .steered_count = then->steered_count,
                                  .as = as};
  code = reply_show(reply, op, &showing, error);
  if (!code) *ret_reply = reply;
  return code;
}

/* Renders with the stored settings. If that does not give the same bytes, renders all lines uncut.
 */
static int render_as(struct question *question, const struct shown_then *then,
                     const struct rendering *as, struct tidings_reply **ret_reply, bool *ret_same,
                     struct tidings_error *error) {
  struct op *op = &question->op;
  const struct settings *in_force = op->settings;
  int64_t now_ms = op->now_ms;
  struct settings settings = settings_then(op, as);
  uint64_t bytes = 0;
  op->settings = &settings;
  op->now_ms = then->delivery->leased_ms;
  int code = render_then(question, then, as, ret_reply, error);
  bool same = !code && as->bytes && reply_hash(*ret_reply, &bytes) == as->hash;
  if (!code && !same && (as->room || as->max_tokens)) {
    struct rendering uncut = *as;
    uncut.room = settings.max_tokens = 0;
    code = render_then(question, then, &uncut, ret_reply, error);
  }
  op->settings = in_force;
  op->now_ms = now_ms;
  *ret_same = same && bytes == as->bytes;
  return code;
}

/* -- the answer -------------------------------------------------------------------------------- */

static void write_rendering(struct question *question, const struct rendering *as, bool same) {
  struct json_writer *writer = &question->writer;
  json_open(writer, "rendering", '{');
  json_put_text(writer, "preset", config_preset_name(as->preset));
  json_put_text(writer, "format", config_format_name(as->format));
  json_put_string(writer, "host_name", as->host_name);
  json_put_u64(writer, "room", as->room);
  json_put_u64(writer, "bytes", as->bytes);
  json_put_bool(writer, "same", same);
  json_close(writer, '}');
}

/* A delivery of an earlier version does not say how it was rendered. */
static struct rendering rendering_now(const struct question *question, bool bare) {
  const struct settings *settings = question->op.settings;
  struct reply_frame frame;
  reply_frame_make(&question->op, false, bare, NULL, &frame);
  uint8_t preamble = settings->preamble;
  return (struct rendering){
      .coalesce_window_ms = settings->coalesce_window_ms,
      .age_after_ms = settings->age_after_ms,
      .format = settings->format,
      .order = settings->order,
      .place = settings->place,
      .bare = preamble == PREAMBLE_NEVER || (preamble == PREAMBLE_FIRST && bare),
      .host_name = frame.input.host_name,
  };
}

int past_write_shown(struct question *question, const struct past *past,
                     const struct delivery *delivery, bool first, struct tidings_error *error) {
  const struct rendering *as = &delivery->rendering;
  struct shown_then then = {.delivery = delivery, .bare = !first};
  struct tidings_reply *reply = NULL;
  bool same = false, said = as->bytes && config_format_name(as->format);
  int code = read_then(question, past, &then, error);
  if (code || (!then.count && !as->bytes)) return code;
  const struct rendering now = rendering_now(question, !first);
  code = render_as(question, &then, said ? as : &now, &reply, &same, error);
  if (code) return code;
  query_write_shown(&question->writer, reply);
  if (said) write_rendering(question, as, same);
  return 0;
}
