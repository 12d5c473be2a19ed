/* SPDX-License-Identifier: MIT
 *
 * push.c: a notification, and a wake event, from a struct: the JSON is written here, so that no
 * caller escapes text by hand.
 */
#include "push.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "json_read.h"
#include "sized.h"
#include "text.h"

static const char *const levels[] = {"info", "warning", "error", "critical"};
static const char *const activations[] = {NULL, "passive", "idle", "interrupt"};

static int32_t no_memory(struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_NOMEM, "out of memory while writing an event");
}

/* -- checks ------------------------------------------------------------------------------------ */

/* An id or a name must reach the plugin as it is, or not at all. */
static int32_t check_name(struct tidings_span name, const char *field,
                          struct tidings_error *error) {
  if (!hk_span_is_sound(&name))
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer with length %zu", field,
                    name.len);
  if (!hk_is_utf8(name)) return hk_error(error, TIDINGS_E_INVAL, "%s is not UTF-8", field);
  return TIDINGS_OK;
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
  if (!hk_span_is_sound(&note->text) || !hk_span_is_sound(&note->data))
    return hk_error(error, TIDINGS_E_INVAL, "notification.%s is a null pointer",
                    hk_span_is_sound(&note->text) ? "data" : "text");
  return TIDINGS_OK;
}

/* -- events ------------------------------------------------------------------------------------ */

/* Collects |= 1 if memory ran out; an empty span is no member. */
static int put_name(json_t *object, const char *key, struct tidings_span text) {
  return text.len ? hk_json_put(object, key, hk_json_text(text)) : 0;
}

/* {"source", "name"}; or, with `kind`, that text. */
static json_t *kind_value(const struct hostkit_notification *note, struct tidings_span kind) {
  if (kind.ptr) return hk_json_text(kind);
  json_t *value = json_object();
  int failed = hk_json_put(value, "source", hk_json_text(note->kind_source));
  failed |= hk_json_put(value, "name", hk_json_text(note->kind_name));
  if (!failed) return value;
  json_decref(value);
  return NULL;
}

/* The event's member `data`; takes over `extra`, the value of its own member `data`, or NULL. */
static json_t *data_value(const struct hostkit_notification *note, struct tidings_span kind,
                          json_t *extra) {
  json_t *data = json_object();
  int failed = hk_json_put(data, "kind", kind_value(note, kind));
  failed |= hk_json_put(data, "level", json_string(levels[note->level]));
  failed |= hk_json_put(data, "message", hk_json_text(note->text));
  if (note->activation)
    failed |= hk_json_put(data, "activation", json_string(activations[note->activation]));
  if (note->ttl_ms) failed |= hk_json_put(data, "ttl_ms", json_integer((json_int_t)note->ttl_ms));
  if (extra) failed |= hk_json_put(data, "data", extra);
  failed |= put_name(data, "key", note->key);
  failed |= put_name(data, "tool", note->tool);
  failed |= put_name(data, "handle", note->handle);
  failed |= put_name(data, "caused_by", note->caused_by);
  if (!failed) return data;
  json_decref(data);
  return NULL;
}

/* One event as text, freed with free; takes over `data`. Empty spans are no members. */
static char *event_text(const char *type, struct tidings_span session, struct tidings_span source,
                        struct tidings_span id, json_t *data) {
  json_t *event = json_object();
  int failed = hk_json_put(event, "type", json_string(type));
  failed |= hk_json_put(event, "session", hk_json_text(session));
  failed |= put_name(event, "source", source);
  failed |= put_name(event, "id", id);
  if (data) failed |= hk_json_put(event, "data", data);
  char *text = failed ? NULL : hk_json_dump(event);
  json_decref(event);
  return text;
}

/* Sends and frees the text. A caller without ret_reply does not want the reply. */
static int32_t send_event(struct hostkit *kit, char *text, struct tidings_reply **ret_reply,
                          struct tidings_error *error) {
  if (!text) return no_memory(error);
  struct tidings_span event = hk_span(text);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(kit, &event, &reply, error);
  free(text);
  if (!code && ret_reply) *ret_reply = reply;
  else hostkit_reply_free(reply);
  return code;
}

int32_t hk_push(struct hostkit *kit, const struct hostkit_notification *note,
                struct tidings_span kind, struct tidings_reply **ret_reply,
                struct tidings_error *error) {
  json_t *extra = NULL;
  int32_t code = check_numbers(note, error);
  if (!code) code = check_names(note, error);
  if (!code) code = check_name(kind, "kind", error);
  if (!code && note->data.len) code = hk_json_read(note->data, "notification.data", &extra, error);
  if (code) return code;
  json_t *data = data_value(note, kind, extra);
  if (!data) return no_memory(error);
  return send_event(
      kit, event_text("notification", note->session, note->event_source, note->event_id, data),
      ret_reply, error);
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
  struct tidings_span none = {0};
  if (!session || !ret_reply)
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer",
                    session ? "ret_reply" : "session");
  int32_t code = check_name(*session, "session", error);
  if (code) return code;
  return send_event(kit, event_text("wake", *session, none, none, NULL), ret_reply, error);
}
