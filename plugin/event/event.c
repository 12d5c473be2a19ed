/* SPDX-License-Identifier: MIT
 *
 * event/event.c: the CloudEvents envelope, and which type reads which data.
 */
#include "event/event.h"

#include "common/error.h"
#include "common/span.h"
#include "common/utf8.h"
#include "event/event_data.h"

/* -- RFC 3339 ---------------------------------------------------------------------------------- */

/* Are the two characters at `at` digits of a number in low..high? */
static bool two_digits(const char *at, int low, int high, int *ret) {
  if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9') return false;
  *ret = (at[0] - '0') * 10 + (at[1] - '0');
  return *ret >= low && *ret <= high;
}

/* Counts days of the proleptic Gregorian calendar; a day that the month does not have is a day of
 * the next month. */
static int64_t days_since_1970(int year, int month, int day) {
  int64_t y = month > 2 ? year : year - 1;
  int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Reads "Z" or an offset like "+01:00", with nothing after it, as the minutes ahead of UTC. */
static bool read_zone(const char *at, const char *end, int64_t *ret_minutes) {
  int hours, minutes;
  *ret_minutes = 0;
  if (at < end && (*at == 'Z' || *at == 'z')) return at + 1 == end;
  if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':') return false;
  if (!two_digits(at + 1, 0, 23, &hours) || !two_digits(at + 4, 0, 59, &minutes)) return false;
  *ret_minutes = (*at == '-' ? -1 : 1) * ((int64_t)hours * 60 + minutes);
  return true;
}

/* Digits after the millisecond are left out. */
static bool read_fraction(const char **at, const char *end, int64_t *ret_ms) {
  int64_t unit = 100;
  *ret_ms = 0;
  if (*at == end || **at != '.') return true;
  const char *first = ++*at;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at, unit /= 10) *ret_ms += (**at - '0') * unit;
  return *at > first;
}

/* Gives the milliseconds since 1970 in UTC. False: the text is no time. */
static bool event_time_read(struct tidings_span text, int64_t *ret_ms) {
  int century, year, month, day, hour, minute, second;
  int64_t fraction, zone;
  if (text.len < 20 || text.len > 64) return false;
  const char *at = text.ptr, *end = text.ptr + text.len;
  bool shape =
      two_digits(at, 0, 99, &century) && two_digits(at + 2, 0, 99, &year) && at[4] == '-' &&
      two_digits(at + 5, 1, 12, &month) && at[7] == '-' && two_digits(at + 8, 1, 31, &day) &&
      (at[10] == 'T' || at[10] == 't') && two_digits(at + 11, 0, 23, &hour) && at[13] == ':' &&
      two_digits(at + 14, 0, 59, &minute) && at[16] == ':' && two_digits(at + 17, 0, 60, &second);
  if (!shape) return false;
  at += 19;
  if (!read_fraction(&at, end, &fraction) || !read_zone(at, end, &zone)) return false;
  int64_t minutes = (days_since_1970(century * 100 + year, month, day) * 24 + hour) * 60 + minute;
  *ret_ms = ((minutes - zone) * 60 + second) * 1000 + fraction;
  return true;
}

enum attribute {
  SPECVERSION,
  TYPE,
  SOURCE,
  ID,
  TIME,
  SESSION,
  DATA,
  DATACONTENTTYPE,
  SUBJECT,
  DATASCHEMA,
  ATTRIBUTE_COUNT
};

static const char *const attribute_names[ATTRIBUTE_COUNT] = {
    "specversion", "type", "source",          "id",      "time",
    "session",     "data", "datacontenttype", "subject", "dataschema"};

