/* SPDX-License-Identifier: MIT
 *
 * store/maintenance_postgres/copy.c: writes the store of a database to a file of rows, and makes a
 * store from such a file. A store is made in a single transaction, which reads all rows back before
 * it commits.
 */
#include "store/db/postgres/copy.h"
#include "common/error.h"
#include "common/utf8.h"
#include "store/db/postgres/tables.h"
#include "store/dump/dump.h"
#include "store/maintenance/maintenance.h"

enum { KINDS_OF_ROWS = 16, TAKE_IN_ROUNDS = 100000 };

/* -- a file of a store ------------------------------------------------------------------------- */

struct looking {
  struct store *store;
  struct store_txn *txn;
  struct tidings_error *error;
};

static int check_owner(void *context, struct tidings_span name, uint32_t number) {
  const struct looking *looking = context;
  struct arena arena = ARENA_EMPTY;
  struct head head;
  int code = head_get(looking->txn, number, &arena, &head, looking->error);
  if (!code && head.owner.pid && store_owner_alive(looking->store, &head.owner))
    code = fail(looking->error, TIDINGS_E_STATE,
                "store %s is in use: session %s is attached to process %u; end that process first",
                db_place(looking->store->db), quote(name).text, head.owner.pid);
  arena_free(&arena);
  return code;
}

static int check_owners(struct store *store, struct tidings_error *error) {
  struct looking looking = {.store = store, .error = error};
  int code = store_read(store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &looking.txn, error);
  if (code) return code;
  code = session_scan(looking.txn, check_owner, &looking, error);
  store_end(looking.txn);
  return code;
}

static int note_any(void *context, struct tidings_span name) {
  (void)name;
  *(bool *)context = true;
  return 0;
}

/* Turns the pushes that wait into notifications, as every host does. */
static int take_in_all(struct store *store, struct tidings_error *error) {
  bool any = true;
  int code = 0;
  for (int round = 0; !code && any && round < TAKE_IN_ROUNDS; round++) {
    any = false;
    code = db_remote->inbox_sessions(store->db, false, store_deadline_in(MAINTENANCE_BUDGET_MS),
                                     note_any, &any, error);
    if (!code && any)
      code = store_take_in(store, false, store_deadline_in(MAINTENANCE_BUDGET_MS), error);
  }
  return code;
}

