/* SPDX-License-Identifier: MIT
 */
#include "sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bench.h"

struct sqlite {
  sqlite3 *base;
  sqlite3_stmt *insert;
};

static void must(const struct sqlite *sqlite, int got, int expected, const char *what) {
  if (got != expected) bench_die("SQLite: %s: %s", what, sqlite3_errmsg(sqlite->base));
}

struct sqlite *sqlite_open(const char *folder) {
  static const char tables[] =
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE item(session INTEGER, n INTEGER, body BLOB, PRIMARY KEY(session, n)) "
      "WITHOUT ROWID;";
  char path[PATH_BYTES + 16];
  struct sqlite *sqlite = calloc(1, sizeof *sqlite);
  if (!sqlite || mkdir(folder, 0700)) bench_die("%s cannot be made", folder);
  (void)snprintf(path, sizeof path, "%s/data.sqlite", folder);
  must(sqlite, sqlite3_open(path, &sqlite->base), SQLITE_OK, "open");
  must(sqlite, sqlite3_exec(sqlite->base, tables, NULL, NULL, NULL), SQLITE_OK, "make its table");
  must(sqlite,
       sqlite3_prepare_v2(sqlite->base, "INSERT INTO item VALUES (?, ?, ?)", -1, &sqlite->insert,
                          NULL),
       SQLITE_OK, "prepare");
  return sqlite;
}

void sqlite_close(struct sqlite *sqlite) {
  sqlite3_finalize(sqlite->insert);
  sqlite3_close(sqlite->base);
  free(sqlite);
}

void sqlite_put(struct sqlite *sqlite, uint32_t session, uint64_t n, size_t bytes) {
  sqlite3_bind_int64(sqlite->insert, 1, (sqlite3_int64)session);
  sqlite3_bind_int64(sqlite->insert, 2, (sqlite3_int64)n);
  sqlite3_bind_zeroblob(sqlite->insert, 3, (int)bytes);
  must(sqlite, sqlite3_step(sqlite->insert), SQLITE_DONE, "insert");
  must(sqlite, sqlite3_reset(sqlite->insert), SQLITE_OK, "reset");
}