static const struct {
  const char *name;
  int (*read_data)(const struct data_input *input, struct event *event);
} types[] = {
    [EVENT_NOTIFICATION] = {"notification", event_read_notification},
    [EVENT_HANDLE_STATE] = {"handle.state", event_read_handle_state},
    [EVENT_HANDLE_POLLED] = {"handle.polled", event_read_handle_polled},
    [EVENT_RUN_FINISHED] = {"run.finished", event_read_run},
    [EVENT_RUN_FAILED] = {"run.failed", event_read_run},
    [EVENT_MCP_STATE] = {"mcp.state", event_read_mcp_state},
    [EVENT_FILE_CHANGED] = {"file.changed", event_read_file_changed},
    [EVENT_CONFIG_CHANGED] = {"config.changed", event_read_config_changed},
    [EVENT_BUDGET_USAGE] = {"budget.usage", event_read_budget_usage},
    [EVENT_RATE_LIMITED] = {"rate.limited", event_read_rate_limited},
    [EVENT_SUBAGENT_FINISHED] = {"subagent.finished", event_read_subagent_finished},
    [EVENT_TOOLS_DECLARED] = {"tools.declared", event_read_tools_declared},
    [EVENT_MESSAGE_SUBMITTED] = {"message.submitted", event_read_message_submitted},
    [EVENT_MESSAGE_CANCELLED] = {"message.cancelled", event_read_message_cancelled},
    [EVENT_MESSAGE_EDITED] = {"message.edited", event_read_message_edited},
    [EVENT_MESSAGE_MOVED] = {"message.moved", event_read_message_moved},
    [EVENT_MESSAGE_REDIRECTED] = {"message.redirected", event_read_message_redirected},
    [EVENT_TURN_STARTED] = {"turn.started", event_read_turn},
    [EVENT_TURN_DECLINED] = {"turn.declined", event_read_turn},
    [EVENT_TURN_STOP] = {"turn.stop", event_read_turn},
    [EVENT_TURN_FINISHED] = {"turn.finished", event_read_turn},
    [EVENT_TURN_ABORTED] = {"turn.aborted", event_read_turn},
    [EVENT_TURN_FAILED] = {"turn.failed", event_read_turn},
    [EVENT_TURN_RETRYING] = {"turn.retrying", event_read_turn},
    [EVENT_TURN_WAITING] = {"turn.waiting", event_read_turn},
    [EVENT_TURN_RESUME] = {"turn.resume", event_read_no_data},
    [EVENT_STREAM_STARTED] = {"stream.started", event_read_no_data},
    [EVENT_STREAM_FINISHED] = {"stream.finished", event_read_no_data},
    [EVENT_TOOLS_STARTED] = {"tools.started", event_read_call},
    [EVENT_TOOLS_FINISHED] = {"tools.finished", event_read_call},
    [EVENT_SESSION_OPENED] = {"session.opened", event_read_opened},
    [EVENT_SESSION_RESUMED] = {"session.resumed", event_read_resumed},
    [EVENT_SESSION_REWOUND] = {"session.rewound", event_read_rewound},
    [EVENT_SESSION_FORKED] = {"session.forked", event_read_forked},
    [EVENT_SESSION_COMPACTING] = {"session.compacting", event_read_no_data},
    [EVENT_SESSION_COMPACTED] = {"session.compacted", event_read_no_data},
    [EVENT_SESSION_COLLECTED] = {"session.collected", event_read_collected},
    [EVENT_SESSION_CLOSED] = {"session.closed", event_read_no_data},
    [EVENT_WAKE] = {"wake", event_read_no_data},
};

/* CloudEvents' rule for the name of an extension attribute. */
static bool is_extension_name(struct tidings_span name) {
  for (size_t i = 0; i < name.len; i++) {
    bool allowed =
        (name.ptr[i] >= 'a' && name.ptr[i] <= 'z') || (name.ptr[i] >= '0' && name.ptr[i] <= '9');
    if (!allowed) return false;
  }
  return name.len > 0;
}

/* Sorts the attributes into slots. Null means that an attribute is not set. Extensions that are not
 * ours are left alone. */
static int sort_attributes(const struct json *object, const struct json **slots,
                           struct tidings_error *error) {
  for (size_t i = 0; i < ATTRIBUTE_COUNT; i++) slots[i] = NULL;
  for (const struct json *one = object->members; one; one = one->next) {
    size_t i = 0;
    while (i < ATTRIBUTE_COUNT && !span_is(one->key, attribute_names[i])) i++;
    if (i < ATTRIBUTE_COUNT) {
      if (one->kind != JSON_IS_NULL) slots[i] = one;
      continue;
    }
    struct path path = {NULL, one->key};
    if (!is_extension_name(one->key))
      return fail(error, TIDINGS_E_SCHEMA,
                  "%s: unknown attribute; expected one of %s, or an extension named by a-z and 0-9",
                  field_path_text(&path).text,
                  field_name_list(attribute_names, ATTRIBUTE_COUNT).text);
    if (one->kind == JSON_IS_ARRAY || one->kind == JSON_IS_OBJECT)
      return field_refuse(
          NULL, one, "a string, a number, true, false or null, as an extension attribute must be",
          error);
  }
  return 0;
}