static int prepare_dump(const char *from, struct tidings_error *error) {
  const struct store_options options = {
      .directory = from, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct store *store = NULL;
  int code = store_open(&options, &store, error);
  if (code) return tables_why(from, code, error);
  code = check_owners(store, error);
  if (!code) code = take_in_all(store, error);
  store_close(store);
  return code;
}

struct dumping {
  struct dump_writer writer;
  struct maintenance_report report;
  struct tidings_error *error;
};

static void count_row(struct maintenance_report *report, const struct db_key *key) {
  report->rows++;
  report->sessions += key->bytes[4] == ROW_NAME;
  report->notifications += key->bytes[4] == ROW_ITEM;
  report->messages += key->bytes[4] == ROW_MESSAGE;
}

static int dump_one(void *context, const struct db_key *key, struct tidings_span value) {
  struct dumping *dumping = context;
  if (!record_format(key, value))
    return fail(dumping->error, TIDINGS_E_STORE,
                "the store has a row with a wrong checksum (kind %u, number %llu of session number "
                "%u); restore it from the backup of its server",
                key->bytes[4], (unsigned long long)row_key_n(key->bytes),
                row_key_session(key->bytes));
  count_row(&dumping->report, key);
  dump_row(&dumping->writer, key, value);
  return 0;
}

static int dump_seen(void *context, const struct pg_copy_event *event) {
  struct dumping *dumping = context;
  const struct dump_event seen = {.session = event->session,
                                  .time_ms = event->time_ms,
                                  .keep_ms = event->keep_ms,
                                  .source = event->source,
                                  .id = event->id};
  return dump_event(&dumping->writer, &seen, dumping->error);
}

int maintenance_dump(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error) {
  struct dumping dumping = {.report.layout = DB_LAYOUT, .error = error};
  struct pg_copy *copy = NULL;
  uint64_t pushed = 0;
  int code = prepare_dump(from, error);
  if (!code) code = dump_begin(&dumping.writer, to, error);
  if (!code) code = pg_copy_read(from, &copy, error);
  if (!code) code = pg_copy_inbox(copy, &pushed, error);
  if (!code && pushed)
    code = fail(error, TIDINGS_E_STATE,
                "the store is in use: notifications are pushed to it; end its producers first");
  if (!code) code = pg_copy_rows(copy, dump_one, &dumping, error);
  if (!code) code = pg_copy_events(copy, dump_seen, &dumping, error);
  code = pg_copy_end(copy, code, error);
  code = dump_finish(&dumping.writer, code, error);
  if (!code) *ret_report = dumping.report;
  return code;
}

/* -- a store of a file: its rows --------------------------------------------------------------- */

static int load_rows(struct dump_reader *reader, struct pg_copy *copy,
                     struct maintenance_report *report, struct tidings_error *error) {
  struct dump_entry entry = {.kind = DUMP_ROW};
  int code = 0;
  while (!code && entry.kind == DUMP_ROW) {
    code = dump_next(reader, &entry, error);
    if (code || entry.kind != DUMP_ROW) continue;
    count_row(report, &entry.key);
    code = pg_copy_put(copy, &entry.key, entry.value, error);
  }
  return code ? code : pg_copy_put_done(copy, error);
}

/* -- what the engine keeps beside the rows ------------------------------------------------ */

/* The session whose rows are being read. */
struct passing {
  struct pg_copy *copy;
  uint32_t session; /* 0: none */
  struct arena arena;
  bool has_head;
  struct head head;
  struct declarations tools;
  uint64_t newest[KINDS_OF_ROWS]; /* row of each kind */
};

static void list_floors(const struct passing *passing, uint64_t floors[KINDS_OF_ROWS]) {
  struct head_floor ended[HEAD_FLOORS];
  memset(floors, 0, KINDS_OF_ROWS * sizeof *floors);
  head_floors(&passing->head, ended);
  for (int i = 0; i < HEAD_FLOORS; i++) {
    uint64_t newest = passing->newest[ended[i].kind];
    floors[ended[i].kind] = ended[i].n < newest ? ended[i].n : newest;
  }
}

static int finish_session(struct passing *passing, struct tidings_error *error) {
  const struct head none = {.watermark = 1};
  struct buffer tools = BUFFER_EMPTY;
  uint64_t floors[KINDS_OF_ROWS], last = passing->newest[ROW_ITEM];
  if (!passing->session) return 0;
  if (!passing->has_head) passing->head = none;
  if (last < passing->head.floor) last = passing->head.floor;
  list_floors(passing, floors);
  if (passing->tools.count) tools_text(&passing->tools, &tools);
  struct db_noted noted = head_noted(&passing->head, last);
  int code = tools.failed ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's tools")
                          : pg_copy_session(passing->copy, passing->session, &noted,
                                            buffer_view(&tools), floors, error);
  buffer_free(&tools);
  return code;
}

static int begin_session(struct passing *passing, uint32_t session, struct tidings_error *error) {
  int code = finish_session(passing, error);
  arena_free(&passing->arena);
  *passing = (struct passing){.copy = passing->copy, .session = session, .arena = ARENA_EMPTY};
  return code;
}

static int pass_name(struct passing *passing, const struct dump_entry *entry,
                     struct tidings_error *error) {
  struct tidings_span name;
  uint32_t number;
  if (!session_decode(&entry->key, entry->value, &name, &number))
    return row_damaged(error, "the session's name", 0, row_key_n(entry->key.bytes));
  return pg_copy_name(passing->copy, number, name, error);
}

static int pass_head(struct passing *passing, const struct dump_entry *entry,
                     struct tidings_error *error) {
  struct record_reader reader;
  struct tidings_span copy;
  bool no_memory = arena_copy(&passing->arena, entry->value, &copy);
  passing->has_head = !no_memory && record_open(&reader, &entry->key, copy) &&
                      head_decode(&reader, &passing->arena, &passing->head, &no_memory);
  if (passing->has_head) return 0;
  return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's head")
                   : row_damaged(error, "head", passing->session, 0);
}

static int pass_tools(struct passing *passing, const struct dump_entry *entry,
                      struct tidings_error *error) {
  struct tidings_span copy;
  return arena_copy(&passing->arena, entry->value, &copy) ||
                 tools_decode(&entry->key, copy, &passing->arena, &passing->tools)
             ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's tools")
             : 0;
}

/* A database cannot hold other texts, so no push to it can have such an id. */
static bool is_text(struct tidings_span text) {
  return utf8_valid(text) && !(text.len && memchr(text.ptr, '\0', text.len));
}

static struct pg_copy_event event_of(const struct dump_event *event) {
  return (struct pg_copy_event){.session = event->session,
                                .time_ms = event->time_ms,
                                .keep_ms = event->keep_ms,
                                .source = event->source,
                                .id = event->id};
}

static int pass_event(struct passing *passing, const struct dump_event *event,
                      struct tidings_error *error) {
  const struct pg_copy_event seen = event_of(event);
  return is_text(event->source) && is_text(event->id) ? pg_copy_see(passing->copy, &seen, error)
                                                      : 0;
}

static int pass_row(struct passing *passing, const struct dump_entry *entry,
                    struct tidings_error *error) {
  uint32_t session = row_key_session(entry->key.bytes);
  uint8_t kind = entry->key.bytes[4];
  struct dump_event event;
  int code = session == passing->session ? 0 : begin_session(passing, session, error);
  if (code) return code;
  if (kind < KINDS_OF_ROWS) passing->newest[kind] = row_key_n(entry->key.bytes);
  switch (kind) {
  case ROW_NAME: return pass_name(passing, entry, error);
  case ROW_HEAD: return pass_head(passing, entry, error);
  case ROW_TOOLS: return pass_tools(passing, entry, error);
  case ROW_DEDUP:
    return dump_event_of(&entry->key, entry->value, &event) ? pass_event(passing, &event, error)
                                                            : 0;
  default: return 0;
  }
}

static int load_sessions(struct dump_reader *reader, struct pg_copy *copy,
                         struct tidings_error *error) {
  struct passing passing = {.copy = copy, .arena = ARENA_EMPTY};
  struct dump_entry entry = {.kind = DUMP_ROW};
  int code = dump_rewind(reader, error);
  while (!code && entry.kind != DUMP_END) {
    code = dump_next(reader, &entry, error);
    if (!code && entry.kind == DUMP_ROW) code = pass_row(&passing, &entry, error);
    if (!code && entry.kind == DUMP_EVENT) code = pass_event(&passing, &entry.event, error);
  }
  if (!code) code = finish_session(&passing, error);
  arena_free(&passing.arena);
  return code;
}

/* -- reading it back --------------------------------------------------------------------------- */

struct verifying {
  struct dump_reader *reader;
  struct tidings_error *error;
};

static int refuse_row(const struct db_key *key, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE,
              "the copy is not the same: row %llu of kind %u of session number %u; nothing was "
              "stored",
              (unsigned long long)row_key_n(key->bytes), key->bytes[4],
              row_key_session(key->bytes));
}

