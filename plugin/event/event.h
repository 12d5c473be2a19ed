/* SPDX-License-Identifier: MIT
 *
 * event/event.h: parses bytes into a typed event. Knows JSON and the limits; knows neither the
 * store nor what an event does.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "common/arena.h"
#include "values/event.h"
#include "values/settings.h"

/* Reads one CloudEvents object. Returns 0, or INVAL, SCHEMA, TOO_BIG, UNSUPPORTED, NOMEM with a
 * sentence. `type` is looked at first, so that an unknown type is UNSUPPORTED whatever its data. */
int event_parse(struct tidings_span bytes, const struct settings *settings, struct arena *arena,
                struct event *ret_event, struct tidings_error *error);

/* 1 to 255 bytes of UTF-8 without control characters; `where` names the field in the sentence.
 * Returns 0, TOO_BIG, or `wrong`: SCHEMA for a field of JSON, INVAL for an argument. No
 * allocation. */
int session_id_check(struct tidings_span session, const char *where, int wrong,
                     struct tidings_error *error);
/* The same rule for the id of a message. */
int message_id_check(struct tidings_span id, const char *where, int wrong,
                     struct tidings_error *error);
/* Does the id start with "tidings:"? Only the turns that the plugin starts by itself have such ids.
 */
bool message_id_is_system(struct tidings_span id);
/* Sorts `ids`, so that a long list takes no quadratic time, and returns an id that occurs twice in
 * it, or NULL. */
const struct tidings_span *message_ids_twice(struct tidings_span *ids, size_t count);

#endif
