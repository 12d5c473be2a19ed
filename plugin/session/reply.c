/* SPDX-License-Identifier: MIT
 */
#include "session/reply.h"

#include <stdio.h>

#include "common/error.h"
#include "common/fnv.h"
#include "render/render.h"

struct reply {
  struct tidings_reply abi; /* first */
  struct arena arena;
  struct handed_out_node out;
};

struct tidings_reply *reply_make(struct arena *arena) {
  struct reply *reply = arena_zalloc(arena, 1, sizeof *reply);
  if (!reply) return NULL;
  reply->abi.size = sizeof reply->abi;
  return &reply->abi;
}

static int no_memory_for_reply(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
}

static struct tidings_span pack(char **to, struct tidings_span text) {
  char *begin = *to;
  if (text.len) memcpy(begin, text.ptr, text.len);
  *to += text.len;
  return span_of(begin, text.len);
}

/* Makes a notification whose text outlives the snapshot: copies the text of an item, and uses the
 * text of a shortened or joined line as it is. */
static int make_notification(const struct line *line, uint32_t session, struct arena *arena,
                             struct tidings_notification *ret) {
  const struct item *item = line->item;
  struct tidings_span data = line->count > 1 ? span_of(NULL, 0) : item->note.data;
  bool is_items = line->message.ptr == item->note.message.ptr;
  char *text = arena_alloc(arena, item->note.source.len + item->note.name.len +
                                      (is_items ? line->message.len : 0) + data.len);
  if (!text) return -1;
  *ret = (struct tidings_notification){
      .size = sizeof *ret,
      .level = line->level,
      .id = public_id(session, item->n),
      .time_ms = item->time_ms,
      .kind_source = pack(&text, item->note.source),
      .kind_name = pack(&text, item->note.name),
      .text = is_items ? pack(&text, line->message) : line->message,
      .data = pack(&text, data),
      .count = line->count,
  };
  return 0;
}

static int show_notifications(struct tidings_reply *reply, uint32_t session,
                              const struct plan *plan, struct arena *arena) {
  struct tidings_notification *notes = arena_array(arena, plan->line_count, sizeof *notes);
  const struct tidings_notification **list = arena_array(arena, plan->line_count, sizeof *list);
  if (!notes || !list) return -1;
  for (size_t i = 0; i < plan->line_count; i++) {
    if (make_notification(&plan->lines[i], session, arena, &notes[i])) return -1;
    list[i] = &notes[i];
  }
  reply->notifications = list;
  reply->notification_count = plan->line_count;
  return 0;
}

