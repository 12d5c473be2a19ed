/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/admin.h: operations on the tables of a store as a whole, on a connection of
 * their own. Private to this folder.
 */
#ifndef STORE_DB_POSTGRES_ADMIN_H
#define STORE_DB_POSTGRES_ADMIN_H

#include "store/db/postgres/engine.h"
#include "store/db/postgres/tables.h"

/* -- sql.c ------------------------------------------------------------------------------------- */

void pg_admin_sql(enum tables_task task, const char *schema, struct buffer *out);
/* Appends the SQL of step `number` of an upgrade, counted from 0. False: there is no such step. */
bool pg_admin_step(size_t number, const char *schema, struct buffer *out);

/* -- upgrade.c: runs all steps. Errors: BUSY (another client has a table), STORE, NOMEM -------- */

int pg_upgrade(const struct pg_place *place, PGconn *pg, struct tidings_error *error);

/* -- tables.c ---------------------------------------------------------------------------------- */

/* Errors: STORE, NOMEM. */
int pg_admin_connect(const struct pg_place *place, PGconn **ret_pg, struct tidings_error *error);
/* Reports the server's answer as an error; without a result, reports the connection's error. */
int pg_admin_refuse(const struct pg_place *place, PGconn *pg, const PGresult *result,
                    struct tidings_error *error);
/* `ret_result` may be NULL. Errors: those of pg_admin_refuse. */
int pg_admin_run(const struct pg_place *place, PGconn *pg, const char *sql, PGresult **ret_result,
                 struct tidings_error *error);
/* Checks that the schema holds tidings's tables with this build's number; `also_older` accepts an
 * older number too. `ret_number` may be NULL. Errors: NOT_FOUND, SCHEMA_NEWER, STATE (an older
 * one), STORE. */
int pg_admin_check(const struct pg_place *place, PGconn *pg, bool also_older, int *ret_number,
                   struct tidings_error *error);

#endif
