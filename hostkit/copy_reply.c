/* SPDX-License-Identifier: MIT
 *
 * copy_reply.c: the copy is written twice by the same code: first into nothing, to learn its size,
 * then into memory of that size.
 */
#include "copy_reply.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include <tidings/hostkit.h>

#include "sized.h"

struct block {
  char *base; /* NULL: only measure */
  size_t used;
};

static void *take(struct block *block, size_t size, size_t alignment) {
  block->used = (block->used + alignment - 1) / alignment * alignment;
  void *place = block->base ? block->base + block->used : NULL;
  block->used += size;
  return place;
}

static void *put(struct block *block, const void *data, size_t size) {
  void *place = take(block, size, alignof(max_align_t));
  if (place) memcpy(place, data, size);
  return place;
}

static struct tidings_span put_text(struct block *block, struct tidings_span text) {
  if (!text.ptr) return (struct tidings_span){0};
  char *place = take(block, text.len + 1, 1);
  if (place) {
    memcpy(place, text.ptr, text.len);
    place[text.len] = '\0';
  }
  return (struct tidings_span){.ptr = place, .len = text.len};
}

static const struct tidings_span *put_span(struct block *block, const struct tidings_span *theirs) {
  struct tidings_span span = put_text(block, theirs ? *theirs : (struct tidings_span){0});
  return put(block, &span, sizeof span);
}

static const struct tidings_notification *put_notification(
    struct block *block, const struct tidings_notification *theirs) {
  struct tidings_notification notification;
  HK_READ_SIZED(&notification, theirs);
  notification.kind_source = put_text(block, notification.kind_source);
  notification.kind_name = put_text(block, notification.kind_name);
  notification.text = put_text(block, notification.text);
  notification.data = put_text(block, notification.data);
  return put(block, &notification, sizeof notification);
}

static const struct tidings_part *put_part(struct block *block, const struct tidings_part *theirs) {
  struct tidings_part part;
  HK_READ_SIZED(&part, theirs);
  part.text = put_text(block, part.text);
  part.call_id = put_text(block, part.call_id);
  part.tool = put_text(block, part.tool);
  return put(block, &part, sizeof part);
}

static const struct tidings_message *put_message(struct block *block,
                                                 const struct tidings_message *theirs) {
  struct tidings_message message;
  HK_READ_SIZED(&message, theirs);
  message.id = put_text(block, message.id);
  message.content = put_text(block, message.content);
  message.trigger = put_text(block, message.trigger);
  return put(block, &message, sizeof message);
}

/* Copies an array of pointers whose elements one of the functions above copies. Replaces *array
 * and, if there is none, *count. */
#define PUT_ARRAY(block, array, count, type, put_element)                                          \
  do {                                                                                             \
    const type *const *elements = (array);                                                         \
    (count) = elements ? (count) : 0;                                                              \
    const type **copies = take((block), (count) * sizeof(void *), alignof(max_align_t));           \
    for (size_t at = 0; at < (count); at++) {                                                      \
      const type *copied = put_element((block), elements[at]);                                     \
      if (copies) copies[at] = copied;                                                             \
    }                                                                                              \
    (array) = (count) ? copies : NULL;                                                             \
  } while (0)

static const struct tidings_action *put_action(struct block *block,
                                               const struct tidings_action *theirs) {
  struct tidings_action action;
  HK_READ_SIZED(&action, theirs);
  PUT_ARRAY(block, action.messages, action.message_count, struct tidings_message, put_message);
  return put(block, &action, sizeof action);
}

static const struct tidings_status *put_status(struct block *block,
                                               const struct tidings_status *theirs) {
  struct tidings_status status;
  HK_READ_SIZED(&status, theirs);
  PUT_ARRAY(block, status.messages, status.message_count, struct tidings_span, put_span);
  PUT_ARRAY(block, status.orphaned, status.orphaned_count, struct tidings_span, put_span);
  status.detail = put_text(block, status.detail);
  return put(block, &status, sizeof status);
}

/* The reply itself stands first, so that freeing it frees all. */
static void put_reply(struct block *block, const struct tidings_reply *theirs) {
  struct tidings_reply reply;
  HK_READ_SIZED(&reply, theirs);
  struct tidings_reply *place = take(block, sizeof reply, alignof(max_align_t));
  PUT_ARRAY(block, reply.notifications, reply.notification_count, struct tidings_notification,
            put_notification);
  PUT_ARRAY(block, reply.parts, reply.part_count, struct tidings_part, put_part);
  PUT_ARRAY(block, reply.actions, reply.action_count, struct tidings_action, put_action);
  PUT_ARRAY(block, reply.steered, reply.steered_count, struct tidings_span, put_span);
  reply.status = put_status(block, reply.status);
  reply.ledger = put_text(block, reply.ledger);
  if (place) *place = reply;
}

struct tidings_reply *hk_reply_copy(const struct tidings_reply *reply) {
  struct block measured = {0};
  put_reply(&measured, reply);
  struct block block = {.base = malloc(measured.used)};
  if (!block.base) return NULL;
  put_reply(&block, reply);
  return (struct tidings_reply *)(void *)block.base;
}

void hostkit_reply_free(struct tidings_reply *reply) { free(reply); }
