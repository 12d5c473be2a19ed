/* SPDX-License-Identifier: MIT
 *
 * values/event.h: an event as a value: event/ makes it from the bytes of a CloudEvents object. No
 * behaviour.
 */
#ifndef VALUES_EVENT_H
#define VALUES_EVENT_H

#include "values/declaration.h"
#include "values/notification.h"

/* In classes, each a range that a predicate below names. */
enum event_type {
  EVENT_NOTIFICATION,
  /* Reports: producers make notifications of them. */
  EVENT_HANDLE_STATE,
  EVENT_HANDLE_POLLED,
  EVENT_RUN_FINISHED,
  EVENT_RUN_FAILED,
  EVENT_MCP_STATE,
  EVENT_FILE_CHANGED,
  EVENT_CONFIG_CHANGED,
  EVENT_BUDGET_USAGE,
  EVENT_RATE_LIMITED,
  EVENT_SUBAGENT_FINISHED,
  EVENT_TOOLS_DECLARED,
  /* Messages, which may start a turn. */
  EVENT_MESSAGE_SUBMITTED,
  EVENT_MESSAGE_CANCELLED,
  EVENT_MESSAGE_EDITED,
  EVENT_MESSAGE_MOVED,
  EVENT_MESSAGE_REDIRECTED,
  /* The course of a turn. */
  EVENT_TURN_STOP, /* sent by anybody: the turn is to end */
  EVENT_TURN_STARTED,
  EVENT_TURN_DECLINED,
  EVENT_TURN_FINISHED,
  EVENT_TURN_ABORTED,
  EVENT_TURN_FAILED,
  EVENT_TURN_RETRYING,
  EVENT_TURN_WAITING,
  EVENT_TURN_RESUME,
  /* Phases of the running turn. */
  EVENT_STREAM_STARTED,
  EVENT_STREAM_FINISHED,
  EVENT_TOOLS_STARTED,
  EVENT_TOOLS_FINISHED,
  /* The session's life. */
  EVENT_SESSION_OPENED,
  EVENT_SESSION_RESUMED,
  EVENT_SESSION_REWOUND,
  EVENT_SESSION_FORKED,
  EVENT_SESSION_COMPACTING,
  EVENT_SESSION_COMPACTED,
  EVENT_SESSION_COLLECTED,
  EVENT_SESSION_CLOSED,
  EVENT_WAKE,
};

static inline bool event_is_report(enum event_type type) {
  return type >= EVENT_HANDLE_STATE && type <= EVENT_SUBAGENT_FINISHED;
}
static inline bool event_is_message(enum event_type type) {
  return type >= EVENT_MESSAGE_SUBMITTED && type <= EVENT_MESSAGE_REDIRECTED;
}
/* Everybody may send these, not only the host that has the session. */
static inline bool event_is_for_all(enum event_type type) {
  return event_is_message(type) || type == EVENT_TURN_STOP || type == EVENT_SESSION_COLLECTED;
}
static inline bool event_is_phase(enum event_type type) {
  return type >= EVENT_STREAM_STARTED && type <= EVENT_TOOLS_FINISHED;
}
static inline bool event_is_session(enum event_type type) {
  return type >= EVENT_SESSION_OPENED && type <= EVENT_SESSION_CLOSED;
}

enum handle_state { HANDLE_RUNNING, HANDLE_WAITING, HANDLE_STOPPED, HANDLE_FAILED };
enum mcp_state { MCP_CONNECTED, MCP_DISCONNECTED, MCP_UNRESPONSIVE, MCP_RECONNECTED };
enum file_change { FILE_MODIFIED, FILE_CREATED, FILE_DELETED, FILE_RENAMED };

