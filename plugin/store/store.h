/* SPDX-License-Identifier: MIT
 *
 * store/store.h: everything that is durable. Code outside this folder sees sessions, items,
 * deliveries and heads.
 *
 * It is one tree; its keys are (session number, kind of row, n), 13 bytes, big-endian. rows/keys.h
 * lists the kinds. Items are never rewritten: a delivery row says how items ended, the head says
 * which are taken. The store must not know policy, rendering, JSON or the host's clock: times are
 * handed in.
 *
 * Concurrency: any number of processes and threads. Reads see a snapshot. Writers, of all
 * processes, queue at a lock with a time limit (BUSY past it). Every write that another process
 * might care about moves its session's change counter (see changes_read).
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "store/db/wake.h"
#include "values/declaration.h"
#include "values/memory.h"
#include "values/notification.h"
#include "values/rendering.h"
#include "values/run.h"

enum {
  STORE_SCHEMA = DB_LAYOUT,
  STORE_RETAIN_ITEMS = 10000, /* ended items kept for history, a session */
  STORE_RETAIN_PRESSED = 100, /* while the disk is full */
  STORE_RETAIN_DAYS = 30,
  STORE_RETAIN_CLOSED_MS = 86400000, /* how long the rest of a closed session is kept for queries */
};

struct store;

struct store_options {
  const char *directory; /* absolute or relative, NUL-terminated */
  void (*log)(void *context, uint32_t severity, const char *text);
  void *log_context;
  uint32_t create_budget_ms; /* how long opening waits for all processes that open or make it */
  int64_t now_ms;            /* the host's wall clock */
  bool only_reads;           /* opening forgets no rows; now_ms is not used */
  /* The host's randomness: 0, or it failed. NULL: sessions are counted only. */
  int32_t (*random)(void *context, void *buffer, size_t len);
  void *random_context;
};

/* Errors: STORE with a sentence that says what to do, UNSUPPORTED (LMDB: a URL), SCHEMA_NEWER,
 * BUSY, NOMEM. */
int store_open(const struct store_options *options, struct store **ret_store,
               struct tidings_error *error);
void store_note_clean(struct store *store); /* only store_close, or the process's end, may follow */
void store_close(struct store *store);      /* NULL is allowed; no transaction may be open */
const struct owner *store_self(const struct store *store); /* the process that opened it */
/* Returns a number that changes when the store turns out to have gone back in time, or to be
 * another one: then all that this process knows of sessions by their numbers is void. */
uint32_t store_lives(const struct store *store);
/* May builds of the layout before use it too? Then nothing is written that they cannot read. */
bool store_has_older_builds(const struct store *store);
/* The time of the store, while the host's clock says `host_ms`. */
int64_t store_now(const struct store *store, int64_t host_ms);
bool store_owner_alive(struct store *store, const struct owner *owner);
/* Writes the name of the machine that the owner runs on; empty: this machine. */
void store_owner_machine(const struct store *store, const struct owner *owner,
                         char ret_name[OWNER_MACHINE_BYTES]);

/* Reads the store's own random bytes. If it has none yet, stores `fresh` as them. Errors: BUSY,
 * SCHEMA_NEWER, STORE, NOMEM. */
enum { STORE_SECRET_BYTES = 16 };
int store_secret(struct store *store, const uint8_t fresh[STORE_SECRET_BYTES],
                 store_deadline deadline, uint8_t ret_secret[STORE_SECRET_BYTES],
                 struct tidings_error *error);

/* -- rows -------------------------------------------------------------------------------------- */

/* Items first..last are not pending: leased by delivery `delivery`, or ended if that is 0. */
struct taken {
  uint64_t first, last, delivery;
};

enum { FORMERS = 8 };

/* The state of a session without its items. All zero for a session that the store does not know. */
struct head {
  uint64_t generation; /* grows with each write of the head */
  uint64_t watermark;  /* every item below has ended; 0 and 1 both mean none */
  uint64_t floor;      /* the number of the next item is above this, whatever retention deleted */
  uint64_t last_delivery;        /* number of the newest delivery */
  uint64_t dedup_cursor;         /* how far the sweep for old dedup rows got */
  uint64_t epoch;                /* grows with each attachment */
  struct owner owner;            /* pid 0: not attached */
  struct owner formers[FORMERS]; /* living hosts that lost the session to another one and have not
                                    opened it since, oldest first */
  size_t former_count;
  int64_t attached_ms;
  int64_t closed_ms;             /* when it was closed; 0: it was not, or has been attached since */
  struct tidings_span cwd, host; /* as the host said when it opened the session; empty: not said */
  const struct taken *taken;     /* by first, disjoint, all >= watermark */
  size_t taken_count;
  const uint64_t *leased; /* numbers of the deliveries that are leased, ascending */
  size_t leased_count;
  uint64_t outcomes[OUTCOME_COUNT]; /* how many items have ended with each outcome */
  struct run run;
  uint64_t last_transition; /* number of the newest transition */
  uint64_t message_cursor;  /* how far the sweep for ids of forgotten messages got */
  uint64_t preamble; /* number of the delivery that said what blocks are, since the session began or
                        was compacted last; 0: none, or it was rolled back */
};

