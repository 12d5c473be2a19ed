/* SPDX-License-Identifier: MIT
 *
 * push.c: sends a notification, or a wake event, from a struct. It writes the JSON, so that no
 * caller has to escape text.
 */
#include "push.h"

#include "common/json_write.h"
#include "common/utf8.h"
#include "errors.h"
#include "sized.h"
#include "text.h"

enum { MOST_BYTES = 16 << 20 }; /* of one text */

static const char *const levels[] = {"info", "warning", "error", "critical"};
static const char *const activations[] = {NULL, "passive", "idle", "interrupt"};

/* -- checks ------------------------------------------------------------------------------------ */

/* Checks a text before anything reads it: a length such as SIZE_MAX is a mistake, and no plugin
 * takes an event that large. */
static int32_t check_span(struct tidings_span span, const char *field,
                          struct tidings_error *error) {
  if (!hk_span_is_sound(&span))
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer with length %zu", field,
                    span.len);
  if (span.len > MOST_BYTES)
    return hk_error(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %d", field,
                    span.len, MOST_BYTES);
  return TIDINGS_OK;
}

/* Refuses an id or a name that would not reach the plugin unchanged. */
static int32_t check_name(struct tidings_span name, const char *field,
                          struct tidings_error *error) {
  int32_t code = check_span(name, field, error);
  if (!code && !utf8_valid(name)) code = hk_error(error, TIDINGS_E_INVAL, "%s is not UTF-8", field);
  return code;
}

static int32_t check_names(const struct hostkit_notification *note, struct tidings_error *error) {
  const struct {
    struct tidings_span span;
    const char *field;
  } names[] = {
      {note->session, "notification.session"},
      {note->kind_source, "notification.kind_source"},
      {note->kind_name, "notification.kind_name"},
      {note->key, "notification.key"},
      {note->tool, "notification.tool"},
      {note->handle, "notification.handle"},
      {note->caused_by, "notification.caused_by"},
      {note->event_source, "notification.event_source"},
      {note->event_id, "notification.event_id"},
  };
  int32_t code = TIDINGS_OK;
  for (size_t i = 0; !code && i < sizeof names / sizeof names[0]; i++)
    code = check_name(names[i].span, names[i].field, error);
  return code;
}

static int32_t check_numbers(const struct hostkit_notification *note, struct tidings_error *error) {
  if (note->flags)
    return hk_error(error, TIDINGS_E_INVAL, "notification.flags is %#x, expected 0",
                    (unsigned)note->flags);
  if (note->level > TIDINGS_LEVEL_CRITICAL)
    return hk_error(error, TIDINGS_E_INVAL,
                    "notification.level is %u, expected 0 (info) to 3 (critical)",
                    (unsigned)note->level);
  if (note->activation > HOSTKIT_ACTIVATION_INTERRUPT)
    return hk_error(error, TIDINGS_E_INVAL,
                    "notification.activation is %u, expected 0 (default) to 3 (interrupt)",
                    (unsigned)note->activation);
  if (note->ttl_ms > INT64_MAX)
    return hk_error(error, TIDINGS_E_INVAL, "notification.ttl_ms is over the limit of 2^63 - 1");
  return TIDINGS_OK;
}

/* -- events ------------------------------------------------------------------------------------ */

/* Writes no member for an empty span. */
static void put_name(struct json_writer *writer, const char *key, struct tidings_span text) {
  if (text.len) json_put_string(writer, key, text);
}

