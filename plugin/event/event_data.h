/* SPDX-License-Identifier: MIT
 *
 * event/event_data.h: the `data` of each event type. Private to event/.
 */
#ifndef EVENT_EVENT_DATA_H
#define EVENT_EVENT_DATA_H

#include "event/event.h"
#include "event/field.h"

/* The input of a reader of data. `data` is NULL when the event has none. */
struct data_input {
  const struct json *data;
  const struct settings *settings;
  struct arena *arena;
  struct tidings_error *error;
};

/* Each reads the data and fills its part of the event, whose session is known by then. Returns 0,
 * SCHEMA, TOO_BIG or NOMEM. */
int event_read_notification(const struct data_input *input, struct event *event);
int event_read_handle_state(const struct data_input *input, struct event *event);
int event_read_handle_polled(const struct data_input *input, struct event *event);
int event_read_run(const struct data_input *input, struct event *event); /* finished, failed */
int event_read_mcp_state(const struct data_input *input, struct event *event);
int event_read_file_changed(const struct data_input *input, struct event *event);
int event_read_config_changed(const struct data_input *input, struct event *event);
int event_read_budget_usage(const struct data_input *input, struct event *event);
int event_read_rate_limited(const struct data_input *input, struct event *event);
int event_read_subagent_finished(const struct data_input *input, struct event *event);
int event_read_message_submitted(const struct data_input *input, struct event *event);
int event_read_message_cancelled(const struct data_input *input, struct event *event);
int event_read_message_edited(const struct data_input *input, struct event *event);
int event_read_message_moved(const struct data_input *input, struct event *event);
int event_read_message_redirected(const struct data_input *input, struct event *event);
int event_read_turn(const struct data_input *input, struct event *event); /* but resume */
int event_read_opened(const struct data_input *input, struct event *event);
int event_read_resumed(const struct data_input *input, struct event *event);
int event_read_rewound(const struct data_input *input, struct event *event);
int event_read_forked(const struct data_input *input, struct event *event);
int event_read_collected(const struct data_input *input, struct event *event);
int event_read_tools_declared(const struct data_input *input, struct event *event);
int event_read_call(const struct data_input *input, struct event *event); /* a tool's */
int event_read_no_data(
    const struct data_input *input,
    struct event *event); /* for types without data, which may have an empty object */

/* Helpers that the readers share. */

extern const struct path event_data;

/* Sorts data into slots by name; the first `required` names must be there. Missing data counts as
 * an empty object. */
int event_data_members(const struct data_input *input, const char *const *names, size_t count,
                       size_t required, const struct json **slots);

/* The id of a message: see message_id_check. */
int field_message_id(const struct path *parent, const struct json *value, struct tidings_span *ret,
                     struct tidings_error *error);

/* The most bytes of small strings: kinds, keys, ids. */
enum { SMALL_STRING_BYTES = 1024, PATH_BYTES = 4096, PATHS_MOST = 1000 };

/* `due_at`, milliseconds since 1970; NULL: not given. */
int event_read_due(const struct json *value, int64_t *ret_ms, struct tidings_error *error);

/* Is the text empty, or has it only blanks and line breaks? */
bool event_is_blank(struct tidings_span text);

/* A string without control characters; an empty one only if `may_be_empty`. */
int field_clean_string(const struct path *parent, const struct json *value, bool may_be_empty,
                       struct tidings_span *ret, struct tidings_error *error);

#endif