enum delivery_state {
  DELIVERY_LEASED = 1,
  DELIVERY_COMMITTED = 2,
  DELIVERY_ROLLED_BACK = 3,
  DELIVERY_REWOUND = 4 /* was committed; the transcript does not have the carrier any more */
};
enum delivery_carrier {
  CARRIER_TOOL_RESULT = 1,
  CARRIER_CHAT_REQUEST = 2,
  CARRIER_NONE = 3 /* nothing was shown: removals */,
  CARRIER_CLOSED = 4
};
enum delivery_settled_by {
  SETTLED_BY_NOBODY = 0,
  SETTLED_BY_HOST = 1,
  SETTLED_BY_RESUME = 2,
  SETTLED_BY_RECOVERY = 3,
  SETTLED_ON_RETURN = 4
};

/* The common disposition of items with consecutive numbers. */
struct disposition_range {
  uint64_t first, last, ref;
  uint8_t outcome, reason;
};

struct delivery {
  uint64_t n;
  uint32_t mark; /* random: see delivery_id. 0: of an earlier version, or its row is lost */
  uint64_t epoch;
  int64_t leased_ms, settled_ms;
  uint8_t state, carrier, settled_by;
  uint8_t source; /* chat request: TIDINGS_ORIGIN_* */
  uint64_t after; /* number of the newest item when it was leased: its place among them */
  struct tidings_span call_id, tool;            /* tool result */
  const struct disposition_range *dispositions; /* by first */
  size_t disposition_count;
  const uint64_t *messages; /* numbers of the messages that it carries: of the turn it starts, or
                               steered into it */
  size_t message_count;
  /* Items that were withdrawn while it was leased, as they end if it is rolled back. By first. */
  const struct disposition_range *recalled;
  size_t recalled_count;
  int64_t rewound_ms; /* REWOUND: since when; else 0 */
  struct rendering rendering;
};

/* A step of the run: what happened, and the messages that it changed. */
struct transition_message {
  struct tidings_span id;
  uint8_t state; /* enum message_state */
};
struct transition {
  uint64_t n;
  int64_t time_ms;
  uint8_t event;    /* enum turns_event */
  uint8_t from, to; /* enum run_state */
  bool abort;       /* the stream was asked to stop */
  /* number of the turn of the plugin's own that is offered, runs or ends; 0: none. COLLECTED:
   * number of the session that has the messages now */
  uint64_t system;
  const struct transition_message *messages;
  size_t message_count;
};

/* -- transactions ------------------------------------------------------------------------------ */

struct store_txn;

/* A snapshot. Keep it short: decode what is needed into an arena, then end it. No other transaction
 * may be open on this thread. `scope` says which session it is about, as far as that is known;
 * NULL: any. Errors: BUSY past the deadline, STORE, NOMEM, SCHEMA_NEWER. */
int store_read(struct store *store, const struct db_scope *scope, store_deadline deadline,
               struct store_txn **ret_txn, struct tidings_error *error);
/* See `stamp` and `is_unchanged` in db/remote.h. A store of this machine has no stamps. */
uint64_t store_stamp(const struct store_txn *txn);
bool store_is_unchanged(struct store *store, uint32_t session, uint64_t stamp,
                        store_deadline deadline, bool *ret_has_answer);
/* Begins a write; nobody else writes to the scope until it is over. Errors: those of store_read. */
int store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                struct store_txn **ret_txn, struct tidings_error *error);
/* Makes items of what waits in the inbox. `nameless`: only gives numbers to sessions that nobody
 * has opened, so that lists have them, within half of the time. Errors: BUSY, STORE, NOMEM. */
int store_take_in(struct store *store, bool nameless, store_deadline deadline,
                  struct tidings_error *error);
/* Durable when it returns 0. Any error: nothing was written, unless the text says "outcome
 * unknown". The transaction is over in either case. */
int store_commit(struct store_txn *txn, struct tidings_error *error);
/* May this write with `optimistic` read outdated rows? Then no call is refused because of them.
 */
