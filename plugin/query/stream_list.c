/* SPDX-License-Identifier: MIT
 */
#include "query/stream_list.h"

#include "common/error.h"
#include "event/event_data.h"

enum type { QUEUED, CHAT_REQUEST, TOOL_CALL_RESPONSE, TYPE_COUNT };
static const char *const type_names[TYPE_COUNT] = {"system_notification_queued", "chat_request",
                                                   "tool_call_response"};

enum member {
  TIMESTAMP,
  TYPE,
  KIND,
  LEVEL,
  MESSAGE,
  OCCURRED_AT,
  DATA,
  SOURCE,
  ID,
  NOTIFICATIONS,
  MEMBER_COUNT
};
static const char *const member_names[MEMBER_COUNT] = {
    "timestamp",   "type", "kind",   "level", "message",
    "occurred_at", "data", "source", "id",    "notifications"};
static const struct member_names known_members = {member_names, MEMBER_COUNT, "field"};

static int read_kind(const struct path *parent, const struct json *kind, struct notification *note,
                     struct tidings_error *error) {
  enum { KIND_SOURCE, KIND_NAME, COUNT };
  static const char *const names[COUNT] = {"source", "name"};
  static const struct member_names known = {names, COUNT, "field"};
  const struct json *parts[COUNT] = {NULL};
  if (!kind) return field_missing(parent, "kind", "an object with source and name", error);
  struct path path = field_place(parent, kind);
  int code = field_object(parent, kind, error);
  if (!code) code = field_members(&path, kind, &known, parts, error);
  if (code) return code;
  if (!parts[KIND_SOURCE])
    return field_missing(&path, "source", "a string such as \"tool\"", error);
  code = field_clean_string(&path, parts[KIND_SOURCE], false, &note->source, error);
  if (!code && parts[KIND_NAME])
    code = field_clean_string(&path, parts[KIND_NAME], true, &note->name, error);
  return code;
}

static int read_note(const struct path *path, const struct json *object, struct notification *note,
                     struct tidings_error *error) {
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  const struct json *members[MEMBER_COUNT] = {NULL};
  int code = field_object(path, object, error);
  if (!code) code = field_members(path, object, &known_members, members, error);
  if (!code) code = read_kind(path, members[KIND], note, error);
  if (!code && members[LEVEL])
    code = field_choice(path, members[LEVEL], levels, LEVEL_COUNT, &note->level, error);
  if (code) return code;
  if (!members[MESSAGE]) return field_missing(path, "message", "a string", error);
  code = field_string(path, members[MESSAGE], SIZE_MAX, &note->message, error);
  if (!code && !note->message.len)
    code =
        fail(error, TIDINGS_E_SCHEMA, "%s.message: must not be empty", field_path_text(path).text);
  return code;
}

static int read_notes(const struct path *parent, const struct json *list, struct arena *arena,
                      struct streamed *carrier, struct tidings_error *error) {
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(parent, list, "an array of notifications", error);
  struct path path = field_place(parent, list);
  carrier->notes = arena_zalloc(arena, list->count, sizeof *carrier->notes);
  if (!carrier->notes) return fail(error, TIDINGS_E_NOMEM, "query: no memory to keep it");
  for (const struct json *one = list->members; one; one = one->next) {
    int code = read_note(&path, one, &carrier->notes[carrier->note_count++], error);
    if (code) return code;
  }
  return 0;
}

/* Events of queueing are only checked. */
static int read_entry(const struct path *path, const struct json *entry, struct arena *arena,
                      struct streamed *carrier, struct tidings_error *error) {
  static const char *const sources[] = {"user", "system"};
  const struct json *members[MEMBER_COUNT] = {NULL};
  uint8_t type = QUEUED;
  int code = field_object(path, entry, error);
  if (!code) code = field_members(path, entry, &known_members, members, error);
  if (code) return code;
  if (!members[TYPE])
    return field_missing(path, "type", "the type of an event of the stream", error);
  code = field_choice(path, members[TYPE], type_names, TYPE_COUNT, &type, error);
  if (code) return code;
  if (type == QUEUED) {
    struct notification ignored = {.level = 0};
    return read_note(path, entry, &ignored, error);
  }
  carrier->chat_request = type == CHAT_REQUEST;
  if (carrier->chat_request && members[SOURCE])
    code = field_choice(path, members[SOURCE], sources, 2, &carrier->source, error);
  if (!carrier->chat_request && members[ID])
    code = field_string(path, members[ID], SIZE_MAX, &carrier->id, error);
  if (!code && members[NOTIFICATIONS])
    code = read_notes(path, members[NOTIFICATIONS], arena, carrier, error);
  return code;
}

int stream_list_read(const struct json *list, struct arena *arena, struct request *request,
                     struct tidings_error *error) {
  static const char expected[] = "a list as the query stream answers it";
  if (!list) return field_missing(NULL, "events", expected, error);
  if (list->kind != JSON_IS_ARRAY) return field_refuse(NULL, list, expected, error);
  struct path path = field_place(NULL, list);
  struct streamed *carriers = arena_zalloc(arena, list->count, sizeof *carriers);
  size_t count = 0;
  if (!carriers) return fail(error, TIDINGS_E_NOMEM, "query: no memory to keep it");
  for (const struct json *one = list->members; one; one = one->next) {
    struct streamed carrier = {.chat_request = false};
    int code = read_entry(&path, one, arena, &carrier, error);
    if (code) return code;
    if (carrier.note_count) carriers[count++] = carrier;
  }
  request->carriers = carriers;
  request->carrier_count = count;
  return 0;
}
