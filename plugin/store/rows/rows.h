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

/* Makes items of the pushes that the engine's inbox has for the session of `scope`. In a snapshot
 * of a session without a number nothing is done, and *ret_again says that a write has to do it. */
int inbox_fold(struct store_txn *txn, const struct db_scope *scope, bool *ret_again,
               struct tidings_error *error);
/* Before a commit: makes other processes notice that the items differ from those they planned with.
 */
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

/* The number of the last row of a kind; 0: there is none. */
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

/* For a store that is made from another: how many sessions it has had, + 1. Errors: NOMEM, STORE.
 */
int meta_put_next(struct store_txn *txn, uint64_t next, struct tidings_error *error);
/* Is it the row that states the layout, of a layout with today's rows? Then `out` gets the row of
 * today's layout, with this incarnation, or with NULL with its own one. */
bool meta_as(const struct db_key *key, struct tidings_span value, const uint64_t *incarnation,
             struct buffer *out);

/* -- sessions.c -------------------------------------------------------------------------------- */

/* False: the row is damaged. The name points into the record. */
bool session_decode(const struct db_key *key, struct tidings_span record,
                    struct tidings_span *ret_name, uint32_t *ret_number);
/* The key of the row of a name, or the first key that has to be looked at. */
struct db_key session_name_row(struct tidings_span name);
/* Gives a number that has no name one. Errors: FULL, STORE, NOMEM. */
int session_name(struct store_txn *txn, struct tidings_span name, uint32_t number,
                 struct tidings_error *error);

/* session_page of an engine of this machine. */
int session_page_here(struct store_txn *txn, uint64_t after, size_t most, session_visitor each,
                      void *context, uint64_t *ret_next, struct tidings_error *error);
/* Deletes a session's name, so that it can no longer be found by it. Errors: STORE, NOMEM. */
int session_delete_name(struct store_txn *txn, struct tidings_span name,
                        struct tidings_error *error);

/* Is the declared number still that of the name? Errors: BUSY if it is not; then callers that
 * remember numbers of names have to look them up again (store_lives). */
int session_check_scope(struct store_txn *txn, const struct db_scope *scope,
                        struct tidings_error *error);

/* -- tools.c ----------------------------------------------------------------------------------- */

/* Has the tool that this notification is of (`tool`, or its source) declared another set of kinds?
 * *ret_refused: then SCHEMA, with those that are known. Else errors: STORE, NOMEM. */
int tools_check(struct store_txn *txn, uint32_t session, const struct notification *note,
                struct arena *arena, bool *ret_refused, struct tidings_error *error);

/* Points into the record. A damaged one declares nothing. -1: no memory. */
int tools_decode(const struct db_key *key, struct tidings_span record, struct arena *arena,
                 struct declarations *ret_tools);
/* As `note_tools` in db/remote.h has it. */
void tools_text(const struct declarations *tools, struct buffer *out);

/* -- rates.c ----------------------------------------------------------------------------------- */

enum { RATE_MINUTE_MS = 60000 };

/* May the row be forgotten? */
bool rate_is_over(const struct db_key *key, struct tidings_span value, int64_t now_ms);

/* -- items.c, heads.c, deliveries.c, runs.c, messages.c, transitions.c --------------------------
 */

/* Without the checksum: the number, and so the key, is known only to the writer that commits it. */
/* `origin` NULL: it is no copy. */
void item_encode(struct buffer *out, int64_t time_ms, const struct notification *note,
                 const struct origin *origin);
bool item_decode(struct record_reader *reader,
                 struct item *ret_item); /* text points into the record */

/* outlines.c: which row has the outline of item `n` */
uint64_t outline_row_of(uint64_t n);
/* In a write that has put item `n`: puts the row of outlines of which it is the last. Errors:
 * STORE, NOMEM. */
int outlines_note(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_error *error);

/* Items that have not ended, leased ones included: a rollback may bring them all back. `last`: the
 * newest one. */
uint64_t head_count_live(const struct head *head, uint64_t last);
/* Does no item and no message wait in the session? */
bool head_is_over(const struct head *head, uint64_t last);
/* The facts of a head that an engine may need. */
struct db_noted head_noted(const struct head *head, uint64_t last);
/* Rows of a kind with a number below `n` have ended. */
enum { HEAD_FLOORS = 5 };
struct head_floor {
  uint8_t kind; /* enum row_kind */
  uint64_t n;
};
void head_floors(const struct head *head, struct head_floor ret_floors[HEAD_FLOORS]);
void head_encode(struct buffer *out, const struct head *head);
/* false with *ret_no_memory: the arena is out of memory. */
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