bool store_may_be_stale(const struct store_txn *txn);
/* Commits a write with `optimistic`. With *ret_outdated and 0 nothing was written, because the
 * session is not as it was read. */
int store_commit_as_read(struct store_txn *txn, bool *ret_outdated, struct tidings_error *error);
void store_end(struct store_txn *txn); /* of a snapshot, or giving up a write; NULL is allowed */

/* The number of a session, or 0 if the store does not know it. */
int session_find(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                 struct tidings_error *error);
/* In a write: finds or adds. */
int session_add(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                struct tidings_error *error);

/* Calls `each` with the name and the number of every session until it returns an error, which is
 * then returned; `name` is borrowed for the call. A damaged row is passed over. */
typedef int (*session_visitor)(void *context, struct tidings_span name, uint32_t number);
int session_scan(struct store_txn *txn, session_visitor each, void *context,
                 struct tidings_error *error);

/* The state on which a plan was made. If it holds in a write, the session's head and the numbers of
 * its items are still as the snapshot had them. */
struct store_mark {
  uint64_t generation;
  struct db_places places;
};
struct store_mark store_mark(const struct store_txn *txn, const struct head *head);
bool store_mark_holds(const struct store_txn *txn, const struct head *head,
                      const struct store_mark *mark);

/* A session without a head reads as a zero one. Arrays are in the arena. */
int head_get(struct store_txn *txn, uint32_t session, struct arena *arena, struct head *ret_head,
             struct tidings_error *error);
/* Makes a head for a session whose head is damaged: all items so far have ended. */
int head_anew(struct store_txn *txn, uint32_t session, struct head *ret_head,
              struct tidings_error *error);
/* Writes `head` with generation + 1 and moves the session's change counter on commit. */
int head_put(struct store_txn *txn, uint32_t session, const struct head *head,
             struct tidings_error *error);

/* The number of the newest item; the head's floor if there is none. */
int item_last(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t *ret_n,
              struct tidings_error *error);

/* Calls `each` for the items first..last in order until it returns an error, which is then
 * returned; skips numbers that are not there. A damaged record comes with its number and an empty
 * message. Text is in the arena; without an arena it is gone when `each` returns. */
typedef int (*item_visitor)(void *context, const struct item *item);
int item_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
              struct arena *arena, item_visitor each, void *context, struct tidings_error *error);
/* NOT_FOUND if there is none. */
int item_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
             struct item *ret_item, struct tidings_error *error);
/* The original of item `n`; zero if it is no copy, is not there or is damaged. */
int item_get_origin(struct store_txn *txn, uint32_t session, uint64_t n, struct origin *ret_origin,
                    struct tidings_error *error);
/* Reads the items that are pending according to the head, by n. Damaged ones have an empty message.
 * Text is not copied, since it may be long: it is valid until the transaction ends or writes. */
int item_pending(struct store_txn *txn, uint32_t session, const struct head *head,
                 struct arena *arena, struct item **ret_items, size_t *ret_count,
                 struct tidings_error *error);
/* The same with a copy of all text in the arena, for those who write what they have read. */
int item_pending_copied(struct store_txn *txn, uint32_t session, const struct head *head,
                        struct arena *arena, struct item **ret_items, size_t *ret_count,
                        struct tidings_error *error);

/* NOT_FOUND if there is none. */
int delivery_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                 struct delivery *ret_delivery, struct tidings_error *error);
/* Reads a delivery that is leased according to `head`. If its row is damaged or lost, it is made
 * from the head, which knows its items; all count as delivered if it is committed. So a bad row
 * never blocks a session. */
int delivery_get_leased(struct store_txn *txn, uint32_t session, const struct head *head,
                        uint64_t n, struct arena *arena, struct delivery *ret_delivery,
                        struct tidings_error *error);
int delivery_put(struct store_txn *txn, uint32_t session, const struct delivery *delivery,
                 struct tidings_error *error);
/* Adds a delivery and its id's row. Errors: BUSY (its mark is taken: lease again), STORE, NOMEM. */
int delivery_add(struct store_txn *txn, uint32_t session, const struct delivery *delivery,
                 struct tidings_error *error);
/* Makes a mark of four random bytes; 0: take other ones, since it is a number up to `last`. */
uint32_t delivery_mark(uint32_t random, uint64_t n, uint64_t last);
/* The upper half of an id is the session's number; the lower half is the delivery's mark, or its
 * number if it has no mark. */
