/* SPDX-License-Identifier: MIT
 */
#include "query/request.h"

#include "common/error.h"
#include "event/event.h"
#include "event/field.h"
#include "query/stream_list.h"

enum member {
  NAME,
  SESSION,
  ID,
  MESSAGE,
  LIMIT,
  CONFIG,
  CARRIER,
  EVENTS,
  TEXT,
  AFTER,
  DETAILS,
  MAILBOXES,
  SUBAGENTS,
  MEMBER_COUNT
};
static const char *const member_names[MEMBER_COUNT] = {
    "name",   "session", "id",    "message", "limit",     "config",   "carrier",
    "events", "text",    "after", "details", "mailboxes", "subagents"};

static const char *const names[QUERY_COUNT] = {
    [QUERY_PENDING] = "pending",
    [QUERY_STATUS] = "status",
    [QUERY_HISTORY] = "history",
    [QUERY_EXPLAIN] = "explain",
    [QUERY_STATS] = "stats",
    [QUERY_STREAM] = "stream",
    [QUERY_CONFIGURE] = "configure",
    [QUERY_PREVIEW] = "preview",
    [QUERY_INSTRUCTIONS] = "instructions",
    [QUERY_RENDER] = "render",
    [QUERY_NEUTRALIZE] = "neutralize",
    [QUERY_SESSIONS] = "sessions",
    [QUERY_TOTALS] = "totals",
    [QUERY_QUEUE] = "queue",
    [QUERY_TOOLS] = "tools",
    [QUERY_TIMELINE] = "timeline",
    [QUERY_MARKER] = "marker",
};

static int read_name(const struct json *value, enum query_name *ret_name,
                     struct tidings_error *error) {
  if (!value) return field_missing(NULL, "name", "the name of a query", error);
  if (value->kind != JSON_IS_STRING) return field_refuse(NULL, value, "the name of a query", error);
  for (size_t i = 0; i < QUERY_COUNT; i++) {
    if (!span_is(value->text, names[i])) continue;
    *ret_name = (enum query_name)i;
    return 0;
  }
  return fail(error, TIDINGS_E_UNSUPPORTED, "query %s is unknown; expected one of %s",
              quote(value->text).text, field_name_list(names, QUERY_COUNT).text);
}

static bool takes(enum query_name name, enum member member) {
  static const uint16_t taken[QUERY_COUNT] = {
      [QUERY_PENDING] = 1 << SESSION | 1 << LIMIT,
      [QUERY_STATUS] = 1 << SESSION,
      [QUERY_HISTORY] = 1 << SESSION | 1 << LIMIT,
      [QUERY_EXPLAIN] = 1 << SESSION | 1 << ID | 1 << MESSAGE,
      [QUERY_STATS] = 1 << SESSION,
      [QUERY_STREAM] = 1 << SESSION,
      [QUERY_CONFIGURE] = 1 << CONFIG,
      [QUERY_INSTRUCTIONS] = 1 << SESSION | 1 << SUBAGENTS,
      [QUERY_PREVIEW] = 1 << SESSION | 1 << CARRIER,
      [QUERY_RENDER] = 1 << SESSION | 1 << EVENTS,
      [QUERY_SESSIONS] = 1 << LIMIT | 1 << DETAILS | 1 << MAILBOXES | 1 << AFTER,
      [QUERY_NEUTRALIZE] = 1 << SESSION | 1 << TEXT,
      [QUERY_QUEUE] = 1 << SESSION | 1 << LIMIT,
      [QUERY_TOOLS] = 1 << SESSION,
      [QUERY_TIMELINE] = 1 << SESSION | 1 << AFTER,
      [QUERY_TOTALS] = 1 << SESSION,
  };
  return taken[name] & 1 << member;
}

/* A member that a query does not take is refused, not ignored. */
static int check_members(enum query_name name, const struct json *const *members,
                         struct tidings_error *error) {
  for (int i = SESSION; i < MEMBER_COUNT; i++) {
    if (members[i] && !takes(name, (enum member)i))
      return fail(error, TIDINGS_E_SCHEMA, "%s: query \"%s\" does not take it", member_names[i],
                  names[name]);
  }
  return 0;
}

static int read_id(const struct json *value, uint64_t *ret_id, struct tidings_error *error) {
  static const char expected[] = "an item's id: a string of decimal digits";
  if (!value) return field_missing(NULL, "id", expected, error);
  if ((value->kind != JSON_IS_STRING && value->kind != JSON_IS_NUMBER) || value->text.len > 20 ||
      !field_decimal(value->text, ret_id))
    return field_refuse(NULL, value, expected, error);
  return 0;
}

/* "1234": a place in the list of sessions; "": before the first one. */
static int read_place(const struct json *value, struct request *request,
                      struct tidings_error *error) {
  if (value->kind != JSON_IS_STRING ||
      (value->text.len && !field_decimal(value->text, &request->place)))
    return field_refuse(NULL, value, "the member next of an earlier answer, or an empty string",
                        error);
  request->in_pages = true;
  return 0;
}

/* "12.3.40.1700000000000.7": the numbers of an item, a delivery and a transition, a time, and the
 * session's number. The last two may be left out, and then are 0. */
