/* SPDX-License-Identifier: MIT
 */
#include "command/recipes.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/kit.h"
#include "command/orders.h"
#include "command/terminal.h"
#include "common/file.h"
#include "common/sha256.h"
#include "common/utf8.h"
#include "recipes/builtin.h"

static const char *find_builtin(const char *name) {
  for (const struct recipe_builtin *one = recipe_builtins; one->name; one++) {
    if (strcmp(one->name, name) == 0) return one->text;
  }
  return NULL;
}

static int32_t refuse_name(const char *name, int reason, struct tidings_error *error) {
  char names[256] = "";
  size_t len = 0;
  for (const struct recipe_builtin *one = recipe_builtins; one->name && len < sizeof names; one++)
    len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", one->name);
  return kit_error(error, TIDINGS_E_NOT_FOUND,
                   "cannot read the recipe '%s': %s; expected a file, or one of %s", name,
                   strerror(reason), names);
}

int32_t recipes_find(const char *name, struct recipe **ret_recipe, struct tidings_error *error) {
  enum { LARGEST = 1 << 20 };
  const char *text = find_builtin(name);
  char *file = NULL;
  size_t len = text ? strlen(text) : 0;
  int reason = text ? 0 : file_read_whole(name, LARGEST, &file, &len);
  if (reason) return refuse_name(name, reason, error);
  int32_t code = recipe_read(span_of(text ? text : file, len), name, ret_recipe, error);
  free(file);
  return code;
}

char *recipes_source(const char *name) {
  char *path = find_builtin(name) ? NULL : realpath(name, NULL);
  return path ? path : strdup(name);
}

static uint32_t level_number(struct tidings_span level) {
  if (span_is(level, "critical")) return TIDINGS_LEVEL_CRITICAL;
  if (span_is(level, "error")) return TIDINGS_LEVEL_ERROR;
  return span_is(level, "warning") ? TIDINGS_LEVEL_WARNING : TIDINGS_LEVEL_INFO;
}

/* The kind is split at its first dot. */
struct hostkit_notification recipes_notification(const struct recipe_push *push,
                                                 struct tidings_span session,
                                                 struct tidings_span source) {
  const char *dot = push->kind.len ? memchr(push->kind.ptr, '.', push->kind.len) : NULL;
  size_t len = dot ? (size_t)(dot - push->kind.ptr) : push->kind.len;
  return (struct hostkit_notification){.size = sizeof(struct hostkit_notification),
                                       .session = session,
                                       .kind_source = span_of(push->kind.ptr, len),
                                       .kind_name = dot ? span_of(dot + 1, push->kind.len - len - 1)
                                                        : span_of(NULL, 0),
                                       .text = push->text,
                                       .level = level_number(push->level),
                                       .key = push->key,
                                       .ttl_ms = (uint64_t)push->ttl_ms,
                                       .event_source = push->id.len ? source : span_of(NULL, 0),
                                       .event_id = push->id};
}

/* Withdraws the key's pending notification by pushing a silent one. */
static int32_t withdraw(struct hostkit *kit, const struct hostkit_notification *notification,
                        struct tidings_reply **ret_reply, struct tidings_error *error) {
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  json_t *data = json_pack("{s:{s:s%, s:s%}, s:s%, s:s, s:s%, s:s}", "kind", "source",
                           notification->kind_source.ptr, notification->kind_source.len, "name",
                           notification->kind_name.len ? notification->kind_name.ptr : "",
                           notification->kind_name.len, "message", notification->text.ptr,
                           notification->text.len, "level", levels[notification->level], "key",
                           notification->key.ptr, notification->key.len, "activation", "silent");
  char *session = strndup(notification->session.ptr, notification->session.len);
  json_t *event = session ? kit_new_event("notification", session, data) : NULL;
  if (event && notification->event_id.len) {
    json_object_set_new(
        event, "source",
        json_stringn(notification->event_source.ptr, notification->event_source.len));
    json_object_set_new(event, "id",
                        json_stringn(notification->event_id.ptr, notification->event_id.len));
  }
  free(session);
  return kit_event(kit, event, ret_reply, error);
}

void recipes_write_digest(struct tidings_span text, struct buffer *out) {
  struct sha256 sha;
  unsigned char digest[SHA256_BYTES];
  sha256_begin(&sha);
  sha256_add(&sha, text);
  sha256_end(&sha, digest);
  buffer_text(out, "sha256:");
  for (size_t i = 0; i < sizeof digest; i++) buffer_format(out, "%02x", digest[i]);
}

