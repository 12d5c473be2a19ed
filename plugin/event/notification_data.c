/* SPDX-License-Identifier: MIT
 *
 * event/notification_data.c: the data of a `notification` event.
 */
#include "common/error.h"
#include "common/utf8.h"
#include "event/event_data.h"
#include "render/missing.h"

enum field {
  KIND,
  MESSAGE,
  LEVEL,
  DATA,
  KEY,
  TOOL,
  HANDLE,
  TTL_MS,
  ACTIVATION,
  CAUSED_BY,
  DUE_AT,
  FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = {"kind",       "message",   "level",  "data",
                                                     "key",        "tool",      "handle", "ttl_ms",
                                                     "activation", "caused_by", "due_at"};
static const struct member_names known_fields = {field_names, FIELD_COUNT, "field"};

/* "tool.stopped": the source goes to the first dot. */
static int read_kind_text(const struct json *kind, struct notification *note,
                          struct tidings_error *error) {
  struct tidings_span text = {NULL, 0};
  int code = field_clean_string(&event_data, kind, false, &text, error);
  if (code) return code;
  const char *dot = memchr(text.ptr, '.', text.len);
  size_t source_len = dot ? (size_t)(dot - text.ptr) : text.len;
  if (!source_len)
    return field_refuse(&event_data, kind, "a source, a dot and a name: the source is empty",
                        error);
  if (dot && source_len + 1 == text.len)
    return field_refuse(&event_data, kind, "a source, a dot and a name: the name is empty", error);
  note->source = span_of(text.ptr, source_len);
  note->name = dot ? span_of(dot + 1, text.len - source_len - 1) : span_of(NULL, 0);
  return 0;
}

static int read_kind_parts(const struct json *kind, struct notification *note,
                           struct tidings_error *error) {
  enum { SOURCE, NAME, COUNT };
  static const char *const names[COUNT] = {"source", "name"};
  static const struct member_names known = {names, COUNT, "field"};
  const struct json *parts[COUNT];
  struct path path = field_place(&event_data, kind);
  int code = field_members(&path, kind, &known, parts, error);
  if (code) return code;
  if (!parts[SOURCE]) return field_missing(&path, "source", "a string such as \"tool\"", error);
  if (!parts[NAME]) return field_missing(&path, "name", "a string such as \"stopped\"", error);
  code = field_clean_string(&path, parts[SOURCE], false, &note->source, error);
  if (!code) code = field_clean_string(&path, parts[NAME], true, &note->name, error);
  if (code) return code;
  /* A dot is refused, so that the dotted form of every kind reads back as the same kind. */
  if (memchr(note->source.ptr, '.', note->source.len))
    return field_refuse(&path, parts[SOURCE], "a source: it has a dot", error);
  return 0;
}

static int read_notification_kind(const struct json *kind, struct notification *note,
                                  struct tidings_error *error) {
  static const char expected[] = "\"source.name\" or an object with source and name";
  if (!kind) return field_missing(&event_data, "kind", expected, error);
  if (kind->kind == JSON_IS_STRING) return read_kind_text(kind, note, error);
  if (kind->kind == JSON_IS_OBJECT) return read_kind_parts(kind, note, error);
  return field_refuse(&event_data, kind, expected, error);
}

static int read_message(const struct data_input *input, const struct json *value,
                        struct notification *note) {
  struct tidings_span text;
  if (!value) return field_missing(&event_data, "message", "a string", input->error);
  int code = field_string(&event_data, value, SIZE_MAX, &text, input->error);
  if (code) return code;
  if (event_is_blank(text))
    return fail(input->error, TIDINGS_E_SCHEMA, "data.message: must not be empty or blank");
  if (text.len > input->settings->message_bytes) {
    int failed = render_cut(input->arena, text, input->settings->message_bytes, &note->message);
    return failed ? fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it") : 0;
  }
  note->message = text;
  return 0;
}

/* key, tool, handle, caused_by: any text; empty means none. */
static int read_labels(const struct json *const *fields, struct notification *note,
                       struct tidings_error *error) {
  const struct {
    enum field field;
    struct tidings_span *to;
  } labels[] = {{KEY, &note->key},
                {TOOL, &note->tool},
                {HANDLE, &note->handle},
                {CAUSED_BY, &note->caused_by}};
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    const struct json *value = fields[labels[i].field];
    int code =
        value ? field_string(&event_data, value, SMALL_STRING_BYTES, labels[i].to, error) : 0;
    if (code) return code;
  }
  return 0;
}

static int read_urgency(const struct json *const *fields, struct notification *note,
                        struct tidings_error *error) {
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  static const char *const activations[ACTIVATION_COUNT] = {"passive", "idle", "interrupt",
                                                            "silent"};
  int code = 0;
  if (fields[LEVEL])
    code = field_choice(&event_data, fields[LEVEL], levels, LEVEL_COUNT, &note->level, error);
  if (!code && fields[TTL_MS])
    code = field_integer(&event_data, fields[TTL_MS], 1, INT64_MAX, &note->ttl_ms, error);
  if (!code && fields[ACTIVATION])
    code = field_choice(&event_data, fields[ACTIVATION], activations, ACTIVATION_COUNT,
                        &note->activation, error);
  if (!code && note->activation == ACTIVATION_SILENT && !fields[KEY])
    code = field_missing(&event_data, "key", "the key of what a silent notification takes back",
                         error);
  return code;
}

int event_read_notification(const struct data_input *input, struct event *event) {
  struct notification *note = &event->notification;
  const struct json *fields[FIELD_COUNT];
  if (!input->data)
    return field_missing(NULL, "data", "an object with kind and message", input->error);
  int code = field_object(NULL, input->data, input->error);
  if (!code) code = field_members(&event_data, input->data, &known_fields, fields, input->error);
  if (!code) code = read_notification_kind(fields[KIND], note, input->error);
  if (!code) code = read_message(input, fields[MESSAGE], note);
  if (!code && fields[MESSAGE]->text.len > input->settings->message_bytes)
    event->uncut_bytes = fields[MESSAGE]->text.len;
  if (!code) code = read_urgency(fields, note, input->error);
  if (!code) code = read_labels(fields, note, input->error);
  if (!code) code = event_read_due(fields[DUE_AT], &note->due_ms, input->error);
  if (!code && fields[DATA] && json_compact(fields[DATA], input->arena, &note->data))
    code = fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  return code;
}
