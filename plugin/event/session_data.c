/* SPDX-License-Identifier: MIT
 *
 * event/session_data.c: the data of the events of a session's life.
 */
#include "common/error.h"
#include "event/event_data.h"

enum field {
  CWD,
  HOST,
  TAKEOVER,
  OPENED_COUNT,
  DELIVERIES = OPENED_COUNT,
  LAST_DELIVERY,
  REWOUND,
  RESUMED_COUNT
};

static const char *const field_names[RESUMED_COUNT] = {"cwd",        "host",          "takeover",
                                                       "deliveries", "last_delivery", "rewound"};

static const char a_delivery[] =
    "a delivery id: a positive integer, or a string of its decimal digits";

static int read_opening(const struct data_input *input, const struct json *const *fields,
                        struct session_event *opening) {
  int code = 0;
  opening->opens = true;
  if (fields[CWD])
    code = field_string(&event_data, fields[CWD], PATH_BYTES, &opening->cwd, input->error);
  if (!code && fields[HOST])
    code =
        field_string(&event_data, fields[HOST], SMALL_STRING_BYTES, &opening->host, input->error);
  if (!code && fields[TAKEOVER])
    code = field_bool(&event_data, fields[TAKEOVER], &opening->takeover, input->error);
  return code;
}

static int read_delivery_id(const struct path *parent, const struct json *value, uint64_t *ret,
                            struct tidings_error *error) {
  bool fits = (value->kind == JSON_IS_STRING || value->kind == JSON_IS_NUMBER) &&
              field_decimal(value->text, ret) && value->text.ptr[0] != '0';
  return fits ? 0 : field_refuse(parent, value, a_delivery, error);
}

static int read_deliveries(const struct data_input *input, const struct json *list,
                           struct session_event *opening) {
  struct path path = field_place(&event_data, list);
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(&event_data, list, "an array of delivery ids", input->error);
  uint64_t *ids = arena_zalloc(input->arena, list->count, sizeof *ids);
  if (!ids) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  size_t count = 0;
  for (const struct json *one = list->members; one; one = one->next) {
    int code = read_delivery_id(&path, one, &ids[count++], input->error);
    if (code) return code;
  }
  opening->deliveries = ids;
  opening->delivery_count = count;
  opening->has_deliveries = true;
  return 0;
}

static int read_last_delivery(const struct data_input *input, const struct json *value,
                              struct session_event *opening) {
  uint64_t *id = arena_zalloc(input->arena, 1, sizeof *id);
  if (!id) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  int code = read_delivery_id(&event_data, value, id, input->error);
  if (code) return code;
  opening->deliveries = id;
  opening->delivery_count = 1;
  opening->has_deliveries = true;
  return 0;
}

static int read_rewound(const struct data_input *input, const struct json *value,
                        struct session_event *opening) {
  int code = value ? field_bool(&event_data, value, &opening->rewound, input->error) : 0;
  if (!code && opening->rewound && !opening->has_deliveries)
    code = fail(input->error, TIDINGS_E_SCHEMA,
                "data.rewound: true without data.deliveries; expected the ids of all deliveries "
                "that the transcript holds");
  return code;
}

int event_read_opened(const struct data_input *input, struct event *event) {
  const struct json *fields[RESUMED_COUNT];
  int code = event_data_members(input, field_names, OPENED_COUNT, 0, fields);
  return code ? code : read_opening(input, fields, &event->opening);
}

int event_read_resumed(const struct data_input *input, struct event *event) {
  const struct json *fields[RESUMED_COUNT];
  int code = event_data_members(input, field_names, RESUMED_COUNT, 0, fields);
  if (!code) code = read_opening(input, fields, &event->opening);
  if (code) return code;
  if (fields[DELIVERIES] && fields[LAST_DELIVERY])
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.last_delivery: given together with data.deliveries; expected "
                "only one of the two");
  if (fields[DELIVERIES]) code = read_deliveries(input, fields[DELIVERIES], &event->opening);
  if (fields[LAST_DELIVERY])
    code = read_last_delivery(input, fields[LAST_DELIVERY], &event->opening);
  return code ? code : read_rewound(input, fields[REWOUND], &event->opening);
}

int event_read_rewound(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"deliveries", "newest"};
  const struct json *slots[2];
  int code = event_data_members(input, names, 2, 0, slots);
  if (code) return code;
  if (!slots[0])
    return field_missing(&event_data, names[0],
                         "the ids of all deliveries that the transcript holds", input->error);
  event->opening.rewound = true;
  code = read_deliveries(input, slots[0], &event->opening);
  return code || !slots[1]
             ? code
             : read_delivery_id(&event_data, slots[1], &event->opening.newest, input->error);
}

int event_read_forked(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"child"};
  const struct json *slots[1];
  struct tidings_span child;
  int code = event_data_members(input, names, 1, 0, slots);
  if (code) return code;
  if (!slots[0])
    return field_missing(&event_data, "child", "the id of the new session", input->error);
  code = field_string(&event_data, slots[0], SIZE_MAX, &child, input->error);
  if (!code) code = session_id_check(child, "data.child", TIDINGS_E_SCHEMA, input->error);
  if (code) return code;
  if (span_equal(child, event->session))
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.child: %s is the session itself; expected the id of the new session",
                quote(child).text);
  event->opening.child = child;
  return 0;
}

/* -- collected --------------------------------------------------------------------------------- */

static int read_source(const struct data_input *input, const struct path *parent,
                       const struct event *event, const struct json *value,
                       struct tidings_span *ret_name) {
  int code = field_string(parent, value, SIZE_MAX, ret_name, input->error);
  if (!code) code = session_id_check(*ret_name, "data.from", TIDINGS_E_SCHEMA, input->error);
  if (code || !span_equal(*ret_name, event->session)) return code;
  return fail(input->error, TIDINGS_E_SCHEMA,
              "data.from: %s is the session itself; expected the ids of other sessions",
              quote(*ret_name).text);
}

int event_read_collected(const struct data_input *input, struct event *event) {
  enum { MOST_SOURCES = 16 };
  static const char *const names[] = {"from"};
  static const char expected[] = "an array of 1 to 16 ids of sessions";
  const struct json *slots[1];
  size_t count = 0;
  int code = event_data_members(input, names, 1, 0, slots);
  if (code) return code;
  if (!slots[0]) return field_missing(&event_data, "from", expected, input->error);
  if (slots[0]->kind != JSON_IS_ARRAY || !slots[0]->count || slots[0]->count > MOST_SOURCES)
    return field_refuse(&event_data, slots[0], expected, input->error);
  struct tidings_span *from = arena_zalloc(input->arena, slots[0]->count, sizeof *from);
  if (!from) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  struct path path = field_place(&event_data, slots[0]);
  for (const struct json *one = slots[0]->members; one; one = one->next) {
    code = read_source(input, &path, event, one, &from[count]);
    if (code) return code;
    bool twice = false;
    for (size_t i = 0; i < count; i++) twice = twice || span_equal(from[i], from[count]);
    count += !twice;
  }
  event->opening.from = from;
  event->opening.from_count = count;
  return 0;
}
