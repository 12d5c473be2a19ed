/* SPDX-License-Identifier: MIT
 *
 * values/notification.h: the values that travel through the plugin: a notification, an item (a
 * notification in the store) and how an item ended. No behaviour.
 */
#ifndef VALUES_NOTIFICATION_H
#define VALUES_NOTIFICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* As in the ABI: TIDINGS_LEVEL_INFO … TIDINGS_LEVEL_CRITICAL. These numbers are stored. */
enum { LEVEL_COUNT = 4 };
const char *level_name(unsigned level); /* "info"; "?" for another number */

/* The effect that a notification asks for in an idle or a busy session; a silent one is never
 * shown: it only takes back what has its key. These numbers are stored. */
enum activation {
  ACTIVATION_PASSIVE = 0,
  ACTIVATION_IDLE = 1,
  ACTIVATION_INTERRUPT = 2,
  ACTIVATION_SILENT = 3,
  ACTIVATION_COUNT
};

/* The event that made it: a producer makes notifications of reports. These numbers are stored. */
enum maker {
  MADE_BY_NOTIFICATION = 0, /* or by a version that did not keep this */
  MADE_BY_HANDLE_STATE = 1,
  MADE_BY_MCP_STATE = 2,
  MADE_BY_FILE_CHANGED = 3,
  MADE_BY_CONFIG_CHANGED = 4,
  MADE_BY_BUDGET_USAGE = 5,
  MADE_BY_RATE_LIMITED = 6,
  MADE_BY_SUBAGENT_FINISHED = 7,
  MADE_BY_RUN_FINISHED = 8,
  MADE_BY_RUN_FAILED = 9,
  MAKER_COUNT
};

struct notification {
  struct tidings_span source, name, message; /* message is never empty */
  struct tidings_span data;                  /* compact JSON, or empty */
  struct tidings_span key; /* empty: none. A newer item with the same key supersedes an older one */
  struct tidings_span tool, handle; /* empty: none */
  struct tidings_span caused_by; /* a call of the model's own that made this happen; empty: none */
  int64_t occurred_ms;           /* when it happened, by whoever pushed it; 0: not said */
  int64_t ttl_ms;                /* for how long after its push it is worth showing; 0: for ever */
  int64_t due_ms;                /* not shown before, by the store's clock; 0: at once */
  uint8_t level;
  uint8_t activation;
  uint8_t made_by; /* enum maker */
};

/* Does it want something done now, besides riding on the next carrier? */
static inline bool notification_rings(const struct notification *note) {
  return note->activation != ACTIVATION_SILENT &&
         (note->level == TIDINGS_LEVEL_CRITICAL || note->activation != ACTIVATION_PASSIVE);
}

static inline bool notification_is_critical(const struct notification *note) {
  return note->level == TIDINGS_LEVEL_CRITICAL;
}

/* The facts of the report that an item was made of, as far as the policy needs them. Empty until it
 * was read (event/facts.h), and for items that were made of no report. */
struct facts {
  const struct tidings_span *paths;  /* file.changed: its `path` or `paths` */
  const struct tidings_span *stamps; /* for each path, a text that identifies the file's version
                                        then, or empty; NULL: of none */
  const bool *edited; /* of each path: had the assistant edited the file before? NULL: of none */
  size_t path_count;
  uint8_t change;               /* file.changed: enum file_change in values/event.h */
  struct tidings_span server;   /* mcp.state: its `server` */
  struct tidings_span provider; /* rate.limited: its `provider`; empty: not given */
  int64_t retry_after_ms;       /* rate.limited */
};

/* The origin of the copy in a forked session. Ids are public ones. */
struct origin {
  uint64_t item;     /* what it is a copy of, in the session that was the first; 0: it is no copy */
  uint64_t delivery; /* the delivery that had leased it in the parent, whose transcript the child
                        may have; 0: none */
  uint8_t outcome;   /* how it ends by that delivery; OUTCOME_NONE: it is shown there, but was
                        withdrawn since, so it ends in either case */
};

/* A notification in the store. `n` is its number in its session: they grow in commit order, which
 * is the order that counts. */
struct item {
  uint64_t n;
  int64_t time_ms;   /* when it was pushed, or is due if that is later: from then on it counts */
  int64_t pushed_ms; /* the host's wall clock when it was pushed */
  struct notification note;
  struct facts facts;
  bool copied; /* it has an origin (item_get_origin) */
  bool late;   /* another session had it before, or it was pushed for a later time: among this
                  session's, its time counts, not its number */
  bool ended;  /* the copy of what was withdrawn on its carrier: the first host to come ends it */
  bool shortened; /* `facts` has fewer paths than the message: the others were left out */
  bool pinned;    /* the turn that carries it was started for it: only criticals go before it */
};

