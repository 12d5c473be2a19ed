/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/copying.h: private to copy.c and copy_write.c.
 */
#ifndef STORE_DB_POSTGRES_COPYING_H
#define STORE_DB_POSTGRES_COPYING_H

#include "common/buffer.h"
#include "store/db/postgres/copy.h"
#include "store/db/postgres/engine.h"

struct pg_copy {
  struct pg_place place;
  PGconn *pg;         /* NULL: none */
  struct buffer rows; /* rows that were put, but not sent yet */
};

/* Begins the COPY to which rows are put. */
int pg_copying_begin(struct pg_copy *copy, struct tidings_error *error);

#endif
