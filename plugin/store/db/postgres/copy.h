/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/copy.h: a whole store in a database, read or made in one transaction.
 */
#ifndef STORE_DB_POSTGRES_COPY_H
#define STORE_DB_POSTGRES_COPY_H

#include "store/db/remote.h"

struct pg_copy; /* a connection with an open transaction */

/* Other clients cannot write to the store until pg_copy_end. Errors: INVAL (the URL), NOT_FOUND,
 * SCHEMA_NEWER, STATE (in use), STORE, NOMEM. */
int pg_copy_read(const char *url, struct pg_copy **ret_copy, struct tidings_error *error);
/* Writes into a new schema, or into a store without a session. Other clients see nothing of it
 * before pg_copy_end. Errors: also STATE (it has a session). */
int pg_copy_write(const char *url, struct pg_copy **ret_copy, struct tidings_error *error);
/* Commits if `code`, the caller's result so far, is 0; otherwise rolls back. Frees `copy`, which
 * may be NULL. Returns `code`, or the error of the commit. */
int pg_copy_end(struct pg_copy *copy, int code, struct tidings_error *error);

/* -- reading; both kinds of copies allow it. Errors: STORE, and what `each` returns ------------ */

int pg_copy_rows(struct pg_copy *copy, /* in the order of keys */
                 int (*each)(void *context, const struct db_key *key, struct tidings_span value),
                 void *context, struct tidings_error *error);
struct pg_copy_event {
  uint32_t session;
  int64_t time_ms, keep_ms;
  struct tidings_span source, id;
};
int pg_copy_events(struct pg_copy *copy,
                   int (*each)(void *context, const struct pg_copy_event *event), void *context,
                   struct tidings_error *error);
/* Counts the pushes that no transaction of their session has seen. */
int pg_copy_inbox(struct pg_copy *copy, uint64_t *ret_count, struct tidings_error *error);

/* -- writing: first all rows, then the rest. Errors: STORE, NOMEM ------------------------------ */

int pg_copy_put(struct pg_copy *copy, const struct db_key *key, struct tidings_span value,
                struct tidings_error *error);
int pg_copy_put_done(struct pg_copy *copy, struct tidings_error *error);
int pg_copy_name(struct pg_copy *copy, uint32_t session, struct tidings_span name,
                 struct tidings_error *error);
/* Writes the columns of a session that already has its name: see remote.h. `floors`: for each kind,
 * the number below which rows have ended. `tools` empty: none. */
int pg_copy_session(struct pg_copy *copy, uint32_t session, const struct db_noted *noted,
                    struct tidings_span tools, const uint64_t *floors, struct tidings_error *error);
/* Notes that the event was seen. The session must have its name already. If the event was noted
 * before, the newer time counts. */
int pg_copy_see(struct pg_copy *copy, const struct pg_copy_event *event,
                struct tidings_error *error);
/* Was the event seen at that time or later? */
int pg_copy_saw(struct pg_copy *copy, const struct pg_copy_event *event, bool *ret_seen,
                struct tidings_error *error);

#endif
