/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/pool.c: the connections of a process: their number is limited, and a caller
 * waits for one no longer than its deadline.
 */
#include <errno.h>
#include <time.h>

#include "store/db/postgres/engine.h"

/* Puts the connection that has ended the daily work back into the pool. Call it with the lock. */
static void take_back(struct db *db) {
  struct pg_conn *conn = db->keeper ? pg_days_give(db) : NULL;
  if (!conn) return;
  conn->next = db->idle;
  db->idle = conn;
}

/* Waits for an idle connection. NULL: the caller may open one more, which is counted already; or,
 * with *ret_late, the deadline has passed. Call it with the lock. */
static struct pg_conn *wait_idle(struct db *db, store_deadline deadline, bool *ret_late) {
  struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                           .tv_nsec = (long)(deadline % 1000000000u)};
  *ret_late = false;
  for (;;) {
    take_back(db);
    struct pg_conn *conn = db->idle;
    if (conn) {
      db->idle = conn->next;
      return conn;
    }
    if (db->connections < MOST_CONNECTIONS) {
      db->connections++;
      return NULL;
    }
    if (pthread_cond_timedwait(&db->given, &db->lock, &until) == ETIMEDOUT) {
      *ret_late = true;
      return NULL;
    }
  }
}

/* The limit is rounded to five significant bits, so that calls with the same budget have the same
 * limit, which is set only once. */
void pg_conn_limit(struct pg_conn *conn, store_deadline deadline, bool least) {
  int left = store_deadline_left_ms(deadline), limit = left > 1 ? left : 1, step = 1;
  while (limit / step >= 32) step *= 2;
  limit -= limit % step;
  bool stays = conn->limit_ms == limit || (least && conn->limit_ms > limit);
  conn->next_limit_ms = stays ? 0 : limit;
}

struct pg_conn *pg_conn_take_idle(struct db *db) {
  pthread_mutex_lock(&db->lock);
  struct pg_conn *conn = db->idle;
  if (conn) db->idle = conn->next;
  pthread_mutex_unlock(&db->lock);
  return conn;
}

static void forget_one(struct db *db) {
  pthread_mutex_lock(&db->lock);
  db->connections--;
  db->lost++;
  pthread_cond_signal(&db->given);
  pthread_mutex_unlock(&db->lock);
}

int pg_conn_take(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error) {
  struct pg_conn *conn;
  bool late;
  for (;;) {
    pthread_mutex_lock(&db->lock);
    conn = wait_idle(db, deadline, &late);
    pthread_mutex_unlock(&db->lock);
    if (!conn || pg_conn_lives(conn)) break;
    pg_conn_close(conn);
    forget_one(db);
  }
  if (late)
    return fail(error, TIDINGS_E_BUSY,
                "store %s: all %d connections of this process are in use; try again",
                db->place.shown, (int)MOST_CONNECTIONS);
  int code = conn ? 0 : pg_conn_open(db, deadline, &conn, error);
  if (code) forget_one(db);
  else *ret_conn = conn;
  if (!code) pg_conn_limit(conn, deadline, true);
  return code;
}

void pg_conn_give(struct db *db, struct pg_conn *conn) {
  if (PQstatus(conn->pg) != CONNECTION_OK || PQtransactionStatus(conn->pg) != PQTRANS_IDLE) {
    pg_conn_give_up(db, conn);
    pg_conn_close(conn);
    forget_one(db);
    return;
  }
  if (pg_days_take(db, conn)) return;
  pthread_mutex_lock(&db->lock);
  conn->next = db->idle;
  db->idle = conn;
  pthread_cond_signal(&db->given);
  pthread_mutex_unlock(&db->lock);
}
