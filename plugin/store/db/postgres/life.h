/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/life.h: detects that a connection leads to another server or to other tables
 * than before.
 */
#ifndef STORE_DB_POSTGRES_LIFE_H
#define STORE_DB_POSTGRES_LIFE_H

#include "store/db/postgres/engine.h"

/* Drops everything that this process has cached of the rows. */
void pg_void(struct db *db);
/* Checks the server and the tables of a new connection, and calls pg_void if they have changed.
 * Without readable tables it does nothing. Returns 0, or the engine's error. */
int pg_life_look(struct db *db, struct pg_conn *conn, store_deadline deadline);

#endif
