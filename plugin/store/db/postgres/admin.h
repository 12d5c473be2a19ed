/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/admin.h: what is done to a store in a database as a whole, on a connection of
 * its own, for the files of this folder.
 */
#ifndef STORE_DB_POSTGRES_ADMIN_H
#define STORE_DB_POSTGRES_ADMIN_H

#include "store/db/postgres/engine.h"
#include "store/db/postgres/tables.h"

/* -- sql.c ------------------------------------------------------------------------------------- */

void pg_admin_sql(enum tables_task task, const char *schema, struct buffer *out);
/* A step of an upgrade, from 0 on. False: there is none of that number. */
bool pg_admin_step(size_t number, const char *schema, struct buffer *out);

/* -- upgrade.c: all of them. Errors: BUSY (another client has a table), STORE, NOMEM ----------- */

int pg_upgrade(const struct pg_place *place, PGconn *pg, struct tidings_error *error);

/* -- tables.c ---------------------------------------------------------------------------------- */

/* Errors: STORE, NOMEM. */
int pg_admin_connect(const struct pg_place *place, PGconn **ret_pg, struct tidings_error *error);
/* A sentence for what the server answered, or, without a result, for the connection. */
int pg_admin_refuse(const struct pg_place *place, PGconn *pg, const PGresult *result,
                    struct tidings_error *error);
/* `ret_result` may be NULL. Errors: those of pg_admin_refuse. */
int pg_admin_run(const struct pg_place *place, PGconn *pg, const char *sql, PGresult **ret_result,
                 struct tidings_error *error);
/* Is the schema one of ours, with this build's number, or an older one if that will do?
 * `ret_number` may be NULL. Errors: NOT_FOUND, SCHEMA_NEWER, STATE (an older one), STORE. */
int pg_admin_check(const struct pg_place *place, PGconn *pg, bool also_older, int *ret_number,
                   struct tidings_error *error);

/* in_use.c: STATE, with its name, if a session's host lives. */
int pg_in_use_refuse(const struct pg_place *place, PGconn *pg, struct tidings_error *error);

#endif
