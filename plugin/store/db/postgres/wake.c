/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/wake.c: wakes a sleeping process when one of its sessions needs an action.
 * While the descriptor is used, a thread listens on the process's channel and writes a byte to the
 * process's FIFO (fifo.c). The rows of the sessions show which of them rang.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/libc.h"
#include "store/db/postgres/local.h"

enum { LISTEN_BUDGET_MS = 5000, CLOSE_BUDGET_MS = 1000, RETRY_MS = 1000 };

struct pg_wake {
  struct db *db;
  struct owner owner;
  int fifo; /* -1: this process does not wait */
  int stop; /* an eventfd that ends the thread */
  pthread_t thread;
  bool runs;
  pthread_mutex_t lock; /* of the connection */
  struct pg_conn *conn; /* the connection that listens; NULL: it was lost */
  _Atomic uint32_t
      changes[1]; /* always odd: only the database knows whether a session has changed */
  uint32_t rang[STORE_RINGS],
      groups[RING_GROUPS]; /* how often each session rang, as the database counts it */
  struct rings *rings;
};

int pg_wake_init(struct db *db) {
  struct pg_wake *wake = calloc(1, sizeof *wake);
  if (!wake) return -1;
  wake->db = db;
  wake->fifo = wake->stop = -1;
  (void)pthread_mutex_init(&wake->lock, NULL);
  atomic_init(&wake->changes[0], 3); /* with this value no session counts as unchanged */
  db->wake = wake;
  return 0;
}

const _Atomic uint32_t *db_changes(struct db *db, uint32_t session) {
  (void)session; /* other machines write too: a hook asks the database */
  return &db->wake->changes[0];
}

/* -- the thread -------------------------------------------------------------------------------- */

static void ring_bell(const struct pg_wake *wake) {
  ssize_t written;
  do written = write(wake->fifo, "", 1);
  while (written < 0 && errno == EINTR);
}

static int run_text(struct db *db, struct pg_conn *conn, const char *sql, uint32_t budget_ms) {
  PGresult *result = NULL;
  int rc = PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0)
               ? pg_run(db, conn, store_deadline_in(budget_ms), &result, 1)
               : PG_E_LOST;
  PQclear(result);
  return rc;
}

