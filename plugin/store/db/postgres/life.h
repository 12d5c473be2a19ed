/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/life.h: whose rows a connection shows, and since when. It knows nothing of
 * sessions but that they are remembered.
 */
#ifndef STORE_DB_POSTGRES_LIFE_H
#define STORE_DB_POSTGRES_LIFE_H

#include "store/db/postgres/engine.h"

/* All that this process remembers of the rows is void. */
void pg_void(struct db *db);
/* Looks whose rows the connection shows. Nothing is known if there are no tables, or others. 0, or
 * the engine's error. */
int pg_life_look(struct db *db, struct pg_conn *conn, store_deadline deadline);

#endif
