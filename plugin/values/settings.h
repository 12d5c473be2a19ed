/* SPDX-License-Identifier: MIT
 *
 * values/settings.h: the configuration as values. config/config.c makes it from JSON and JSON from
 * it; policy and render read it.
 */
#ifndef VALUES_SETTINGS_H
#define VALUES_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum preset {
  PRESET_GROUPED,
  PRESET_FLAT,
  PRESET_XML,
  PRESET_XML_BATCH,
  PRESET_BALANCED,
  PRESET_PLAIN
};
enum format {
  FORMAT_MARKDOWN,
  FORMAT_MARKDOWN_FLAT,
  FORMAT_XML,
  FORMAT_XML_BATCH,
  FORMAT_JSON,
  FORMAT_SYSTEM_REMINDER,
  FORMAT_OPENAI,
  FORMAT_ANTHROPIC,
  FORMAT_SYNTHETIC_CALL,
  FORMAT_PLAIN,
  FORMAT_COUNT
};
enum order { ORDER_LEVEL = 0, ORDER_TIME = 1, ORDER_NEWEST = 2 };
enum fence { FENCE_NONE = 0, FENCE_NONCE = 1 };
enum preamble { PREAMBLE_ALWAYS = 0, PREAMBLE_FIRST = 1, PREAMBLE_NEVER = 2 };
enum discipline { DISCIPLINE_SERIAL = 0, DISCIPLINE_COALESCING = 1 };
enum overflow { OVERFLOW_DEFER = 0, OVERFLOW_DROP_OLDEST = 1, OVERFLOW_DROP_LOWEST = 2 };

/* A rule shows none, the critical ones or all of the notifications that it governs. */
enum wanted { WANTED_NONE = 0, WANTED_CRITICAL = 1, WANTED_ALL = 2 };

/* A setting under conversation.notifications.kinds. */
struct kind_rule {
  struct tidings_span source, name; /* name empty and whole_source set: {"mcp": {"enable": …}} */
  bool whole_source;
  bool flat;      /* written as "source.name" */
  uint8_t wanted; /* enum wanted */
};

/* A setting under conversation.tools.<tool>.notifications. */
struct tool_rule {
  struct tidings_span tool, name;
  uint8_t wanted; /* enum wanted */
};

/* All text is owned by the arena that it was parsed into. */
struct settings {
  bool notifications_enabled;
  struct kind_rule *kinds;
  size_t kind_count;
  struct tool_rule *tools;
  size_t tool_count;

  uint8_t preset, format, order, overflow, fence, preamble;
  uint8_t place;               /* TIDINGS_PLACE_PREPEND or TIDINGS_PLACE_APPEND */
  uint32_t max_items;          /* 0: no cap */
  uint32_t max_tokens;         /* 0: no cap */
  uint32_t max_bytes;          /* of all that a carrier is given; 0: no bound */
  uint32_t coalesce_window_ms; /* 0: nothing is coalesced */
  uint32_t age_after_ms;       /* 0: no line says how old it is */
  bool says_peers;             /* the paragraph for the model says how to write to other sessions */
  bool annihilate;

  uint8_t discipline;
  uint32_t settle_delay_ms; /* 0: the next turn starts at once */
  bool restart_hold;        /* after a restart the queue waits, as after a failed turn */
  uint32_t max_auto_turns;  /* system turns in a row; 0: none ever starts */
  bool steer_by_default;    /* how a submitted message is delivered that does not say so itself */

  bool critical_force;      /* false: what is urgent is only delivered, never forced */
  uint32_t max_aborts;      /* of streams within abort_window_ms; 0: none is aborted */
  uint32_t abort_window_ms; /* 0: aborts are not counted */

  /* Alerts of people, by the processes that watch for that; the plugin alerts nobody. */
  bool alerts_idle, alerts_waiting, alerts_critical;
  bool alerts_delivered; /* on the agent's own screen */

  uint32_t event_bytes, message_bytes, pending_per_session;
  uint32_t source_per_minute; /* how many pushes of one source a session takes in a minute; 0: no
                                 limit */
  int64_t dedup_window_ms;
};

#endif