static void hex(const uint8_t *bytes, size_t len, char *text) {
  for (size_t i = 0; i < len; i++) (void)sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* A row names the process to call for an owner. The last bytes of its boot id, which no channel's
 * name contains, are replaced with the number of the server process for the listening connection.
 * So the row of a lost connection is recognized, and the next process to listen removes it. */
#define LISTENER "substr(process, 13, 4)"

static int listen_on(struct pg_wake *wake, store_deadline deadline, struct pg_conn **ret_conn) {
  uint8_t process[PG_OWNER_BYTES], owner[PG_OWNER_BYTES];
  char process_hex[2 * PG_OWNER_BYTES + 1], owner_hex[2 * PG_OWNER_BYTES + 1], sql[640];
  struct pg_conn *conn = NULL;
  if (pg_conn_open(wake->db, deadline, &conn, NULL)) return -1;
  pg_owner_bytes(&wake->db->self, process);
  pg_owner_bytes(&wake->owner, owner);
  hex(process, sizeof process, process_hex);
  hex(owner, sizeof owner, owner_hex);
  /* A channel's name has at most 63 bytes, so it contains only the end of the process's name. */
  (void)snprintf(sql, sizeof sql, "LISTEN \"tidings_%s\"",
                 process_hex + sizeof process_hex - 1 - 40);
  int rc = run_text(wake->db, conn, sql, LISTEN_BUDGET_MS);
  (void)snprintf(sql, sizeof sql,
                 "WITH gone AS (DELETE FROM waiter WHERE NOT EXISTS (SELECT FROM pg_stat_activity "
                 "WHERE int4send(pid) = " LISTENER ")) INSERT INTO waiter VALUES ('\\x%s', "
                 "overlay('\\x%s'::bytea PLACING int4send(pg_backend_pid()) FROM 13)) "
                 "ON CONFLICT DO NOTHING",
                 owner_hex, process_hex);
  if (!rc) rc = run_text(wake->db, conn, sql, LISTEN_BUDGET_MS);
  if (rc) pg_conn_close(conn);
  else *ret_conn = conn;
  return rc ? -1 : 0;
}

/* Removes this connection's row, so that it is not called any more. If the server does not answer,
 * the row stays until the next process listens. */
static void stop_listening(struct pg_wake *wake) {
  if (wake->conn)
    (void)run_text(wake->db, wake->conn,
                   "DELETE FROM waiter WHERE " LISTENER " = int4send(pg_backend_pid())",
                   CLOSE_BUDGET_MS);
  pg_conn_close(wake->conn);
  wake->conn = NULL;
}

static void take_notifications(struct pg_wake *wake, struct pg_conn *conn) {
  PGnotify *notify;
  bool any = false;
  while ((notify = PQnotifies(conn->pg))) {
    PQfreemem(notify);
    any = true;
  }
  if (any) ring_bell(wake);
}

/* True: the thread is to end. */
static bool wait_stop(const struct pg_wake *wake, int ms) {
  struct pollfd stop = {.fd = wake->stop, .events = POLLIN};
  return poll(&stop, 1, ms) > 0;
}

static void drop_conn(struct pg_wake *wake) {
  pg_conn_close(wake->conn);
  wake->conn = NULL;
}

/* Returns the socket to wait at; -1: there is no connection. */
static int connect_again(struct pg_wake *wake) {
  struct pg_conn *conn = NULL;
  bool failed = listen_on(wake, store_deadline_in(LISTEN_BUDGET_MS), &conn);
  pthread_mutex_lock(&wake->lock);
  wake->conn = conn;
  int fd = failed ? -1 : PQsocket(conn->pg);
  pthread_mutex_unlock(&wake->lock);
  if (!failed) ring_bell(wake); /* the store shows the rings that were missed */
  return fd;
}

static void *listen_thread(void *context) {
  struct pg_wake *wake = context;
  int fd = wake->conn ? PQsocket(wake->conn->pg) : -1;
  while (!wait_stop(wake, 0)) {
    if (fd < 0) fd = connect_again(wake);
    if (fd < 0) {
      if (wait_stop(wake, RETRY_MS)) break;
      continue;
    }
    struct pollfd fds[2] = {{.fd = wake->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[0].revents) break;
    pthread_mutex_lock(&wake->lock);
    if (wake->conn &&
        (!PQconsumeInput(wake->conn->pg) || PQstatus(wake->conn->pg) == CONNECTION_BAD))
      drop_conn(wake);
    if (wake->conn) take_notifications(wake, wake->conn);
    fd = wake->conn ? PQsocket(wake->conn->pg) : -1;
    pthread_mutex_unlock(&wake->lock);
  }
  return NULL;
}

/* Starts the thread, which wakes the owner of the descriptor. It listens at once if the server
 * answers within the budget. */
static int start_thread(struct pg_wake *wake, uint32_t budget_ms, struct tidings_error *error) {
  if (wake->runs) return 0;
  if (!wake->conn) (void)listen_on(wake, store_deadline_in(budget_ms), &wake->conn);
  if (wake->stop < 0) wake->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake->stop < 0 || libc_thread_create(&wake->thread, listen_thread, wake))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a thread that listens");
  wake->runs = true;
  return 0;
}

static void stop_thread(struct pg_wake *wake) {
  uint64_t one = 1;
  if (!wake->runs) return;
  if (write(wake->stop, &one, sizeof one) == (ssize_t)sizeof one)
    (void)pthread_join(wake->thread, NULL);
  wake->runs = false;
}

void pg_wake_finish(struct db *db) {
  struct pg_wake *wake = db->wake;
  if (!wake) return;
  stop_thread(wake);
  stop_listening(wake);
  pthread_mutex_destroy(&wake->lock);
  if (wake->fifo >= 0) close(wake->fifo);
  if (wake->stop >= 0) close(wake->stop);
  free(wake->rings);
  free(wake);
  db->wake = NULL;
}

/* -- waiting ----------------------------------------------------------------------------------- */

int db_wait(struct db *db, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
            struct tidings_error *error) {
  struct pg_wake *wake = db->wake;
  int code = wake->fifo < 0 ? pg_fifo_make(db, &wake->fifo, error) : 0;
  wake->owner = *owner;
  if (!code) code = start_thread(wake, budget_ms, error);
  if (!code) *ret_fd = wake->fifo;
  return code;
}

bool db_waits(const struct db *db) { return db->wake->fifo >= 0 || pg_fifo_is_there(db); }

void db_wait_drain(struct db *db) {
  char bytes[4096];
  ssize_t got = sizeof bytes;
  while (db->wake->fifo >= 0 && (got == sizeof bytes || (got < 0 && errno == EINTR)))
    got = read(db->wake->fifo, bytes, sizeof bytes);
}

void db_wait_again(struct db *db) {
  if (db->wake->fifo >= 0) ring_bell(db->wake);
}

/* -- ringing ----------------------------------------------------------------------------------- */

void db_ring(struct db_txn *txn, uint32_t session, const struct owner *owner, uintptr_t thread) {
  (void)thread;
  if (!owner->pid) return;
  (void)db_touch(txn, session);
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) txn->ringing |= (uint64_t)1 << i;
  }
  db_call(txn, owner);
}

