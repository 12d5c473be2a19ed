/* SPDX-License-Identifier: MIT
 *
 * sim/model/act.h: an act is one thing that a process does, or that happens to it, with all values.
 * Both the request to the plugin and the model's step are made from it.
 */
#ifndef HOSTSIM_SIM_MODEL_ACT_H
#define HOSTSIM_SIM_MODEL_ACT_H

#include <stdbool.h>
#include <stdint.h>

/* The processes: two hosts that may both want the session, and one that only pushes and submits. */
enum peer { PEER_HOST, PEER_RIVAL, PEER_PRODUCER, PEERS };

enum act_kind {
  ACT_NOTE, /* from here on, events that make notifications */
  ACT_POLLED,
  ACT_SUBAGENT,
  ACT_SUBMIT, /* messages */
  ACT_CANCEL,
  ACT_EDIT,
  ACT_MOVE,
  ACT_REDIRECT,
  ACT_STOP,    /* any process may send it */
  ACT_STARTED, /* turns */
  ACT_DECLINED,
  ACT_FINISHED,
  ACT_ABORTED,
  ACT_FAILED,
  ACT_RETRYING,
  ACT_WAITING,
  ACT_RESUME,
  ACT_STREAM_STARTED, /* phases */
  ACT_STREAM_FINISHED,
  ACT_TOOLS_STARTED,
  ACT_TOOLS_FINISHED,
  ACT_OPENED, /* the session's life */
  ACT_RESUMED,
  ACT_REWOUND,
  ACT_FORKED,
  ACT_COMPACTING,
  ACT_COMPACTED,
  ACT_CLOSED,
  ACT_WAKE,
  ACT_TOOL_RESULT, /* from here on, no events: hooks, settling, and others */
  ACT_CHAT_REQUEST,
  ACT_SETTLE,
  ACT_CONFIGURE,
  ACT_CLOCK, /* from here on, acts that no process sends */
  ACT_SWAP,
  ACT_RESTART,
  ACT_CRASH,
  ACT_KINDS
};

static inline bool act_is_event(enum act_kind kind) { return kind <= ACT_WAKE; }
static inline bool act_is_notification(enum act_kind kind) { return kind <= ACT_SUBAGENT; }
static inline bool act_is_message(enum act_kind kind) {
  return kind >= ACT_SUBMIT && kind <= ACT_REDIRECT;
}

static inline bool act_is_hook(enum act_kind kind) {
  return kind == ACT_TOOL_RESULT || kind == ACT_CHAT_REQUEST;
}

static inline bool act_names_deliveries(enum act_kind kind) {
  return kind == ACT_RESUMED || kind == ACT_REWOUND;
}

enum activation { PASSIVE, ASKS_IDLE, INTERRUPTS, SILENT };

/* How notifications are shown: a preset, perhaps with another format. All looks show the same
 * notifications, each on its own line. */
struct sim_look {
  const char *preset, *format;
  bool has_format; /* the format is configured besides the preset */
  bool append;     /* after the content; false: before it */
  enum sim_preamble { SAID_ALWAYS, SAID_FIRST, SAID_NEVER, SAID_CHOICES } preamble;
};
enum { LOOKS = 16 };
extern const struct sim_look act_looks[LOOKS];

enum sim_order { BY_LEVEL, BY_TIME, BY_NEWEST, ORDERS };
extern const char *const act_order_names[ORDERS];
extern const char *const act_preamble_names[SAID_CHOICES];

/* The settings that a schedule changes; the others have their defaults. */
struct sim_settings {
  bool coalescing, hold, force;
  uint8_t filter;   /* 0: none; FILTER_* */
  uint8_t look;     /* an index of act_looks */
  uint8_t order;    /* enum sim_order */
  uint8_t preamble; /* enum sim_preamble; SAID_CHOICES: the preset's */
  uint32_t settle_delay_ms, max_auto_turns, max_aborts, abort_window_ms, max_items, pending_limit;
  uint32_t age_after_ms; /* items show their age when they are older; 0: none does */
};
enum { FILTER_NONE, FILTER_CI, FILTER_TOOL_FAILED, FILTER_ALL, FILTERS };

/* Message ids are numbers here: n stands for "mN". Numbers from SYSTEM_ID on stand for the plugin's
 * own turns, in the order in which they were seen. */
/* The words of a waiting turn are the kind for which it waits, if the host gave no others. */
#define WORDS_KIND UINT32_MAX

enum { SYSTEM_ID = 10000, UNKNOWN_ID = 9999, ACT_IDS = 64 };

struct act {
  enum act_kind kind;
  enum peer peer;
  uint8_t seen;     /* events: a CloudEvents id from a small pool, so that ids repeat; 0: none */
  uint32_t serial;  /* different in each act; texts contain it */
  uint32_t dies_in; /* the process is killed inside this commit of the call; 0: it is not */

  uint8_t note; /* ACT_NOTE: which of the kinds in notes[] */
  uint8_t level, key, handle;
  enum activation activation;
  bool caused_by;
  int64_t ttl_ms;
  int64_t due_ms; /* 0: at once */

  int id;     /* messages: the id */
  bool steer; /* messages and ACT_REDIRECT; false: queue */
  bool resume, trigger;
  int before; /* ACT_MOVE; 0: last */

  uint32_t room; /* hooks: bytes; 0: no bound */

  bool has_ids; /* turns, ACT_CHAT_REQUEST */
  unsigned id_count;
  int ids[ACT_IDS];
  unsigned attempt;
  int64_t at_ms; /* ACT_STARTED, ACT_ABORTED; 0: the event does not say */
  bool has_words;

  bool takeover; /* ACT_OPENED, ACT_RESUMED */
  bool rewound;  /* ACT_RESUMED */
  bool has_deliveries;
  unsigned delivery_count;
  uint64_t deliveries[ACT_IDS]; /* as the plugin names them */
  uint64_t delivery;            /* ACT_SETTLE */
  bool committed;
  bool no_reply; /* ACT_SETTLE: without a reply, and so without actions */

  struct sim_settings settings; /* ACT_CONFIGURE */
  int64_t clock_ms;             /* ACT_CLOCK: how far the clock jumps */
  bool in_place;                /* ACT_RESTART: only the instance is closed and opened again */
};

static inline bool act_names_delivery(const struct act *act, uint64_t public_id) {
  for (unsigned i = 0; i < act->delivery_count; i++)
    if (act->deliveries[i] == public_id && public_id != 0) return true;
  return false;
}

/* No line fits into ROOM_FOR_NONE; any single line fits into ROOM_FOR_ONE. */
enum { ROOM_FOR_NONE = 4, ROOM_FOR_ONE = 700 };

enum { NAME_SIZE = 64, TEXT_SIZE = 256, NOTE_FORMS = 5, MESSAGE_FORMS = 2 };

/* Make the texts, of one line or several, some of them hostile. No two serials have the same
 * text. */
void act_text_of_note(uint32_t serial, char buffer[TEXT_SIZE]);
void act_text_of_message(uint32_t serial, char buffer[TEXT_SIZE]);

/* The kinds of notifications that are pushed. */
struct note_kind {
  const char *source, *name;
};
enum { NOTE_KINDS = 5, NOTE_SUBAGENT = NOTE_KINDS };
extern const struct note_kind act_note_kinds[NOTE_KINDS + 1];

extern const char *const act_level_names[4];
extern const char *const act_peer_names[PEERS];
extern const char *const act_event_types[ACT_WAKE + 1];

#endif