/* Writes the event's member `data`. Its own member `data` is JSON already, or empty. */
static void put_data(struct json_writer *writer, const struct hostkit_notification *note,
                     struct tidings_span kind, struct tidings_span data) {
  json_open(writer, "data", '{');
  if (kind.ptr) {
    json_put_string(writer, "kind", kind);
  } else {
    json_open(writer, "kind", '{');
    json_put_string(writer, "source", note->kind_source);
    json_put_string(writer, "name", note->kind_name);
    json_close(writer, '}');
  }
  json_put_text(writer, "level", levels[note->level]);
  json_put_string(writer, "message", note->text);
  if (note->activation) json_put_text(writer, "activation", activations[note->activation]);
  if (note->ttl_ms) json_put_u64(writer, "ttl_ms", note->ttl_ms);
  if (data.len) json_put_raw(writer, "data", data);
  put_name(writer, "key", note->key);
  put_name(writer, "tool", note->tool);
  put_name(writer, "handle", note->handle);
  put_name(writer, "caused_by", note->caused_by);
  json_close(writer, '}');
}

/* Sends and frees what was written. A caller without ret_reply does not want the reply. */
static int32_t send_event(struct hostkit *kit, struct buffer *out, struct tidings_reply **ret_reply,
                          struct tidings_error *error) {
  struct tidings_span event = buffer_view(out);
  struct tidings_reply *reply = NULL;
  int32_t code = out->failed
                     ? hk_error(error, TIDINGS_E_NOMEM, "out of memory while writing an event")
                     : hostkit_event(kit, &event, &reply, error);
  buffer_free(out);
  if (!code && ret_reply) *ret_reply = reply;
  else hostkit_reply_free(reply);
  return code;
}

/* Reads the notification's data as one value and writes it compactly, so that nothing in it can end
 * the event. */
static int32_t read_data(struct tidings_span text, struct arena *arena,
                         struct tidings_span *ret_data, struct tidings_error *error) {
  const struct json *value = NULL;
  if (!text.len) return TIDINGS_OK;
  int32_t code = json_read(text, "notification.data", arena, &value, error);
  if (code) return code;
  return json_compact(value, arena, ret_data)
             ? hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading notification.data")
             : TIDINGS_OK;
}

int32_t hk_push(struct hostkit *kit, const struct hostkit_notification *note,
                struct tidings_span kind, struct tidings_reply **ret_reply,
                struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct tidings_span data = {NULL, 0};
  int32_t code = check_numbers(note, error);
  if (!code) code = check_span(note->text, "notification.text", error);
  if (!code) code = check_span(note->data, "notification.data", error);
  if (!code) code = check_names(note, error);
  if (!code) code = check_name(kind, "kind", error);
  if (!code) code = read_data(note->data, &arena, &data, error);
  if (code) goto out;
  struct buffer event = BUFFER_EMPTY;
  struct json_writer writer = {.out = &event};
  json_open(&writer, NULL, '{');
  json_put_text(&writer, "type", "notification");
  json_put_string(&writer, "session", note->session);
  put_name(&writer, "source", note->event_source);
  put_name(&writer, "id", note->event_id);
  put_data(&writer, note, kind, data);
  json_close(&writer, '}');
  code = send_event(kit, &event, ret_reply, error);
out:
  arena_free(&arena);
  return code;
}

int32_t hostkit_push(struct hostkit *kit, const struct hostkit_notification *notification,
                     struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct hostkit_notification ours;
  int32_t code =
      HK_COPY_IN(&ours, notification, HOSTKIT_NOTIFICATION_SIZE_1_0, "notification", error);
  return code ? code : hk_push(kit, &ours, (struct tidings_span){0}, ret_reply, error);
}

int32_t hostkit_wake(struct hostkit *kit, const struct tidings_span *session,
                     struct tidings_reply **ret_reply, struct tidings_error *error) {
  if (!session || !ret_reply)
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer",
                    session ? "ret_reply" : "session");
  int32_t code = check_name(*session, "session", error);
  if (code) return code;
  struct buffer event = BUFFER_EMPTY;
  struct json_writer writer = {.out = &event};
  json_open(&writer, NULL, '{');
  json_put_text(&writer, "type", "wake");
  json_put_string(&writer, "session", *session);
  json_close(&writer, '}');
  return send_event(kit, &event, ret_reply, error);
}
