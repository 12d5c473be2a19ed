/* SPDX-License-Identifier: MIT
 *
 * event/event.h: bytes to a typed event. Knows JSON and the limits; knows neither the store nor what an event will do.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/arena.h"
#include "base/notification.h"
#include "base/settings.h"

enum event_type { EVENT_NOTIFICATION, EVENT_SESSION_OPENED, EVENT_SESSION_RESUMED, EVENT_SESSION_CLOSED };

struct session_event {
  struct tidings_span cwd, host; /* empty: not given */
  bool takeover;
  bool has_deliveries; /* session.resumed with `deliveries` (or `last_delivery`) */
  const uint64_t *deliveries;
  size_t delivery_count;
};

/* All text is owned by the arena. */
struct event {
  enum event_type type;
  struct tidings_span session;
  struct tidings_span source, id;   /* CloudEvents; id empty: not given, matches nothing */
  struct notification notification; /* EVENT_NOTIFICATION */
  struct session_event opening;     /* EVENT_SESSION_OPENED, EVENT_SESSION_RESUMED */
};

/* Reads one CloudEvents object. Returns 0, or INVAL, SCHEMA, TOO_BIG, UNSUPPORTED, NOMEM with a sentence. `type` is looked at first, so
 * that an unknown type is UNSUPPORTED whatever its data. */
int event_parse(struct tidings_span bytes, const struct settings *settings, struct arena *arena, struct event *ret_event,
                struct tidings_error *error);

/* 1 to 255 bytes of UTF-8 without control characters; `where` names the field in the sentence. Returns 0, TOO_BIG, or `wrong`: SCHEMA for
 * a field of JSON, INVAL for an argument. No allocation. */
int session_id_check(struct tidings_span session, const char *where, int wrong, struct tidings_error *error);

#endif
