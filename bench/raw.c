/* SPDX-License-Identifier: MIT
 */
#include "raw.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"

#define MAP_BYTES ((size_t)8 << 30)

enum { KEY_BYTES = 13, RECORD_BYTES_MAX = 4096, ITEM = 4 };

static size_t record_bytes = 176;

size_t raw_record_bytes(void) { return record_bytes; }

void raw_set_record_bytes(size_t bytes) {
  record_bytes = bytes < RECORD_BYTES_MAX ? bytes : RECORD_BYTES_MAX;
}

struct raw {
  MDB_env *env;
  MDB_dbi tree;
  MDB_txn *parked;
};

static void check(int rc, const char *what) {
  if (rc != 0) bench_die("raw LMDB: %s: %s", what, mdb_strerror(rc));
}

static void make_key(uint8_t key[KEY_BYTES], uint32_t session, uint8_t kind, uint64_t n) {
  for (int i = 0; i < 4; i++) key[i] = (uint8_t)(session >> (24 - 8 * i));
  key[4] = kind;
  for (int i = 0; i < 8; i++) key[5 + i] = (uint8_t)(n >> (56 - 8 * i));
}

struct raw *raw_open(const char *folder) {
  struct raw *raw = calloc(1, sizeof *raw);
  MDB_txn *txn;
  if (!raw) bench_die("out of memory");
  mkdir(folder, 0700);
  check(mdb_env_create(&raw->env), "env_create");
  check(mdb_env_set_mapsize(raw->env, MAP_BYTES), "set_mapsize");
  check(mdb_env_set_maxreaders(raw->env, 1024), "set_maxreaders");
  check(mdb_env_open(raw->env, folder, MDB_NOTLS | MDB_NORDAHEAD, 0600), "env_open");
  check(mdb_txn_begin(raw->env, NULL, 0, &txn), "txn_begin");
  check(mdb_dbi_open(txn, NULL, 0, &raw->tree), "dbi_open");
  check(mdb_txn_commit(txn), "txn_commit");
  check(mdb_txn_begin(raw->env, NULL, MDB_RDONLY, &raw->parked), "txn_begin");
  mdb_txn_reset(raw->parked);
  return raw;
}

void raw_close(struct raw *raw) {
  mdb_txn_abort(raw->parked);
  mdb_env_close(raw->env);
  free(raw);
}

static void put(const struct raw *raw, MDB_txn *txn, uint32_t session, uint64_t n) {
  static const uint8_t record[RECORD_BYTES_MAX];
  uint8_t key[KEY_BYTES];
  make_key(key, session, ITEM, n);
  MDB_val k = {KEY_BYTES, key};
  MDB_val v = {record_bytes, (void *)(uintptr_t)record};
  check(mdb_put(txn, raw->tree, &k, &v, 0), "put");
}

void raw_put(struct raw *raw, uint32_t session, uint64_t n) { raw_put_many(raw, session, n, 1); }

void raw_put_many(struct raw *raw, uint32_t session, uint64_t first, uint64_t count) {
  MDB_txn *txn;
  check(mdb_txn_begin(raw->env, NULL, 0, &txn), "txn_begin");
  for (uint64_t n = first; n < first + count; n++) put(raw, txn, session, n);
  check(mdb_txn_commit(txn), "txn_commit");
}

void raw_renew(struct raw *raw, uint64_t times) {
  for (uint64_t i = 0; i < times; i++) {
    check(mdb_txn_renew(raw->parked), "txn_renew");
    mdb_txn_reset(raw->parked);
  }
}

enum what { MARK, REMOVE };

/* Reads each of the session's records, and marks or removes it. */
static uint64_t go_over(const struct raw *raw, MDB_txn *txn, uint32_t session, enum what what) {
  MDB_cursor *cursor;
  uint8_t first[KEY_BYTES], record[RECORD_BYTES_MAX];
  uint64_t count = 0;
  make_key(first, session, ITEM, 0);
  MDB_val k = {KEY_BYTES, first}, v;
  check(mdb_cursor_open(txn, raw->tree, &cursor), "cursor_open");
  int rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
  while (rc == 0 && memcmp(k.mv_data, first, 5) == 0) {
    memcpy(record, v.mv_data, v.mv_size);
    record[0] = 1;
    v.mv_data = record;
    if (what == REMOVE) check(mdb_cursor_del(cursor, 0), "cursor_del");
    else check(mdb_cursor_put(cursor, &k, &v, MDB_CURRENT), "cursor_put");
    count++;
    rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  if (rc != 0 && rc != MDB_NOTFOUND) check(rc, "cursor_get");
  mdb_cursor_close(cursor);
  return count;
}

static uint64_t commit_over(struct raw *raw, uint32_t session, enum what what) {
  MDB_txn *txn;
  check(mdb_txn_begin(raw->env, NULL, 0, &txn), "txn_begin");
  uint64_t count = go_over(raw, txn, session, what);
  check(mdb_txn_commit(txn), "txn_commit");
  return count;
}

uint64_t raw_deliver(struct raw *raw, uint32_t session) { return commit_over(raw, session, MARK); }

void raw_settle(struct raw *raw, uint32_t session) { (void)commit_over(raw, session, REMOVE); }

double raw_mean_value(const char *folder) {
  struct raw *raw = raw_open(folder);
  MDB_cursor *cursor;
  MDB_val k, v;
  double bytes = 0, count = 0;
  check(mdb_txn_renew(raw->parked), "txn_renew");
  check(mdb_cursor_open(raw->parked, raw->tree, &cursor), "cursor_open");
  for (int rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST); rc == 0;
       rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
    bytes += (double)v.mv_size;
    count++;
  }
  mdb_cursor_close(cursor);
  mdb_txn_reset(raw->parked);
  raw_close(raw);
  return count > 0 ? bytes / count : 0;
}