static int read_after(const struct json *value, struct query_place *ret_after,
                      struct tidings_error *error) {
  static const char expected[] = "the member end of an earlier answer";
  uint64_t numbers[5] = {0};
  size_t at = 0, digits = 0;
  if (value->kind != JSON_IS_STRING) return field_refuse(NULL, value, expected, error);
  for (size_t i = 0; i < value->text.len; i++) {
    char c = value->text.ptr[i];
    bool dot = c == '.' && digits && at < 4;
    bool digit = c >= '0' && c <= '9' && digits < 19;
    if (!dot && !digit) return field_refuse(NULL, value, expected, error);
    if (digit) numbers[at] = numbers[at] * 10 + (uint64_t)(c - '0');
    digits = dot ? 0 : digits + 1;
    at += dot;
  }
  if (at < 2 || !digits) return field_refuse(NULL, value, expected, error);
  *ret_after = (struct query_place){.item = numbers[0],
                                    .delivery = numbers[1],
                                    .transition = numbers[2],
                                    .queried_ms = numbers[3],
                                    .session = numbers[4]};
  return 0;
}

static int read_message_id(const struct json *value, struct tidings_span *ret_id,
                           struct tidings_error *error) {
  if (value->kind != JSON_IS_STRING) return field_refuse(NULL, value, "a message's id", error);
  int code = message_id_check(value->text, "message", TIDINGS_E_SCHEMA, error);
  if (!code) *ret_id = value->text;
  return code;
}

/* Reads the id of an item or of a message. */
static int read_subject(const struct json *item, const struct json *message,
                        struct request *request, struct tidings_error *error) {
  if (!message) return read_id(item, &request->id, error);
  if (item)
    return fail(error, TIDINGS_E_SCHEMA, "message: stands beside id; expected one of the two");
  return read_message_id(message, &request->message, error);
}

static int read_session(const struct json *value, struct request *request,
                        struct tidings_error *error) {
  if (!value) return field_missing(NULL, "session", "a session's id", error);
  if (value->kind != JSON_IS_STRING) return field_refuse(NULL, value, "a session's id", error);
  request->session = value->text;
  return session_id_check(request->session, "session", TIDINGS_E_SCHEMA, error);
}

static int read_text(const struct json *value, struct request *request,
                     struct tidings_error *error) {
  if (!value) return field_missing(NULL, "text", "a string", error);
  if (value->kind != JSON_IS_STRING) return field_refuse(NULL, value, "a string", error);
  request->text = value->text;
  return 0;
}

static int read_carrier(const struct json *value, struct request *request,
                        struct tidings_error *error) {
  static const char *const carriers[] = {"tool_result", "chat_request"};
  uint8_t carrier = 0;
  int code = field_choice(NULL, value, carriers, 2, &carrier, error);
  if (!code) request->chat_request = carrier == 1;
  return code;
}

static int read_mailboxes(const struct json *value, struct request *request,
                          struct tidings_error *error) {
  request->chooses_mailboxes = true;
  return field_bool(NULL, value, &request->mailboxes, error);
}

int request_parse(struct tidings_span bytes, struct arena *arena, struct request *ret_request,
                  struct tidings_error *error) {
  static const struct member_names known = {member_names, MEMBER_COUNT, "field"};
  const struct json *members[MEMBER_COUNT], *json;
  struct request request = {.limit = QUERY_DEFAULT_LIMIT};
  int64_t limit = QUERY_DEFAULT_LIMIT;
  enum { LARGEST_QUERY = 1 << 20 };
  if (bytes.len > LARGEST_QUERY)
    return fail(error, TIDINGS_E_TOO_BIG, "query: %zu bytes; the limit is %d", bytes.len,
                LARGEST_QUERY);
  int code = json_read(bytes, "query", arena, &json, error);
  if (code) return code;
  if (json->kind != JSON_IS_OBJECT)
    return fail(error, TIDINGS_E_SCHEMA, "query: expected an object");
  code = field_members(NULL, json, &known, members, error);
  if (!code) code = read_name(members[NAME], &request.name, error);
  if (!code) code = check_members(request.name, members, error);
  bool of_session =
      takes(request.name, SESSION) && (members[SESSION] || request.name != QUERY_TOTALS);
  if (!code && of_session) code = read_session(members[SESSION], &request, error);
  if (!code && request.name == QUERY_EXPLAIN)
    code = read_subject(members[ID], members[MESSAGE], &request, error);
  if (!code && members[LIMIT])
    code = field_integer(NULL, members[LIMIT], 1, QUERY_LARGEST_LIMIT, &limit, error);
  if (!code && members[AFTER])
    code = request.name == QUERY_SESSIONS ? read_place(members[AFTER], &request, error)
                                          : read_after(members[AFTER], &request.after, error);
  if (!code && members[DETAILS]) code = field_bool(NULL, members[DETAILS], &request.details, error);
  if (!code && members[MAILBOXES]) code = read_mailboxes(members[MAILBOXES], &request, error);
  if (!code && members[SUBAGENTS])
    code = field_bool(NULL, members[SUBAGENTS], &request.subagents, error);
  if (!code && members[CARRIER]) code = read_carrier(members[CARRIER], &request, error);
  if (!code && request.name == QUERY_RENDER)
    code = stream_list_read(members[EVENTS], arena, &request, error);
  if (!code && request.name == QUERY_NEUTRALIZE) code = read_text(members[TEXT], &request, error);
  request.limit = (uint32_t)limit;
  request.has_config = !code && members[CONFIG];
  if (request.has_config && json_compact(members[CONFIG], arena, &request.config))
    code = fail(error, TIDINGS_E_NOMEM, "query: no memory to keep it");
  if (!code) *ret_request = request;
  return code;
}