/* May an event have this id or key? The plugin's rule. */
static bool is_event_name(struct tidings_span name) {
  enum { LONGEST_NAME = 1024 };
  uint32_t character = 0;
  for (size_t at = 0, width = 0; at < name.len; at += width) {
    width = utf8_decode(name, at, &character);
    if (!width || utf8_is_control(character)) return false;
  }
  return name.len <= LONGEST_NAME;
}

/* Replaces an id or a key that the plugin refuses with its digest, whose text is in `room`. */
static void make_name(struct tidings_span *name, struct buffer *room) {
  if (is_event_name(*name)) return;
  recipes_write_digest(*name, room);
  *name = buffer_view(room);
}

/* If the event is over limits.event_bytes, its text is shortened. It is still longer than the
 * plugin's limits.message_bytes, so the plugin marks what it cuts. */
static int32_t push_shorter(struct hostkit *kit, bool withdraws, struct hostkit_notification *sent,
                            struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code;
  do {
    code = withdraws ? withdraw(kit, sent, ret_reply, error)
                     : hostkit_push(kit, sent, ret_reply, error);
    sent->text.len = utf8_prefix(sent->text, sent->text.len / 2);
  } while (code == TIDINGS_E_TOO_BIG && sent->text.len);
  return code;
}

int32_t recipes_push(const struct cli *cli, struct hostkit *kit, const struct recipe_push *push,
                     const struct hostkit_notification *notification,
                     enum recipes_outcome *ret_outcome, struct tidings_error *error) {
  struct hostkit_notification sent = *notification;
  struct buffer id = BUFFER_EMPTY, key = BUFFER_EMPTY;
  struct tidings_reply *reply = NULL;
  struct orders *orders = NULL;
  bool overtaken = false;
  int32_t code = TIDINGS_OK;
  make_name(&sent.event_id, &id);
  make_name(&sent.key, &key);
  if (id.failed || key.failed) code = kit_no_memory(error);
  if (!code && push->order.len)
    code = orders_enter(cli, &sent, push->order, &orders, &overtaken, error);
  if (!code && !overtaken) code = push_shorter(kit, push->withdraws, &sent, &reply, error);
  buffer_free(&id);
  buffer_free(&key);
  orders_leave(orders, code && code != TIDINGS_E_OUTCOME_UNKNOWN);
  if (!code)
    *ret_outcome = overtaken                                         ? RECIPES_OVERTAKEN
                   : reply && reply->flags & TIDINGS_REPLY_DUPLICATE ? RECIPES_KNOWN
                                                                     : RECIPES_STORED;
  hostkit_reply_free(reply);
  return code;
}

bool recipes_may_pass(int32_t code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_STORE || code == TIDINGS_E_FULL ||
         code == TIDINGS_E_OUTCOME_UNKNOWN || code == TIDINGS_E_NOMEM;
}

bool recipes_is_wrong(int32_t code) {
  return code == TIDINGS_E_INVAL || code == TIDINGS_E_SCHEMA || code == TIDINGS_E_TOO_BIG ||
         code == TIDINGS_E_UNSUPPORTED;
}

static void print_field(const char *name, struct tidings_span value) {
  if (!value.len) return;
  printf("  %s ", name);
  terminal_bytes(stdout, value.ptr, value.len);
}

void recipes_print(const struct recipe_push *push) {
  terminal_bytes(stdout, push->kind.ptr, push->kind.len);
  printf("  %.*s", SPAN_FORMAT(push->withdraws   ? span_text("withdraws")
                               : push->level.len ? push->level
                                                 : span_text("info")));
  print_field("key", push->key);
  print_field("order", push->order);
  print_field("id", push->id);
  print_field("to", push->to);
  fputs("\n    ", stdout);
  terminal_byte_lines(stdout, push->text.ptr, push->text.len, 4);
  putchar('\n');
}

int32_t recipes_remember_ids(struct hostkit *kit, struct tidings_error *error) {
  static const json_int_t wanted_ms = (json_int_t)RECIPES_REMEMBERED_DAYS * 86400000;
  json_t *answer = NULL, *changed = NULL;
  int32_t code = kit_query(kit, json_pack("{s:s}", "name", "configure"), &answer, error);
  json_t *config = json_object_get(answer, "config"), *limits = json_object_get(config, "limits");
  if (!code && json_integer_value(json_object_get(limits, "dedup_window_ms")) < wanted_ms) {
    json_object_set_new(limits, "dedup_window_ms", json_integer(wanted_ms));
    code = kit_query(kit, json_pack("{s:s, s:O}", "name", "configure", "config", config), &changed,
                     error);
  }
  json_decref(changed);
  json_decref(answer);
  return code;
}
