/* SPDX-License-Identifier: MIT
 *
 * event/event_data.h: the `data` of each event type. Private to event/.
 */
#ifndef EVENT_EVENT_DATA_H
#define EVENT_EVENT_DATA_H

#include "event/event.h"
#include "event/field.h"

/* What a reader of data needs. `data` is NULL when the event has none. */
struct data_input {
  const struct json *data;
  const struct settings *settings;
  struct arena *arena;
  struct tidings_error *error;
};

/* Each fills its part of the event, whose session is known by then. Returns 0, SCHEMA, TOO_BIG or
 * NOMEM. */
int notification_data_read(const struct data_input *input, struct event *event);
int handle_state_read(const struct data_input *input, struct event *event);
int handle_polled_read(const struct data_input *input, struct event *event);
int mcp_state_read(const struct data_input *input, struct event *event);
int file_changed_read(const struct data_input *input, struct event *event);
int config_changed_read(const struct data_input *input, struct event *event);
int budget_usage_read(const struct data_input *input, struct event *event);
int rate_limited_read(const struct data_input *input, struct event *event);
int subagent_finished_read(const struct data_input *input, struct event *event);
int message_submitted_read(const struct data_input *input, struct event *event);
int message_cancelled_read(const struct data_input *input, struct event *event);
int message_edited_read(const struct data_input *input, struct event *event);
int message_moved_read(const struct data_input *input, struct event *event);
int turn_named_read(const struct data_input *input,
                    struct event *event); /* started, finished: which messages */
int turn_reasoned_read(const struct data_input *input,
                       struct event *event); /* declined, aborted: and why */
int turn_failed_read(const struct data_input *input, struct event *event);
int turn_retrying_read(const struct data_input *input, struct event *event);
int turn_waiting_read(const struct data_input *input, struct event *event);
int opened_data_read(const struct data_input *input, struct event *event);
int resumed_data_read(const struct data_input *input, struct event *event);
int forked_data_read(const struct data_input *input, struct event *event);
int no_data_read(const struct data_input *input,
                 struct event *event); /* types that have none: an empty object will do */

/* What the readers share. */

extern const struct path data_path;

/* Sorts data into slots by name; the first `required` names must be there. No data is data without
 * fields. */
int data_members(const struct data_input *input, const char *const *names, size_t count,
                 size_t required, const struct json **slots);

/* The id of a message: see message_id_check. */
int field_message_id(const struct path *path, const struct json *value, struct tidings_span *ret,
                     struct tidings_error *error);

/* What small strings may be long: kinds, keys, ids. */
enum { SMALL_STRING_BYTES = 1024, PATH_BYTES = 4096 };

/* A string that has no control characters; `may_be_empty` or not. */
int field_clean_string(const struct path *path, const struct json *value, bool may_be_empty,
                       struct tidings_span *ret, struct tidings_error *error);

#endif
