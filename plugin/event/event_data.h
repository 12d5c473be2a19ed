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

/* Each fills its part of the event. Returns 0, SCHEMA, TOO_BIG or NOMEM. */
int notification_data_read(const struct data_input *input, struct event *event);
int opened_data_read(const struct data_input *input, struct event *event);
int resumed_data_read(const struct data_input *input, struct event *event);
int closed_data_read(const struct data_input *input, struct event *event);
int handle_state_read(const struct data_input *input, struct event *event);
int handle_polled_read(const struct data_input *input, struct event *event);
int mcp_state_read(const struct data_input *input, struct event *event);
int file_changed_read(const struct data_input *input, struct event *event);
int config_changed_read(const struct data_input *input, struct event *event);
int budget_usage_read(const struct data_input *input, struct event *event);
int rate_limited_read(const struct data_input *input, struct event *event);
int subagent_finished_read(const struct data_input *input, struct event *event);

/* What small strings may be long: kinds, keys, ids. */
enum { SMALL_STRING_BYTES = 1024, PATH_BYTES = 4096 };

/* A string that has no control characters; `may_be_empty` or not. */
int field_clean_string(const struct path *path, const struct json *value, bool may_be_empty, struct tidings_span *ret,
                       struct tidings_error *error);

#endif
