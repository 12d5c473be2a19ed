/* SPDX-License-Identifier: MIT
 *
 * delivery/reply.c: see reply.h.
 */
#include "delivery/reply.h"

#include "render/render.h"

struct reply {
  struct tidings_reply abi; /* first */
  struct tidings_status status;
  struct arena arena;
};

struct tidings_reply *reply_make(struct arena *arena) {
  struct reply *reply = arena_zalloc(arena, 1, sizeof *reply);
  if (!reply) return NULL;
  reply->status.size = sizeof reply->status;
  reply->status.state = TIDINGS_STATE_IDLE;
  reply->abi.size = sizeof reply->abi;
  reply->abi.status = &reply->status;
  return &reply->abi;
}

static struct tidings_notification notification_of(const struct line *line, uint32_t session) {
  const struct item *item = line->item;
  return (struct tidings_notification){
      .size = sizeof(struct tidings_notification),
      .level = line->level,
      .id = public_id(session, item->n),
      .time_ms = item->time_ms,
      .source = item->note.source,
      .name = item->note.name,
      .message = line->message,
      .data = line->count > 1 ? span_of(NULL, 0) : item->note.data,
      .count = line->count,
  };
}

static int show_notifications(struct tidings_reply *reply, uint32_t session, const struct plan *plan, struct arena *arena) {
  struct tidings_notification *notes = arena_zalloc(arena, plan->line_count, sizeof *notes);
  const struct tidings_notification **list = arena_zalloc(arena, plan->line_count, sizeof *list);
  if (!notes || !list) return -1;
  for (size_t i = 0; i < plan->line_count; i++) {
    notes[i] = notification_of(&plan->lines[i], session);
    list[i] = &notes[i];
  }
  reply->notifications = list;
  reply->notification_count = plan->line_count;
  return 0;
}

int reply_show(struct tidings_reply *reply, const struct instance *instance, const struct settings *settings, uint32_t session,
               const struct plan *plan, struct arena *arena) {
  struct render_input input = {
      .lines = plan->lines,
      .line_count = plan->line_count,
      .deferred = plan->deferred,
      .host_name = instance->host_name,
      .format = settings->format,
      .order = settings->order,
      .place = settings->place,
  };
  struct tidings_message *message = arena_zalloc(arena, 1, sizeof *message);
  const struct tidings_message **list = arena_zalloc(arena, 1, sizeof *list);
  struct buffer text = BUFFER_EMPTY;
  if (!message || !list || show_notifications(reply, session, plan, arena)) return -1;
  render_carrier_text(&input, &text);
  int code = text.failed || arena_copy(arena, buffer_view(&text), &message->text) ? -1 : 0;
  buffer_free(&text);
  if (code) return -1;
  message->size = sizeof *message;
  message->role = TIDINGS_MESSAGE_CARRIER;
  message->place = settings->place;
  list[0] = message;
  reply->messages = list;
  reply->message_count = 1;
  return 0;
}

const struct tidings_reply *reply_hand_out(struct tidings_reply *abi, struct instance *instance, struct arena *arena) {
  struct reply *reply = (struct reply *)abi;
  reply->arena = *arena;
  *arena = (struct arena)ARENA_EMPTY;
  instance_hand_out(instance);
  return abi;
}

void reply_release(struct instance *instance, const struct tidings_reply *abi) {
  if (!abi) return;
  struct arena arena = ((const struct reply *)abi)->arena; /* the reply itself is in it */
  arena_free(&arena);
  instance_take_back(instance);
}
