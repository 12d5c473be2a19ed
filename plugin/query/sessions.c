/* SPDX-License-Identifier: MIT
 *
 * query/sessions.c: the query `sessions`: it lists the sessions that the store knows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "query/answer.h"
#include "session/ledger.h"
#include "session/stored_run.h"
#include "store/list.h"

struct entry {
  struct tidings_span id;
  uint32_t number;
  struct head head; /* read without its ranges */
  bool alive;
  uint64_t pending;
  struct db_waiting waiting; /* what waits in the inbox of a database, beside the items */
};

struct listing {
  const struct request *request;
  struct entry *entries;
  size_t count, capacity;
  struct arena *arena;
  struct tidings_error *error;
};

/* -- a session's name -------------------------------------------------------------------------- */

struct naming {
  uint64_t number;
  struct tidings_span name;
  struct arena *arena;
};

static int compare_number(void *context, struct tidings_span name, uint32_t number) {
  struct naming *naming = context;
  if (number != naming->number) return 0;
  return arena_copy(naming->arena, name, &naming->name) ? TIDINGS_E_NOMEM : 0;
}

int query_session_name(struct question *question, uint64_t number, struct tidings_span *ret_name,
                       struct tidings_error *error) {
  struct naming naming = {.number = number, .arena = &question->op.arena};
  int code = session_scan(question->op.txn, compare_number, &naming, error);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory to name a session");
  if (!code) *ret_name = naming.name;
  return code;
}

/* -- one of the list --------------------------------------------------------------------------- */

/* A session with a damaged head is listed without an owner: only closing it helps, and whoever
 * closes it has to see it first. */
static int describe(struct question *question, struct entry *entry, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY; /* for the ranges, which can be long */
  uint64_t last = 0;
  int code = head_get(question->op.txn, entry->number, &arena, &entry->head, error);
  if (code == TIDINGS_E_STORE) {
    entry->head = (struct head){.watermark = 1};
    code = 0;
  } else if (!code) {
    code = item_last(question->op.txn, entry->number, &entry->head, &last, error);
    if (!code) entry->pending = ledger_pending(&entry->head, last);
  }
  if (!code && (arena_copy(&question->op.arena, entry->head.cwd, &entry->head.cwd) ||
                arena_copy(&question->op.arena, entry->head.host, &entry->head.host)))
    code = fail(error, TIDINGS_E_NOMEM, "no memory to list the sessions");
  if (!entry->head.owner.pid) entry->head.attached_ms = 0;
  entry->alive = !code && query_owner_alive(question, &entry->head.owner);
  arena_free(&arena);
  entry->waiting = session_waiting(question->op.txn, entry->number);
  for (int i = 0; i < DB_LEVELS; i++) entry->pending += entry->waiting.levels[i];
  return code;
}

/* Only its name shows that a session is a mailbox. */
static bool is_mailbox(struct tidings_span id) {
  static const char *const kinds[] = {"box:", "folder:", "repo:"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t len = strlen(kinds[i]);
    if (id.len > len && memcmp(id.ptr, kinds[i], len) == 0) return true;
  }
  return false;
}

static int list_session(void *context, struct tidings_span id, uint32_t number) {
  struct listing *listing = context;
  const struct request *request = listing->request;
  if (request->chooses_mailboxes && request->mailboxes != is_mailbox(id)) return 0;
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? listing->capacity * 2 : 64;
    struct entry *larger = realloc(listing->entries, capacity * sizeof *larger);
    if (!larger) return fail(listing->error, TIDINGS_E_NOMEM, "no memory to list the sessions");
    listing->entries = larger;
    listing->capacity = capacity;
  }
  struct entry *entry = &listing->entries[listing->count++];
  *entry = (struct entry){.number = number};
  return arena_copy(listing->arena, id, &entry->id)
             ? fail(listing->error, TIDINGS_E_NOMEM, "no memory to list the sessions")
             : 0;
}

static int take_turn_use(void *context, const struct transition *transition) {
  int64_t *used_ms = context;
  switch (transition->event) {
  case TURNS_CHAT_REQUEST:
  case TURNS_STARTED:
  case TURNS_STARTED_OWN:
  case TURNS_TOOL_RESULT:
  case TURNS_FINISHED:
  case TURNS_ABORTED:
  case TURNS_FAILED:
    if (transition->time_ms > *used_ms) *used_ms = transition->time_ms;
    return 0;
  default: return 0; /* these come from producers, or from a host that attached */
  }
}

/* Returns when the session's host last began or ended a turn, or handed something to the model. It
 * reads only the newest rows, which are kept anyway. 0: never, or long ago. */
static int find_use(struct question *question, const struct entry *entry, int64_t *ret_ms,
                    struct tidings_error *error) {
  enum { LOOKED_AT = 16 };
  const struct head *head = &entry->head;
  struct store_txn *txn = question->op.txn;
  struct arena arena = ARENA_EMPTY;
  int64_t now_ms = question->op.now_ms, started_ms = head->run.started_ms; /* by its host's clock */
  int64_t used_ms = started_ms < now_ms ? started_ms : now_ms;
  uint64_t first = head->last_transition > LOOKED_AT ? head->last_transition - LOOKED_AT : 0;
  int code = head->last_transition ? transition_scan(txn, entry->number, first + 1, &arena,
                                                     take_turn_use, &used_ms, error)
                                   : 0;
  for (uint64_t n = head->last_delivery, i = 0; !code && n && i < LOOKED_AT; n--, i++) {
    struct delivery delivery;
    if (delivery_get(txn, entry->number, n, &arena, &delivery, NULL)) continue; /* forgotten */
    bool shown =
        delivery.carrier == CARRIER_TOOL_RESULT || delivery.carrier == CARRIER_CHAT_REQUEST;
    if (!shown) continue;
    if (delivery.leased_ms > used_ms) used_ms = delivery.leased_ms;
    break;
  }
  arena_free(&arena);
  if (!code) *ret_ms = used_ms;
  return code;
}

