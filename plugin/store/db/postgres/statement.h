/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/statement.h: the statements of the engine, and their parameters.
 */
#ifndef STORE_DB_POSTGRES_STATEMENT_H
#define STORE_DB_POSTGRES_STATEMENT_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/span.h"

enum pg_statement {
  PG_BEGIN,
  PG_LIMITS,
  PG_COMMIT,
  PG_ROLLBACK,
  PG_LOCK,
  PG_LOCK_NAMED,
  PG_FENCE_OFF,
  PG_LOCK_VERSION,
  PG_LOCK_NAME,
  PG_LOCK_NAME_OLDER,
  PG_OWN_ROWS,
  PG_LOAD,
  PG_LOOK,
  PG_PUT,
  PG_PUT_FRESH,
  PG_DELETE,
  PG_ARCHIVE,
  PG_ARCHIVE_AGAIN,
  PG_DROP_HISTORY,
  PG_SESSION,
  PG_SESSION_NEW,
  PG_CLEAR_INBOX,
  PG_FETCH_ONE,
  PG_FETCH_RANGE,
  PG_PUSH,
  PG_PUSH_PLAIN,
  PG_PUSH_NEXT,
  PG_PUSH_COUNT,
  PG_PUSH_CHECKED,
  PG_NOTIFY,
  PG_HAS_LOCK,
  PG_SCAN,
  PG_ALIVE,
  PG_SEEN,
  PG_NOTE_ID,
  PG_INBOX_NAMES,
  PG_INBOX_NAMELESS,
  PG_RINGS,
  PG_CLOCK,
  PG_FORGET,
  PG_FORGET_COUNT,
  PG_FIGURES,
  PG_DEAD_LETTERS,
  PG_DEAD_OF_SESSION,
  PG_STATEMENTS
};

const char *pg_statement_text(enum pg_statement statement);
/* Returns the types of the statement's parameters, if the server cannot infer them. */
const Oid *pg_statement_types(enum pg_statement statement, int *ret_count);

/* Parameters of a statement, in binary. */
enum { PG_MOST_PARAMS = 13 };
struct pg_params {
  const char *values[PG_MOST_PARAMS];
  int lengths[PG_MOST_PARAMS];
  uint64_t numbers[PG_MOST_PARAMS]; /* the numbers to which `values` points */
  int count;
};
/* Write an array in binary: first its head, then each element. `type`: the type of the elements. */
void pg_array_begin(struct buffer *out, uint32_t type, size_t count);
void pg_array_add(struct buffer *out, const void *bytes, size_t len);
/* Keys of rows, which the statements take as two arrays. They live until the statement is sent. */
struct pg_keys {
  struct buffer kinds, ns;
};
void pg_keys_begin(struct pg_keys *keys, size_t count);
void pg_keys_add(struct pg_keys *keys, uint8_t kind, uint64_t n);
int pg_keys_param(const struct pg_keys *keys, struct pg_params *params); /* 0 or ENOMEM */
void pg_keys_free(struct pg_keys *keys);
void pg_param_int8(struct pg_params *params, int64_t value);
/* Adds three parameters: the key of a row. */
void pg_param_row(struct pg_params *params, uint32_t session, uint8_t kind, uint64_t n);
void pg_param_bool(struct pg_params *params, bool value);
void pg_param_bytes(struct pg_params *params, struct tidings_span bytes); /* text, bytea */
void pg_param_null(struct pg_params *params);

#endif