static inline uint64_t delivery_id(uint32_t session, const struct delivery *delivery) {
  return (uint64_t)session << 32 | (delivery->mark ? delivery->mark : delivery->n);
}
/* The number of the delivery that has this id; 0: this store has not given it out, or has forgotten
 * it. Errors: STORE, NOMEM. */
int delivery_find(struct store_txn *txn, uint32_t session, uint64_t id, uint64_t *ret_n,
                  struct tidings_error *error);
/* Calls `each` in order until it returns an error, which is then returned. Skips damaged rows. */
typedef int (*delivery_visitor)(void *context, const struct delivery *delivery);
int delivery_scan(struct store_txn *txn, uint32_t session, struct arena *arena,
                  delivery_visitor each, void *context, struct tidings_error *error);

/* Describes the event for a write that will ask whether it was seen since `since_ms`. */
struct db_event dedup_event(uint32_t session, struct tidings_span source, struct tidings_span id,
                            int64_t since_ms);
/* Has this source + id been seen between the two times? A later time is that of a wrong clock. */
int dedup_seen(struct store_txn *txn, uint32_t session, struct tidings_span source,
               struct tidings_span id, int64_t since_ms, int64_t until_ms, bool *ret_seen,
               struct tidings_error *error);
/* `keep_ms` after `now_ms` it may be forgotten. */
int dedup_put(struct store_txn *txn, uint32_t session, struct tidings_span source,
              struct tidings_span id, int64_t now_ms, int64_t keep_ms, struct tidings_error *error);

/* Counts a notification of `source`. *ret_wait_ms is 0, or how long the current minute still lasts,
 * if the source has sent `limit` in it; then nothing is counted. Errors: STORE, NOMEM. */
int rate_take(struct store_txn *txn, uint32_t session, struct tidings_span source, int64_t now_ms,
              uint32_t limit, int64_t *ret_wait_ms, struct tidings_error *error);

/* -- messages and what the run did: messages.c, transitions.c ---------------------------------- */

/* The number of the message with this id, or 0 if the session never had it. */
int message_find(struct store_txn *txn, uint32_t session, struct tidings_span id, uint64_t *ret_n,
                 struct tidings_error *error);
/* NOT_FOUND if there is none. */
int message_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct message *ret_message, struct tidings_error *error);
/* Reads the messages from `first` on that are not over, belong to the turn, or are orphaned; by n.
 * There is room for `room` more after them. Damaged ones are passed over. */
int message_live(struct store_txn *txn, uint32_t session, uint64_t first, size_t room,
                 struct arena *arena, struct message **ret_messages, size_t *ret_count,
                 struct tidings_error *error);
/* Reads all messages that are still there, also those that are over; by n. Skips damaged ones. */
int message_all(struct store_txn *txn, uint32_t session, struct arena *arena,
                struct message **ret_messages, size_t *ret_count, struct tidings_error *error);
int message_put(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_error *error);
/* Adds a message: its row, its id, its content. Errors: FULL (ids that collide on purpose), STORE,
 * NOMEM. */
int message_add(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_span content, struct tidings_span trigger,
                struct tidings_error *error);
/* A damaged content reads as a sentence that says so: a turn is not held up by it. */
int content_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct tidings_span *ret_content, struct tidings_span *ret_trigger,
                struct tidings_error *error);
int content_put(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_span content,
                struct tidings_span trigger, struct tidings_error *error);

int transition_put(struct store_txn *txn, uint32_t session, const struct transition *transition,
                   struct tidings_error *error);
/* Calls `each` for the transitions from `first` on, as delivery_scan does. */
typedef int (*transition_visitor)(void *context, const struct transition *transition);
int transition_scan(struct store_txn *txn, uint32_t session, uint64_t first, struct arena *arena,
                    transition_visitor each, void *context, struct tidings_error *error);

/* The memory of the producers; zero when there is none. Text is in the arena. */
int memory_get(struct store_txn *txn, uint32_t session, struct arena *arena,
               struct memory *ret_memory, struct tidings_error *error);
int memory_put(struct store_txn *txn, uint32_t session, const struct memory *memory,
               struct tidings_error *error);

/* The declarations of the session's tools; there may be none. Text is in the arena. */
int tools_get(struct store_txn *txn, uint32_t session, struct arena *arena,
              struct declarations *ret_tools, struct tidings_error *error);
int tools_put(struct store_txn *txn, uint32_t session, const struct declarations *tools,
              struct tidings_error *error);

/* In a write that ends the items of `ended`: deletes at most `limit` rows of what is too old or too
 * many, but none of these items. Changes head->floor and dedup_cursor; the caller puts the head. */
