/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/tables.h: the tables of a store in a database.
 */
#ifndef STORE_DB_POSTGRES_TABLES_H
#define STORE_DB_POSTGRES_TABLES_H

#include <stdint.h>
#include <tidings/host.h>

enum tables_task { TABLES_INIT, TABLES_UPGRADE, TABLES_DROP, TABLES_EMPTY };

/* With `ret_sql` it only returns the SQL, malloc'ed. Errors: INVAL (the URL), STATE (init: the
 * schema exists), NOT_FOUND (there is no such schema, or it has no store), SCHEMA_NEWER, BUSY,
 * STORE, NOMEM. */
int tables_do(enum tables_task task, const char *url, char **ret_sql, struct tidings_error *error);

struct tables_counts {
  uint64_t rows, sessions, notifications, messages;
};
int tables_count(const char *url, struct tables_counts *ret_counts, struct tidings_error *error);
/* For a store that could not be opened, with that error: returns `code`, or NOT_FOUND and another
 * error if there is no store. */
int tables_why(const char *url, int code, struct tidings_error *error);

#endif
