/* SPDX-License-Identifier: MIT
 *
 * store/rows/rows.h: how each kind of row is encoded as a record, and how a transaction reads and
 * writes it.
 */
#ifndef STORE_ROWS_ROWS_H
#define STORE_ROWS_ROWS_H

#include "store/handle.h"
#include "store/rows/record.h"

/* -- inbox.c ----------------------------------------------------------------------------------- */

/* Makes items of the pushes that the engine's inbox has for the session of `scope`. In a snapshot,
 * a session without a number is left as it is, and *ret_again says that a write has to do this. */
int inbox_fold(struct store_txn *txn, const struct db_scope *scope, bool *ret_again,
               struct tidings_error *error);
/* To be called before a commit: makes other processes notice that they planned with other items. */
int inbox_finish(struct store_txn *txn, struct tidings_error *error);

/* -- row.c ------------------------------------------------------------------------------------- */

/* Without such a row ret_value->ptr is NULL. 0, or the engine's error: see db_failed. */
static inline int row_get(struct store_txn *txn, const struct db_key *key,
                          struct tidings_span *ret_value) {
  return db_get(txn->db, key, ret_value);
}
/* Seals `body` (a record without its checksum), puts it and frees it. Errors: NOMEM, STORE. */
int row_put(struct store_txn *txn, const struct db_key *key, struct buffer *body,
            struct tidings_error *error);
/* Refuses to go on with a damaged row: STORE. */
int row_damaged(struct tidings_error *error, const char *what, uint32_t session, uint64_t n);

/* Finds the number of the last row of a kind; 0: there is none. */
int row_last(struct store_txn *txn, uint32_t session, enum row_kind kind, uint64_t *ret_n,
             struct tidings_error *error);

/* -- meta.c: the store's own row --------------------------------------------------------------- */

struct meta_life meta_life_fresh(const struct store_options *options);
static inline bool meta_life_differs(const struct meta_life *a, const struct meta_life *b) {
  return a->identity != b->identity || a->incarnation != b->incarnation;
}
/* The first row of a store, and its record in a new one. */
struct db_key meta_key(void);
void meta_first(uint64_t layout, const struct meta_life *life, struct buffer *out);
/* Is it a store that this build can read and write? Errors: SCHEMA_NEWER, STORE. */
int meta_check(struct store_txn *txn, struct tidings_error *error);
/* A number for a session, with a random part unless older builds may use the store. Errors: STORE,
 * NOMEM. */
int meta_take_number(struct store_txn *txn, uint32_t *ret_number, struct tidings_error *error);

/* In a store that is made from another one, sets how many sessions it has had, plus 1. Errors:
 * NOMEM, STORE.
 */
int meta_put_next(struct store_txn *txn, uint64_t next, struct tidings_error *error);
/* Is this the row that states the layout, and does that layout have today's rows? Then `out` gets
 * the row for today's layout, with `incarnation`; if that is NULL, the row keeps its own. */
bool meta_as(const struct db_key *key, struct tidings_span value, const uint64_t *incarnation,
             struct buffer *out);

/* -- sessions.c -------------------------------------------------------------------------------- */

/* False: the row is damaged. The name points into the record. */
bool session_decode(const struct db_key *key, struct tidings_span record,
                    struct tidings_span *ret_name, uint32_t *ret_number);
/* Returns the first key at which the row of a name can be: names that collide are at the next
 * keys. */
struct db_key session_name_row(struct tidings_span name);
/* Gives a name to a session's number that has none. Errors: FULL, STORE, NOMEM. */
int session_name(struct store_txn *txn, struct tidings_span name, uint32_t number,
                 struct tidings_error *error);

/* session_page for an engine on this machine. */
int session_page_here(struct store_txn *txn, uint64_t after, size_t most, session_visitor each,
                      void *context, uint64_t *ret_next, struct tidings_error *error);
