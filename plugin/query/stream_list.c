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

static int read_kind(const struct path *path, const struct json *kind, struct notification *note,
                     struct tidings_error *error) {
  enum { KIND_SOURCE, KIND_NAME, COUNT };
  static const char *const names[COUNT] = {"source", "name"};
  static const struct member_names known = {names, COUNT, "field"};
  const struct json *parts[COUNT] = {NULL};
  struct path source_path = path_member(path, "source"), name_path = path_member(path, "name");
  if (!kind) return field_missing(path, "an object with source and name", error);
  int code = field_object(path, kind, error);
  if (!code) code = field_members(path, kind, &known, parts, error);
  if (code) return code;
  if (!parts[KIND_SOURCE]) return field_missing(&source_path, "a string such as \"tool\"", error);
  code = field_clean_string(&source_path, parts[KIND_SOURCE], false, &note->source, error);
  if (!code && parts[KIND_NAME])
    code = field_clean_string(&name_path, parts[KIND_NAME], true, &note->name, error);
  return code;
}

static int read_note(const struct path *path, const struct json *object, struct notification *note,
                     struct tidings_error *error) {
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  const struct json *members[MEMBER_COUNT] = {NULL};
  struct path kind_path = path_member(path, "kind"), level_path = path_member(path, "level"),
              message_path = path_member(path, "message");
  int code = field_object(path, object, error);
  if (!code) code = field_members(path, object, &known_members, members, error);
  if (!code) code = read_kind(&kind_path, members[KIND], note, error);
  if (!code && members[LEVEL])
    code = field_choice(&level_path, members[LEVEL], levels, LEVEL_COUNT, &note->level, error);
  if (code) return code;
  if (!members[MESSAGE]) return field_missing(&message_path, "a string", error);
  code = field_string(&message_path, members[MESSAGE], SIZE_MAX, &note->message, error);
  if (!code && !note->message.len)
    code =
        fail(error, TIDINGS_E_SCHEMA, "%s: must not be empty", field_path_text(&message_path).text);
  return code;
}

static int read_notes(const struct path *path, const struct json *list, struct arena *arena,
                      struct streamed *carrier, struct tidings_error *error) {
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(path, list, "an array of notifications", error);
  carrier->notes = arena_zalloc(arena, list->count, sizeof *carrier->notes);
  if (!carrier->notes) return fail(error, TIDINGS_E_NOMEM, "query: no memory to keep it");
  for (const struct json *one = list->members; one; one = one->next) {
    int code = read_note(path, one, &carrier->notes[carrier->note_count++], error);
    if (code) return code;
  }
  return 0;
}

/* Events of queueing are only checked. */
static int read_entry(const struct path *path, const struct json *entry, struct arena *arena,
                      struct streamed *carrier, struct tidings_error *error) {
  static const char *const sources[] = {"user", "system"};
  const struct json *members[MEMBER_COUNT] = {NULL};
  struct path type_path = path_member(path, "type"), source_path = path_member(path, "source"),
              id_path = path_member(path, "id");
  struct path notes_path = path_member(path, "notifications");
  uint8_t type = QUEUED;
  int code = field_object(path, entry, error);
  if (!code) code = field_members(path, entry, &known_members, members, error);
  if (code) return code;
  if (!members[TYPE]) return field_missing(&type_path, "the type of an event of the stream", error);
  code = field_choice(&type_path, members[TYPE], type_names, TYPE_COUNT, &type, error);
  if (code) return code;
  if (type == QUEUED) {
    struct notification ignored = {.level = 0};
    return read_note(path, entry, &ignored, error);
  }
  carrier->chat_request = type == CHAT_REQUEST;
  if (carrier->chat_request && members[SOURCE])
    code = field_choice(&source_path, members[SOURCE], sources, 2, &carrier->source, error);
  if (!carrier->chat_request && members[ID])
    code = field_string(&id_path, members[ID], SIZE_MAX, &carrier->id, error);
  if (!code && members[NOTIFICATIONS])
    code = read_notes(&notes_path, members[NOTIFICATIONS], arena, carrier, error);
  return code;
}

int stream_list_read(const struct path *path, const struct json *list, struct arena *arena,
                     struct request *request, struct tidings_error *error) {
  if (!list) return field_missing(path, "a list as the query stream answers it", error);
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(path, list, "a list as the query stream answers it", error);
  struct streamed *carriers = arena_zalloc(arena, list->count, sizeof *carriers);
  size_t count = 0;
  if (!carriers) return fail(error, TIDINGS_E_NOMEM, "query: no memory to keep it");
  for (const struct json *one = list->members; one; one = one->next) {
    struct streamed carrier = {.chat_request = false};
    int code = read_entry(path, one, arena, &carrier, error);
    if (code) return code;
    if (carrier.note_count) carriers[count++] = carrier;
  }
  request->carriers = carriers;
  request->carrier_count = count;
  return 0;
}