/* A subsystem's report of what has happened. Only what belongs to the event's type is set. */
struct report {
  struct tidings_span handle, tool; /* handle.*, run.*; tool of file.changed: what ran meanwhile */
  struct tidings_span server;       /* mcp.state */
  uint8_t state;                    /* enum handle_state or mcp_state */
  bool has_exit_code, has_level;
  uint8_t level;
  int64_t exit_code;
  /* run.*: `signal`, `log` and `log_error` are empty if they were not given. */
  struct tidings_span command, signal, log, log_error;
  struct tidings_span errors; /* run.failed: lines of the log that say why; empty: none */
  bool lost;                  /* run.failed: nobody knows how it ended, or whether it has */
  bool has_duration;
  int64_t duration_ms;
  /* The printed text: the `content` of handle.state, the `tail` of run.*. */
  bool has_output;
  struct tidings_span output;
  const struct tidings_span *paths; /* file.changed: at least one */
  size_t path_count;
  uint8_t change; /* enum file_change */
  struct tidings_span caused_by;
  const bool *edited; /* file.changed, of each path: the assistant has edited it; NULL: of none */
  struct tidings_span summary, slug; /* config.changed, subagent.finished */
  int64_t used, limit;               /* budget.usage */
  int64_t retry_after_ms;            /* rate.limited */
  struct tidings_span provider;      /* rate.limited; empty: not said */
  /* Properties of the notification that is made, if one is. */
  struct tidings_span key;
  int64_t ttl_ms; /* 0: for ever */
  bool has_activation;
  uint8_t activation;
};

struct session_event {
  bool opens;                    /* session.opened and .resumed */
  struct tidings_span cwd, host; /* empty: not given */
  bool takeover;
  bool rewound; /* session.rewound, or .resumed with `rewound`: the transcript has no others */
  bool has_deliveries; /* session.rewound; .resumed with `deliveries` (or `last_delivery`) */
  const uint64_t *deliveries;
  size_t delivery_count;
  uint64_t newest; /* session.rewound: later deliveries stay as they are; 0: all are meant */
  struct tidings_span child;       /* session.forked: another session's id */
  const struct tidings_span *from; /* session.collected: other sessions' ids, at least one */
  size_t from_count;
};

/* message.*: only what belongs to the event's type is set. */
struct message_event {
  struct tidings_span id;
  struct tidings_span content; /* submitted, edited: never empty */
  struct tidings_span trigger; /* submitted: compact JSON, opaque; empty: typed by a person */
  struct tidings_span
      before;     /* moved: the id of the message that it goes before, unless it goes `last` */
  int64_t due_ms; /* submitted: no turn before, by the sender's clock; 0: at once */
  bool steer;     /* submitted, redirected */
  bool resume;    /* submitted */
  bool last;      /* moved: `before` was null */
};

/* turn.*: what is empty or 0 was not given. */
struct turn_event {
  /* distinct, at least one if has_messages; in the order in which they were given */
  const struct tidings_span *messages;
  size_t message_count;
  bool has_messages;                   /* false: the current turn is meant */
  struct tidings_span reason, message; /* opaque */
  struct tidings_span kind;            /* waiting: "approval" or "user-input" */
  uint32_t attempt;                    /* retrying */
  int64_t at_ms; /* started, aborted: when it happened, by the host's clock; 0: now */
};

/* tools.*: which call; empty: the host did not say. */
struct call_event {
  struct tidings_span tool, call_id;
};

/* All text is owned by the arena. */
struct event {
  enum event_type type;
  struct tidings_span session;
  struct tidings_span source, id;   /* CloudEvents; id empty: not given, matches nothing */
  int64_t occurred_ms;              /* its `time`; 0: not given */
  struct notification notification; /* EVENT_NOTIFICATION */
  size_t uncut_bytes;               /* of its message, before that was cut; 0: it was not */
  struct report report;             /* of a report */
  struct tidings_span data;         /* of a report: as it was given, compact JSON */
  struct message_event message;     /* EVENT_MESSAGE_* */
  struct turn_event turn;           /* EVENT_TURN_* */
  struct session_event opening;     /* EVENT_SESSION_* */
  struct declaration declared;      /* EVENT_TOOLS_DECLARED */
  struct call_event call;           /* EVENT_TOOLS_STARTED, _FINISHED */
};

#endif
