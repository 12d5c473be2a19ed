/* SPDX-License-Identifier: MIT
 *
 * sim/model/act.h: one thing that one of the processes does, or that befalls it, with everything
 * said: what is sent to the plugin and what the model does are both read from it. Knows neither.
 */
#ifndef HOSTSIM_SIM_MODEL_ACT_H
#define HOSTSIM_SIM_MODEL_ACT_H

#include <stdbool.h>
#include <stdint.h>

/* The processes: two hosts that may both want the session, and one that only pushes and submits. */
enum peer { PEER_HOST, PEER_RIVAL, PEER_PRODUCER, PEERS };

enum act_kind {
  ACT_NOTE, /* what makes notifications */
  ACT_POLLED,
  ACT_SUBAGENT,
  ACT_SUBMIT, /* messages */
  ACT_CANCEL,
  ACT_EDIT,
  ACT_MOVE,
  ACT_REDIRECT,
  ACT_STOP,    /* anybody's, too */
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
  ACT_TOOL_RESULT, /* no event: the hooks, settling, the rest */
  ACT_CHAT_REQUEST,
  ACT_SETTLE,
  ACT_CONFIGURE,
  ACT_CLOCK, /* what no process sends */
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

/* How notifications are shown: by a preset, whose format another may take the place of. Which of
 * them are shown, and that each has a line of its own, is the same in all. */
struct sim_look {
  const char *preset, *format;
  bool has_format; /* it is configured beside the preset */
  bool append;     /* after the carrier's own text; else in front of it */
  enum sim_preamble { SAID_ALWAYS, SAID_FIRST, SAID_NEVER, SAID_CHOICES } preamble;
};
enum { LOOKS = 16 };
extern const struct sim_look act_looks[LOOKS];

enum sim_order { BY_LEVEL, BY_TIME, BY_NEWEST, ORDERS };
extern const char *const act_order_names[ORDERS];
extern const char *const act_preamble_names[SAID_CHOICES];

/* The part of the configuration that a schedule changes; the rest stays as it is by default. */
struct sim_settings {
  bool coalescing, hold, force;
  uint8_t filter;   /* 0: none; FILTER_* */
  uint8_t look;     /* of act_looks */
  uint8_t order;    /* enum sim_order */
  uint8_t preamble; /* enum sim_preamble; SAID_CHOICES: the preset's */
  uint32_t settle_delay_ms, max_auto_turns, max_aborts, abort_window_ms, max_items, pending_limit;
  uint32_t age_after_ms; /* what is older says so; 0: nothing does */
};
enum { FILTER_NONE, FILTER_CI, FILTER_TOOL_FAILED, FILTER_ALL, FILTERS };

/* Message ids are numbers here: n is "mN"; from SYSTEM_ID on they are those of the plugin's own
 * turns, in the order in which they were seen. */
/* The words of a turn that waits are what it waits for, if nothing else was said. */
#define WORDS_KIND UINT32_MAX

enum { SYSTEM_ID = 10000, UNKNOWN_ID = 9999, ACT_IDS = 64 };

struct act {
  enum act_kind kind;
  enum peer peer;
  uint8_t seen;     /* events: a CloudEvents id of a small pool, so that it comes again; 0: none */
  uint32_t serial;  /* differs from act to act: texts are made of it */
  uint32_t dies_in; /* the process is killed inside this commit of the call; 0: it is not */

  uint8_t note; /* ACT_NOTE: which of the kinds in notes[] */
  uint8_t level, key, handle;
  enum activation activation;
  bool caused_by;
  int64_t ttl_ms;
  int64_t due_ms; /* 0: at once */

  int id;     /* messages: which */
  bool steer; /* also ACT_REDIRECT: else queue */
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
  bool no_reply; /* ACT_SETTLE: the caller takes none, and so is asked for nothing */

  struct sim_settings settings; /* ACT_CONFIGURE */
  int64_t clock_ms;             /* ACT_CLOCK: by how much it jumps */
  bool in_place; /* ACT_RESTART: the process stays, only its instance is closed and opened again */
};

static inline bool act_names_delivery(const struct act *act, uint64_t public_id) {
  for (unsigned i = 0; i < act->delivery_count; i++)
    if (act->deliveries[i] == public_id && public_id != 0) return true;
  return false;
}

/* In the one not even a line fits, in the other each that is alone. */
enum { ROOM_FOR_NONE = 4, ROOM_FOR_ONE = 700 };

enum { NAME_SIZE = 64, TEXT_SIZE = 256, NOTE_FORMS = 5, MESSAGE_FORMS = 2 };

/* The texts: they have one line or several, and are harmless or not. No two serials have the same
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