int retention_step(struct store_txn *txn, uint32_t session, struct head *head, int64_t now_ms,
                   size_t limit, const struct disposition_range *ended, size_t count,
                   struct tidings_error *error);

/* In a write that is no push, before its commit: forgets some rows of sessions other than `session`
 * (0: of any), whether they are in use or not. */
int store_sweep(struct store_txn *txn, uint32_t session, int64_t now_ms,
                struct tidings_error *error);

/* In a write of its own, on a full disk: deletes some rows of history, whatever their age, but not
 * the newest of a session. The second write after this one can use the space. *ret_count 0: there
 * are no more. */
int store_give_up(struct store_txn *txn, int64_t now_ms, size_t *ret_count,
                  struct tidings_error *error);

/* -- pushing, by group commit ------------------------------------------------------------------ */

struct push {
  struct tidings_span session;
  const struct notification *note;
  const struct origin *origin;    /* of a copy; NULL: it is none */
  struct tidings_span source, id; /* CloudEvents; id empty: no dedup */
  int64_t now_ms;
  int64_t dedup_window_ms;
  uint32_t pending_limit;     /* critical ones may use all of it, others 95 % */
  uint32_t source_per_minute; /* not of critical ones and those never shown; 0: no limit */
  bool rings;                 /* the session's owner, if it has one: see store_ring */
  bool rings_caller; /* push_in: the calling thread too, whose reply is about another session */
};
/* Durable when it returns 0. Callers that wait together are committed together. Errors: BUSY
 * (withdrawn, not stored), FULL, SCHEMA (a kind that its tool has not declared), STATE (silent, and
 * older builds use the store), STORE, SCHEMA_NEWER, NOMEM. *ret_full (or NULL) is written on an
 * error only: the disk is full, and store_give_up may make room. */
int store_push(struct store *store, const struct push *push, store_deadline deadline,
               bool *ret_duplicate, bool *ret_full, struct tidings_error *error);

/* The same in a write of the caller's, which commits it. Looks for no duplicate and remembers none.
 * Errors: FULL, STORE, NOMEM; after any of them the write is to be given up. */
int push_in(struct store_txn *txn, const struct push *push, struct tidings_error *error);

/* -- the change counter: has anything changed? ------------------------------------------------- */

/* The counter of a session: even when at rest, odd during a commit or if its writer died. If it is
 * even and as before a snapshot, nothing was committed for that session since. No system call. */
const _Atomic uint32_t *store_changes(struct store *store, uint32_t session);
static inline uint32_t changes_read(const _Atomic uint32_t *changes) {
  return atomic_load_explicit(changes, memory_order_acquire);
}

/* -- the phase: what a running turn does, without a commit ------------------------------------- */

/* The phase of the session's turn under this epoch, for all processes of the machine; it wins over
 * the head's. Sessions share a word by their numbers: *ret_word. -1: it is another session's. */
int store_phase(const struct store *store, uint32_t session, uint64_t epoch, uint64_t *ret_word);
/* Needs the session's lock. False: the phase has to be committed, because the word is another
 * session's or a later owner's, or because other machines use the store and the owner is another
 * process. */
bool store_phase_set(struct store *store, uint32_t session, uint64_t epoch,
                     const struct owner *owner, unsigned phase);
/* After a commit of `phase`; -1: no turn runs. No effect if the word is not `word` any more. */
void store_phase_replace(struct store *store, uint32_t session, uint64_t epoch, uint64_t word,
                         int phase);

/* -- the calls that run, without a commit ------------------------------------------------------ */

/* Calls `visit` with the calls, under a lock for which nobody waits long. False: they are not
 * there, or have to be committed: as with store_phase_set, or because an id and a tool's name are
 * too long, or a process was stopped with the lock. Calls of a dead owner ran when it died. */
bool store_calls(struct store *store, const struct calls_of *whose, calls_visitor visit,
                 void *context);
/* May there be any calls? Takes no lock. */
bool store_calls_any(const struct store *store, uint32_t session);
/* Forgets all calls, for an owner that could not note that one has ended. Takes no lock. */
void store_calls_forget(struct store *store, uint32_t session);
/* Do all processes of the store share that memory? If not: session/publish.h. */
bool store_is_of_one_machine(const struct store *store);

/* -- the ring: a process must act now ---------------------------------------------------------- */

/* In a write that changes `session`, whose head says that `owner` has it: when the write is
 * committed, wakes the processes that wait for that owner, but not the calling thread if it is the
 * one that waits. Without an owner it has no effect. See wake.h for the other side. */
void store_ring(struct store_txn *txn, uint32_t session, const struct owner *owner);

#endif