static bool is_json_media_type(struct tidings_span text) {
  static const char json[] = "application/json", suffix[] = "+json";
  const char *end = memchr(text.ptr, ';', text.len);
  size_t len = end ? (size_t)(end - text.ptr) : text.len;
  while (len && text.ptr[len - 1] == ' ') len--;
  if (len == sizeof json - 1 && memcmp(text.ptr, json, len) == 0) return true;
  return len > sizeof suffix - 1 &&
         memcmp(text.ptr + len - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

/* Attributes without effect are checked all the same: a wrong value is a mistake that its sender
 * wants to know of. */
static int check_envelope(const struct json *const *attributes, struct event *event,
                          struct tidings_error *error) {
  static const enum attribute texts[] = {TIME, DATACONTENTTYPE, SUBJECT, DATASCHEMA};
  const struct json *version = attributes[SPECVERSION];
  if (version && !(version->kind == JSON_IS_STRING && span_is(version->text, "1.0")))
    return field_refuse(NULL, version, "\"1.0\"", error);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const struct json *value = attributes[texts[i]];
    struct tidings_span text;
    if (!value) continue;
    int code = field_clean_string(NULL, value, false, &text, error);
    if (code) return code;
    if (texts[i] == TIME && !event_time_read(text, &event->occurred_ms))
      return field_refuse(NULL, value, "a time by RFC 3339, such as \"2026-02-23T12:00:00Z\"",
                          error);
    if (texts[i] == DATACONTENTTYPE && !is_json_media_type(text))
      return field_refuse(NULL, value, "application/json", error);
  }
  return 0;
}

static int read_identity(const struct json *const *attributes, struct event *event,
                         struct tidings_error *error) {
  if (!attributes[SESSION]) return field_missing(NULL, "session", "the id of a session", error);
  int code = field_string(NULL, attributes[SESSION], SIZE_MAX, &event->session, error);
  if (!code) code = session_id_check(event->session, "session", TIDINGS_E_SCHEMA, error);
  if (!code && attributes[SOURCE])
    code = field_clean_string(NULL, attributes[SOURCE], false, &event->source, error);
  if (!code && attributes[ID])
    code = field_clean_string(NULL, attributes[ID], false, &event->id, error);
  return code;
}

static int read_type(const struct json *value, enum event_type *ret_type,
                     struct tidings_error *error) {
  struct tidings_span type;
  if (!value || value->kind == JSON_IS_NULL)
    return field_missing(NULL, "type", "an event type, such as \"notification\"", error);
  int code = field_string(NULL, value, SIZE_MAX, &type, error);
  if (code) return code;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!span_is(type, types[i].name)) continue;
    *ret_type = (enum event_type)i;
    return 0;
  }
  return fail(error, TIDINGS_E_UNSUPPORTED, "event type %s is unknown", quote(type).text);
}

int event_parse(struct tidings_span bytes, const struct settings *settings, struct arena *arena,
                struct event *ret_event, struct tidings_error *error) {
  if (bytes.len > settings->event_bytes)
    return fail(error, TIDINGS_E_TOO_BIG,
                "event: %zu bytes are over the limit of %u (limits.event_bytes)", bytes.len,
                settings->event_bytes);
  const struct json *root, *attributes[ATTRIBUTE_COUNT];
  int code = json_read(bytes, "event", arena, &root, error);
  if (code) return code;
  struct path path = path_member(NULL, "event");
  struct event event = {.type = EVENT_NOTIFICATION};
  code = field_object(&path, root, error);
  if (!code) code = read_type(json_member(root, "type"), &event.type, error);
  if (!code) code = sort_attributes(root, attributes, error);
  if (code) return code;
  code = check_envelope(attributes, &event, error);
  if (!code) code = read_identity(attributes, &event, error);
  const struct data_input input = {attributes[DATA], settings, arena, error};
  if (!code) code = types[event.type].read_data(&input, &event);
  if (event.occurred_ms < 0) event.occurred_ms = 0; /* a time before 1970 counts as none */
  event.notification.occurred_ms = event.occurred_ms;
  if (!code && event_is_report(event.type) && json_compact(attributes[DATA], arena, &event.data))
    code = fail(error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  if (!code) *ret_event = event;
  return code;
}
