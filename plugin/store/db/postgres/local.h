/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/local.h: files that the processes of one user on one machine share beside the
 * database.
 */
#ifndef STORE_DB_POSTGRES_LOCAL_H
#define STORE_DB_POSTGRES_LOCAL_H

#include "store/db/postgres/engine.h"

/* -- fifo.c: this process's FIFO, which outlives the open store -------------------------------- */

enum { PG_FOLDER_BYTES = 4096, PG_PATH_BYTES = PG_FOLDER_BYTES + 96 };
void pg_folder_path(char path[PG_FOLDER_BYTES]);
/* Errors: STORE, if other users may write into the folder. */
int pg_folder_make(const char *folder, struct tidings_error *error);
int pg_fifo_make(const struct db *db, int *ret_fd, struct tidings_error *error);
bool pg_fifo_is_there(const struct db *db);

/* -- local.c: phases and running calls --------------------------------------------------------- */

struct pg_local *pg_local_new(void); /* NULL: no memory */
void pg_local_finish(struct db *db);

#endif