/* Makes an id of "notif_" and a random UUID (version 4 of RFC 9562). */
static int make_call_id(const struct tidings_host *host, struct arena *arena,
                        struct tidings_span *ret_id, struct tidings_error *error) {
  uint8_t b[16];
  char text[sizeof "notif_xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"];
  if (host->random(host->context, b, sizeof b))
    return fail(error, TIDINGS_E_INVAL,
                "host.random failed; delivery.format \"synthetic-call\" needs it");
  b[6] = (uint8_t)(0x40 | (b[6] & 0x0f));
  b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
  (void)snprintf(text, sizeof text,
                 "notif_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
  return arena_copy(arena, span_text(text), ret_id) ? no_memory_for_reply(error) : 0;
}

static int make_call_ids(struct op *op, size_t count, const struct tidings_span **ret_ids,
                         struct tidings_error *error) {
  struct tidings_span *ids = arena_zalloc(&op->arena, count, sizeof *ids);
  if (!ids) return no_memory_for_reply(error);
  for (size_t i = 0; i < count; i++) {
    int code = make_call_id(&op->instance->host, &op->arena, &ids[i], error);
    if (code) return code;
  }
  *ret_ids = ids;
  return 0;
}

static int show_messages(struct tidings_reply *reply, const struct rendered *rendered, size_t count,
                         struct arena *arena) {
  struct tidings_part *messages = arena_array(arena, count, sizeof *messages);
  const struct tidings_part **list = arena_array(arena, count, sizeof *list);
  if (!messages || !list) return -1;
  for (size_t i = 0; i < count; i++) {
    messages[i] = (struct tidings_part){.size = sizeof *messages,
                                        .voice = rendered[i].role,
                                        .place = rendered[i].place,
                                        .text = rendered[i].text,
                                        .call_id = rendered[i].call_id};
    if (rendered[i].role == TIDINGS_VOICE_TOOL) messages[i].tool = span_text(NOTIFICATION_TOOL);
    list[i] = &messages[i];
  }
  reply->parts = list;
  reply->part_count = count;
  return 0;
}

bool reply_is_bare(const struct op *op) {
  if (op->settings->preamble == PREAMBLE_FIRST) return op->head.preamble != 0;
  return op->settings->preamble == PREAMBLE_NEVER;
}

static void frame_as(const struct rendering *as, struct render_input *input) {
  input->host_name = as->host_name;
  input->nonce = as->nonce;
  input->format = as->format;
  input->order = as->order;
  input->place = as->place;
  input->bare = as->bare;
  input->age_after_ms = as->age_after_ms;
}

void reply_frame_make(const struct op *op, bool chat_request, bool bare, const struct rendering *as,
                      struct reply_frame *ret_frame) {
  const struct settings *settings = op->settings;
  ret_frame->nonce = configuration_nonce(op->configuration, op->name);
  ret_frame->input = (struct render_input){
      .host_name = op->instance->host_name,
      .nonce = span_of(ret_frame->nonce.text, ret_frame->nonce.len),
      .format = settings->format,
      .order = settings->order,
      .place = settings->place,
      .chat_request = chat_request,
      .bare = bare,
      .now_ms = op->now_ms,
      .age_after_ms = settings->age_after_ms,
  };
  if (as) frame_as(as, &ret_frame->input);
}

uint64_t reply_hash(const struct tidings_reply *reply, uint64_t *ret_bytes) {
  uint64_t hash = FNV_START, bytes = 0;
  for (size_t i = 0; i < reply->part_count; i++) {
    const struct tidings_part *part = reply->parts[i];
    hash = fnv_byte(fnv_byte(hash, (uint8_t)part->voice), (uint8_t)part->place);
    hash = fnv_span(hash, part->text);
    bytes += part->text.len;
  }
  *ret_bytes = bytes;
  return hash;
}

int reply_rendering(const struct tidings_reply *reply, struct op *op, const struct showing *showing,
                    uint64_t room, struct rendering *ret_rendering, struct tidings_error *error) {
  const struct settings *settings = op->settings;
  struct reply_frame frame;
  reply_frame_make(op, showing->chat_request, showing->bare, NULL, &frame);
  struct rendering rendering = {
      .room = room,
      .deferred = showing->plan->deferred,
      .max_tokens = settings->max_tokens,
      .coalesce_window_ms = settings->coalesce_window_ms,
      .age_after_ms = settings->age_after_ms,
      .preset = settings->preset,
      .format = settings->format,
      .order = settings->order,
      .place = settings->place,
      .bare = showing->bare,
      .host_name = frame.input.host_name,
  };
  rendering.hash = reply_hash(reply, &rendering.bytes);
  if (arena_copy(&op->arena, frame.input.nonce, &rendering.nonce))
    return no_memory_for_reply(error);
  *ret_rendering = rendering;
  return 0;
}

int reply_show(struct tidings_reply *reply, struct op *op, const struct showing *showing,
               struct tidings_error *error) {
  const struct plan *plan = showing->plan;
  struct reply_frame frame;
  reply_frame_make(op, showing->chat_request, showing->bare, showing->as, &frame);
  struct render_input input = frame.input;
  const struct rendered *rendered;
  size_t count;
  input.lines = plan->lines;
  input.line_count = plan->line_count;
  input.deferred = plan->deferred;
  input.steered = showing->steered;
  input.steered_count = showing->steered_count;
  int code = input.format == FORMAT_SYNTHETIC_CALL
                 ? make_call_ids(op, plan->line_count, &input.call_ids, error)
                 : 0;
  if (code) return code;
  if (show_notifications(reply, op->session, plan, &op->arena) ||
      render_messages(&input, &op->arena, &rendered, &count) ||
      show_messages(reply, rendered, count, &op->arena))
    return no_memory_for_reply(error);
  return 0;
}

const struct tidings_reply *reply_hand_out(struct tidings_reply *abi, struct op *op) {
  struct reply *reply = (struct reply *)abi;
  reply->arena = op->arena;
  op->arena = (struct arena)ARENA_EMPTY;
  instance_hand_out(op->instance, &reply->out, HANDED_OUT_REPLY, abi);
  return abi;
}

void reply_release(struct instance *instance, const struct tidings_reply *abi) {
  if (!abi || !instance_claim(instance, HANDED_OUT_REPLY, abi)) return;
  struct arena arena = ((const struct reply *)abi)->arena; /* the reply itself is in it */
  arena_free(&arena);
  instance_take_back(instance);
}