/* Asks the database which sessions have rung; a notification only means that some session has. */
static int ask_rings(struct db *db, const struct owner *owner, store_deadline deadline,
                     struct tidings_error *error) {
  struct pg_wake *wake = db->wake;
  struct pg_params params = {.count = 0};
  uint8_t bytes[PG_OWNER_BYTES];
  struct pg_conn *conn = NULL;
  PGresult *result = NULL;
  uint32_t rang[STORE_RINGS] = {0};
  int code = pg_conn_take(db, deadline, &conn, error);
  if (code) return code;
  pg_owner_bytes(owner, bytes);
  pg_param_bytes(&params, span_of((const char *)bytes, sizeof bytes));
  int rc = pg_send(conn, PG_RINGS, &params);
  if (!rc) rc = pg_run(db, conn, deadline, &result, 1);
  pg_conn_give(db, conn);
  for (int i = 0; !rc && i < PQntuples(result); i++)
    rang[(uint64_t)pg_int8(result, i, 0) % STORE_RINGS] += (uint32_t)pg_int8(result, i, 1);
  PQclear(result);
  for (uint32_t ring = 0; !rc && ring < STORE_RINGS; ring++) {
    if (rang[ring] == wake->rang[ring]) continue;
    wake->rang[ring] = rang[ring];
    wake->groups[ring / RING_GROUP]++;
  }
  return rc ? db_failed(error, rc, "look for woken sessions") : 0;
}

int db_rings_look(struct db *db, const struct owner *owner, store_deadline deadline,
                  const struct rings **ret_rings, struct tidings_error *error) {
  struct pg_wake *wake = db->wake;
  bool any = false;
  int code = ask_rings(db, owner, deadline, error);
  if (code) return code;
  if (!wake->rings) wake->rings = calloc(1, sizeof *wake->rings);
  struct rings *rings = wake->rings;
  if (!rings) return fail(error, TIDINGS_E_NOMEM, "no memory to look for woken sessions");
  for (uint32_t group = 0; group < RING_GROUPS; group++) {
    rings->moved[group] = 0;
    rings->groups[group] = wake->groups[group];
    if (rings->groups[group] == rings->seen_groups[group]) continue;
    for (uint32_t i = 0; i < RING_GROUP; i++) {
      uint32_t ring = group * RING_GROUP + i;
      rings->now[ring] = wake->rang[ring];
      if (rings->now[ring] != atomic_load(&rings->seen[ring]))
        rings->moved[group] |= (uint64_t)1 << i;
    }
    if (rings->moved[group]) any = true;
    else rings->seen_groups[group] = rings->groups[group];
  }
  *ret_rings = any ? rings : NULL;
  return 0;
}

/* True for each process that waits, because a connection can be lost unnoticed. */
bool db_may_ring(struct db *db) { return db->wake->fifo >= 0; }

void db_rings_mark_seen(struct db *db) {
  struct rings *rings = db->wake->rings;
  for (uint32_t group = 0; group < RING_GROUPS; group++) {
    if (!rings->moved[group]) continue;
    for (uint32_t ring = group * RING_GROUP; ring < (group + 1) * RING_GROUP; ring++) {
      if (ring_moved(rings, ring)) atomic_store(&rings->seen[ring], rings->now[ring]);
    }
    rings->seen_groups[group] = rings->groups[group];
  }
}