static int verify_row(void *context, const struct db_key *key, struct tidings_span value) {
  const struct verifying *verifying = context;
  struct dump_entry entry;
  int code = dump_next(verifying->reader, &entry, verifying->error);
  if (code) return code;
  bool same = entry.kind == DUMP_ROW && memcmp(key, &entry.key, sizeof *key) == 0 &&
              span_equal(entry.value, value);
  return same ? 0 : refuse_row(key, verifying->error);
}

static int verify_event(struct pg_copy *copy, const struct dump_entry *entry,
                        struct tidings_error *error) {
  const struct pg_copy_event event = event_of(&entry->event);
  bool seen = false;
  int code = pg_copy_saw(copy, &event, &seen, error);
  return code || seen ? code : refuse_row(&entry->key, error);
}

static int verify(struct dump_reader *reader, struct pg_copy *copy, struct tidings_error *error) {
  struct verifying verifying = {reader, error};
  struct dump_entry entry = {.kind = DUMP_ROW};
  int code = dump_rewind(reader, error);
  if (!code) code = pg_copy_rows(copy, verify_row, &verifying, error);
  while (!code && entry.kind != DUMP_END) {
    code = dump_next(reader, &entry, error);
    if (!code && entry.kind == DUMP_ROW) code = refuse_row(&entry.key, error);
    if (!code && entry.kind == DUMP_EVENT) code = verify_event(copy, &entry, error);
  }
  return code;
}

int maintenance_load(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error) {
  struct maintenance_report report = {.layout = DB_LAYOUT};
  struct dump_reader reader = {.file = NULL};
  struct pg_copy *copy = NULL;
  int code = dump_open(&reader, from, error);
  if (!code) code = pg_copy_write(to, &copy, error);
  if (!code) code = load_rows(&reader, copy, &report, error);
  if (!code) code = load_sessions(&reader, copy, error);
  if (!code) code = verify(&reader, copy, error);
  code = pg_copy_end(copy, code, error);
  dump_close(&reader);
  if (!code) *ret_report = report;
  return code;
}