/* Deletes a session's name, so that it can no longer be found by it. Errors: STORE, NOMEM. */
int session_delete_name(struct store_txn *txn, struct tidings_span name,
                        struct tidings_error *error);

/* Does the scope's name still have the scope's number? Errors: BUSY if it has not; then callers
 * that remember the numbers of names have to look them up again (store_lives). */
int session_check_scope(struct store_txn *txn, const struct db_scope *scope,
                        struct tidings_error *error);

/* -- tools.c ----------------------------------------------------------------------------------- */

/* Has the notification's tool (`tool`, or its source) declared kinds, and is the notification's
 * kind none of them? Then returns SCHEMA with the declared kinds, and sets *ret_refused. Other
 * errors: STORE, NOMEM. */
int tools_check(struct store_txn *txn, uint32_t session, const struct notification *note,
                struct arena *arena, bool *ret_refused, struct tidings_error *error);

/* The declarations point into the record. A damaged record declares nothing. -1: no memory. */
int tools_decode(const struct db_key *key, struct tidings_span record, struct arena *arena,
                 struct declarations *ret_tools);
/* Writes the declarations in the form that `note_tools` of db/remote.h takes. */
void tools_text(const struct declarations *tools, struct buffer *out);

/* -- rates.c ----------------------------------------------------------------------------------- */

enum { RATE_MINUTE_MS = 60000 };

/* May the row be forgotten? */
bool rate_is_over(const struct db_key *key, struct tidings_span value, int64_t now_ms);

/* -- items.c, heads.c, deliveries.c, runs.c, messages.c, transitions.c ------------------------- */

/* Writes the record without its checksum, which covers the key: the item's number, and so its key,
 * is known only to the writer that commits it. */
/* `origin` NULL: the item is not a copy. */
void item_encode(struct buffer *out, int64_t time_ms, const struct notification *note,
                 const struct origin *origin);
bool item_decode(struct record_reader *reader,
                 struct item *ret_item); /* text points into the record */

/* outlines.c: returns the number of the row that has the outline of item `n`. */
uint64_t outline_row_of(uint64_t n);
/* To be called in a write that has put item `n`: if it is the last item of a row of outlines,
 * writes that row. Errors: STORE, NOMEM. */
int outlines_note(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_error *error);

/* Counts the items that have not ended. Leased ones count, because a rollback may make them all
 * pending. `last` is the number of the newest item. */
uint64_t head_count_live(const struct head *head, uint64_t last);
/* Does no item and no message wait in the session? */
bool head_is_over(const struct head *head, uint64_t last);
/* Collects the facts about a head that an engine may need. */
struct db_noted head_noted(const struct head *head, uint64_t last);
/* All rows of `kind` whose numbers are below `n` have ended. */
enum { HEAD_FLOORS = 5 };
struct head_floor {
  uint8_t kind; /* enum row_kind */
  uint64_t n;
};
void head_floors(const struct head *head, struct head_floor ret_floors[HEAD_FLOORS]);
void head_encode(struct buffer *out, const struct head *head);
/* False with *ret_no_memory: the arena is out of memory. */
bool head_decode(struct record_reader *reader, struct arena *arena, struct head *ret_head,
                 bool *ret_no_memory);

void delivery_encode(struct buffer *out, const struct delivery *delivery);
bool delivery_decode(struct record_reader *reader, struct arena *arena,
                     struct delivery *ret_delivery, bool *ret_no_memory);

void run_encode(struct buffer *out, const struct run *run);
void run_decode(struct record_reader *reader,
                struct run *ret_run); /* text points into the record */
void message_encode(struct buffer *out, const struct message *message);
bool message_decode(struct record_reader *reader,
                    struct message *ret_message); /* text points into the record */
void transition_encode(struct buffer *out, const struct transition *transition);
bool transition_decode(struct record_reader *reader, struct arena *arena,
                       struct transition *ret_transition, bool *ret_no_memory);

#endif
