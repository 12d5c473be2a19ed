/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/copy.h: a whole store in a database, read or made in one transaction.
 */
#ifndef STORE_DB_POSTGRES_COPY_H
#define STORE_DB_POSTGRES_COPY_H

#include "store/db/remote.h"

struct pg_copy; /* a connection with an open transaction */

/* No one writes to it until pg_copy_end. Errors: INVAL (the URL), NOT_FOUND, SCHEMA_NEWER, STATE
 * (in use), STORE, NOMEM. */
int pg_copy_read(const char *url, struct pg_copy **ret_copy, struct tidings_error *error);
/* Into a schema that is made, or a store without a session. Until pg_copy_end nobody sees any of
 * it. Errors: also STATE (it has a session). */
int pg_copy_write(const char *url, struct pg_copy **ret_copy, struct tidings_error *error);
/* `code` is the caller's so far; 0: commits. Frees. Returns `code`, or why it failed. NULL is
 * allowed. */
int pg_copy_end(struct pg_copy *copy, int code, struct tidings_error *error);

/* -- reading, in both. Errors: STORE, and what `each` returns ---------------------------------- */

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
/* How many pushes no transaction of their session has seen. */
int pg_copy_inbox(struct pg_copy *copy, uint64_t *ret_count, struct tidings_error *error);

/* -- writing: first all rows, then the rest. Errors: STORE, NOMEM ------------------------------ */

int pg_copy_put(struct pg_copy *copy, const struct db_key *key, struct tidings_span value,
                struct tidings_error *error);
int pg_copy_put_done(struct pg_copy *copy, struct tidings_error *error);
int pg_copy_name(struct pg_copy *copy, uint32_t session, struct tidings_span name,
                 struct tidings_error *error);
/* Writes the columns of a session that already has its name: see remote.h. `floors`: by kind; of
 * these kinds, rows below have ended. `tools` empty: none. */
int pg_copy_session(struct pg_copy *copy, uint32_t session, const struct db_noted *noted,
                    struct tidings_span tools, const uint64_t *floors, struct tidings_error *error);
/* The session has its name. The newer time counts. */
int pg_copy_see(struct pg_copy *copy, const struct pg_copy_event *event,
                struct tidings_error *error);
/* Was it seen, then or later? */
int pg_copy_saw(struct pg_copy *copy, const struct pg_copy_event *event, bool *ret_seen,
                struct tidings_error *error);

#endif