/* Was `item` pushed after `other`? */
static inline bool item_is_newer(const struct item *item, const struct item *other) {
  if ((item->late || other->late) && item->time_ms != other->time_ms)
    return item->time_ms > other->time_ms;
  return item->n > other->n;
}

static inline bool item_is_due(const struct item *item, int64_t now_ms) {
  return !item->note.due_ms || item->note.due_ms <= now_ms;
}

/* When it happened, as far as is known. */
static inline int64_t item_occurred_ms(const struct item *item) {
  return item->note.occurred_ms ? item->note.occurred_ms : item->time_ms;
}

/* How an item ended. These numbers are stored. */
enum outcome {
  OUTCOME_NONE = 0, /* pending or leased */
  OUTCOME_DELIVERED = 1,
  OUTCOME_SUPERSEDED = 2,
  OUTCOME_ANNIHILATED = 3,
  OUTCOME_WITHDRAWN = 4,
  OUTCOME_EXPIRED = 5,
  OUTCOME_FILTERED = 6,
  OUTCOME_DROPPED = 7,
  OUTCOME_CLOSED = 8,
  OUTCOME_COUNT
};
const char *outcome_name(unsigned outcome); /* "delivered" */

/* Why. These numbers are stored; `ref` of the disposition says more where a comment says so. */
enum reason {
  REASON_NONE = 0,
  REASON_SHOWN = 1,     /* delivered; ref: the n of the line's first item when coalesced, else 0 */
  REASON_TTL = 2,       /* expired */
  REASON_CAUSED_BY = 3, /* withdrawn: the model's own doing */
  REASON_NEWER_KEY = 4, /* superseded; ref: the n that replaced it */
  REASON_MASTER_SWITCH = 5,   /* filtered: conversation.notifications.enable */
  REASON_SOURCE = 6,          /* filtered: conversation.notifications.kinds.<source>.enable */
  REASON_KIND = 7,            /* filtered: conversation.notifications.kinds.<source>.<name> */
  REASON_FLAT_KIND = 8,       /* filtered: conversation.notifications.kinds."<source>.<name>" */
  REASON_TOOL = 9,            /* filtered: conversation.tools.<tool>.notifications.<name>; ref: 1 if
                                 that name is `enable`, + 2 if its setting is "critical" */
  REASON_CAP_OLDEST = 10,     /* dropped: overflow drop_oldest */
  REASON_CAP_LOWEST = 11,     /* dropped: overflow drop_lowest */
  REASON_DAMAGED = 12,        /* dropped: its record in the store is damaged */
  REASON_SESSION_CLOSED = 13, /* closed */
  REASON_POLLED = 14,         /* withdrawn: the assistant asked for the handle's state itself */
  REASON_RUNNING = 15,        /* withdrawn: the handle does not wait any more */
  REASON_OWN_EDIT = 16, /* withdrawn; ref: the n of the change that the assistant's own call made to
                           the same file */
  REASON_OPPOSITE = 17, /* annihilated; ref: the n of its opposite */
  REASON_SHORTENED = 18,   /* delivered, cut: delivery.max_tokens, or lack of room; ref as with
                              REASON_SHOWN */
  REASON_NEWER_STATE = 19, /* superseded: a newer report of the same handle, server, files, budget
                              or rate limit; ref: its n */
  REASON_COUNTED = 20,     /* delivered: its files are in the number of those that have no room in a
                              list; ref as with REASON_SHOWN */
  REASON_OVER = 21,        /* annihilated: the time to wait that it reports is over */
  REASON_PARENT = 22, /* as in the delivery of the parent that the transcript has; ref: its public
                         id */
  REASON_COLLECTED = 23,  /* closed: another session has it now; ref: the number of that session */
  REASON_TAKEN_BACK = 24, /* withdrawn; ref: the n of the silent one with its key */
  REASON_SILENT = 25,     /* withdrawn: a silent one, which has taken back what has its key */
  REASON_COUNT
};

/* An item that has ended: how, and why. */
struct disposition {
  uint64_t n;
  uint64_t ref;
  uint8_t outcome;
  uint8_t reason;
};

#endif