static int by_attachment(const void *a, const void *b) {
  const struct entry *one = a, *other = b;
  if (one->alive != other->alive) return one->alive ? -1 : 1;
  if (one->head.attached_ms != other->head.attached_ms)
    return one->head.attached_ms > other->head.attached_ms ? -1 : 1;
  return one->number > other->number ? -1 : one->number < other->number;
}

/* -- details: a look at each message and each pending item ------------------------------------- */

struct details {
  const char *state; /* of its run */
  uint64_t ended;    /* items that the head counts as pending, and the first host will end */
  uint64_t queued, levels[LEVEL_COUNT];
};

static int count_details(struct op *op, struct details *details, struct tidings_error *error) {
  struct stored_run stored = {.from = 0};
  struct item *items = NULL;
  size_t all = 0;
  int code = op_get_head(op, error);
  if (!code) code = stored_run_load(op, &stored, NULL, 0, NULL, error);
  if (!code) code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &all, error);
  if (code) return code;
  size_t count = query_leave_out_ended(items, all);
  details->ended = all - count;
  details->state = run_state_name(stored.turns.run.state);
  for (size_t i = 0; i < stored.turns.count; i++)
    details->queued += !message_is_over(stored.turns.messages[i].state);
  for (size_t i = 0; i < count; i++) details->levels[items[i].note.level]++;
  return 0;
}

/* Writes "pending" too. A damaged session has no details but its state. */
static int write_details(struct question *question, const struct entry *entry,
                         struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct details details = {.state = NULL};
  struct op op = question->op; /* the same snapshot, and memory of its own */
  op.session = entry->number;
  op.known = NULL;
  op.arena = (struct arena)ARENA_EMPTY;
  int code = count_details(&op, &details, error);
  arena_free(&op.arena);
  if (code && code != TIDINGS_E_STORE) return code;
  if (code) details = (struct details){.state = "damaged"};
  json_put_u64(writer, "pending", entry->pending - details.ended);
  json_put_text(writer, "state", details.state);
  json_put_u64(writer, "queued", details.queued);
  json_open(writer, "by_level", '{');
  for (unsigned i = 0; i < LEVEL_COUNT; i++)
    json_put_u64(writer, level_name(i), details.levels[i] + entry->waiting.levels[i]);
  json_close(writer, '}');
  return 0;
}

static int write_entry(struct question *question, const struct entry *entry,
                       struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  const struct head *head = &entry->head;
  char machine[OWNER_MACHINE_BYTES];
  int64_t used_ms = 0;
  int code = find_use(question, entry, &used_ms, error);
  if (code) return code;
  json_open(writer, NULL, '{');
  json_put_string(writer, "session", entry->id);
  json_put_string(writer, "cwd", head->cwd);
  json_put_string(writer, "host", head->host);
  if (head->owner.pid) json_put_u64(writer, "pid", head->owner.pid);
  else json_put_text(writer, "pid", NULL);
  json_put_bool(writer, "alive", entry->alive);
  store_owner_machine(question->op.instance->store, &head->owner, machine);
  if (machine[0]) json_put_text(writer, "machine", machine);
  if (head->owner.pid) json_put_time(writer, "since", head->attached_ms);
  else json_put_text(writer, "since", NULL);
  if (head->closed_ms) json_put_time(writer, "closed", head->closed_ms);
  if (used_ms) json_put_time(writer, "used", used_ms);
  else json_put_text(writer, "used", NULL);
  if (question->request->details) code = write_details(question, entry, error);
  else json_put_u64(writer, "pending", entry->pending);
  json_close(writer, '}');
  return code;
}

/* Lists all sessions in the order of attachment, or a page of them in the order of the store. A
 * page that is the whole list is sorted too. */
static int list(struct question *question, struct listing *listing, uint64_t *ret_next,
                struct tidings_error *error) {
  const struct request *request = question->request;
  int code = session_page(question->op.txn, request->in_pages ? request->place : 0,
                          request->in_pages ? request->limit : SIZE_MAX, list_session, listing,
                          ret_next, error);
  for (size_t i = 0; !code && i < listing->count; i++)
    code = describe(question, &listing->entries[i], error);
  bool is_all = !request->in_pages || (!request->place && !*ret_next);
  if (!code && listing->count && is_all)
    qsort(listing->entries, listing->count, sizeof *listing->entries, by_attachment);
  return code;
}

static void write_end_of_page(struct json_writer *writer, uint64_t next) {
  char text[24];
  (void)snprintf(text, sizeof text, "%llu", (unsigned long long)next);
  json_put_text(writer, "next", next ? text : NULL);
}

int query_sessions(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  const struct request *request = question->request;
  struct listing listing = {.request = request, .arena = &question->op.arena, .error = error};
  uint64_t next = 0;
  int code = list(question, &listing, &next, error);
  if (!code) {
    if (request->in_pages) write_end_of_page(writer, next);
    else json_put_u64(writer, "total", listing.count);
    json_open(writer, "sessions", '[');
    for (size_t i = 0; !code && i < listing.count && i < request->limit; i++)
      code = write_entry(question, &listing.entries[i], error);
    json_close(writer, ']');
  }
  free(listing.entries);
  return code;
}
