/* SPDX-License-Identifier: MIT
 *
 * event/event.h: bytes to a typed event. Knows JSON and the limits; knows neither the store nor what an event will do.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/arena.h"
#include "base/notification.h"
#include "base/settings.h"

enum event_type {
  EVENT_NOTIFICATION,
  EVENT_SESSION_OPENED,
  EVENT_SESSION_RESUMED,
  EVENT_SESSION_CLOSED,
  /* From here on: what producers make notifications of. */
  EVENT_HANDLE_STATE,
  EVENT_HANDLE_POLLED,
  EVENT_MCP_STATE,
  EVENT_FILE_CHANGED,
  EVENT_CONFIG_CHANGED,
  EVENT_BUDGET_USAGE,
  EVENT_RATE_LIMITED,
  EVENT_SUBAGENT_FINISHED,
};

enum handle_state { HANDLE_RUNNING, HANDLE_WAITING, HANDLE_STOPPED, HANDLE_FAILED };
enum mcp_state { MCP_CONNECTED, MCP_DISCONNECTED, MCP_UNRESPONSIVE, MCP_RECONNECTED };
enum file_change { FILE_MODIFIED, FILE_CREATED, FILE_DELETED, FILE_RENAMED };

/* What a subsystem says has happened. Only what belongs to the event's type is set. */
struct report {
  struct tidings_span handle, tool; /* handle.* */
  struct tidings_span server;       /* mcp.state */
  uint8_t state;                    /* enum handle_state or mcp_state */
  bool has_exit_code, has_level;
  uint8_t level;
  int64_t exit_code;
  const struct tidings_span *paths; /* file.changed: at least one */
  size_t path_count;
  uint8_t change; /* enum file_change */
  struct tidings_span caused_by;
  struct tidings_span summary, slug; /* config.changed, subagent.finished */
  int64_t used, limit;               /* budget.usage */
  int64_t retry_after_ms;            /* rate.limited */
};

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
  struct report report;             /* EVENT_HANDLE_STATE and behind */
  struct tidings_span data;         /* of those: as it was given, compact JSON */
};

/* Reads one CloudEvents object. Returns 0, or INVAL, SCHEMA, TOO_BIG, UNSUPPORTED, NOMEM with a sentence. `type` is looked at first, so
 * that an unknown type is UNSUPPORTED whatever its data. */
int event_parse(struct tidings_span bytes, const struct settings *settings, struct arena *arena, struct event *ret_event,
                struct tidings_error *error);

/* 1 to 255 bytes of UTF-8 without control characters; `where` names the field in the sentence. Returns 0, TOO_BIG, or `wrong`: SCHEMA for
 * a field of JSON, INVAL for an argument. No allocation. */
int session_id_check(struct tidings_span session, const char *where, int wrong, struct tidings_error *error);

#endif
