/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/wake.c: a process that sleeps until a session of its owner needs an action. A
 * thread listens on the process's channel while the descriptor is used, and writes a byte to a
 * FIFO. The FIFO is in a folder of the user's, named by pid and start time: it outlives this build
 * of the plugin. Which sessions rang is in their rows.
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

#include "store/db/postgres/engine.h"

enum { LISTEN_BUDGET_MS = 5000, RETRY_MS = 1000 };

struct pg_wake {
  struct db *db;
  struct owner owner;
  int fifo; /* -1: this process does not wait */
  int stop; /* eventfd: the thread is to end */
  pthread_t thread;
  bool runs;
  pthread_mutex_t lock;        /* of the connection */
  struct pg_conn *conn;        /* that listens; NULL: it is gone */
  _Atomic uint32_t changes[1]; /* odd: what has changed is only known by asking */
  uint32_t rang[STORE_RINGS], groups[RING_GROUPS]; /* as the database has it */
  struct rings *rings;
};

int pg_wake_init(struct db *db) {
  struct pg_wake *wake = calloc(1, sizeof *wake);
  if (!wake) return -1;
  wake->db = db;
  wake->fifo = wake->stop = -1;
  (void)pthread_mutex_init(&wake->lock, NULL);
  atomic_init(&wake->changes[0], 3); /* no value that a session is quiet at */
  db->wake = wake;
  return 0;
}

const _Atomic uint32_t *db_changes(struct db *db, uint32_t session) {
  (void)session; /* other machines write too: a hook asks the database */
  return &db->wake->changes[0];
}

/* -- phases: on other machines they can be known from the head alone --------------------------- */

int db_phase(const struct db *db, uint32_t session, uint64_t epoch) {
  (void)db;
  (void)session;
  (void)epoch;
  return -1;
}

bool db_phase_set(struct db *db, uint32_t session, uint64_t epoch, unsigned phase) {
  (void)db;
  (void)session;
  (void)epoch;
  (void)phase;
  return false;
}

void db_phase_clear(struct db *db, uint32_t session) {
  (void)db;
  (void)session;
}

bool db_calls(struct db *db, const struct calls_of *whose, calls_visitor visit, void *context) {
  (void)db; /* they are committed */
  (void)whose;
  (void)visit;
  (void)context;
  return false;
}

bool db_calls_any(const struct db *db, uint32_t session) {
  (void)db;
  (void)session;
  return false;
}

void db_calls_forget(struct db *db, uint32_t session) {
  (void)db;
  (void)session;
}

/* -- the FIFO ---------------------------------------------------------------------------------- */

static void fifo_path(const struct db *db, char *path, size_t size) {
  const char *folder = getenv("XDG_RUNTIME_DIR");
  if (folder && folder[0] == '/')
    (void)snprintf(path, size, "%s/tidings.wake.%u.%llu", folder, db->self.pid,
                   (unsigned long long)db->self.start_time);
  else
    (void)snprintf(path, size, "/tmp/tidings-%u/wake.%u.%llu", geteuid(), db->self.pid,
                   (unsigned long long)db->self.start_time);
}

static int fifo_failed(const char *path, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE, "the FIFO %s cannot be used: %s", path, strerror(errno));
}

static int open_fifo(const char *path, int *ret_fd, struct tidings_error *error) {
  struct stat entry;
  int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && !fstat(fd, &entry) && S_ISFIFO(entry.st_mode) && entry.st_uid == geteuid()) {
    *ret_fd = fd;
    return 0;
  }
  if (fd >= 0) {
    close(fd);
    errno = ENOTSUP;
  }
  return fifo_failed(path, error);
}

static int make_fifo(const struct db *db, int *ret_fd, struct tidings_error *error) {
  char path[256], folder[64];
  struct stat entry;
  (void)snprintf(folder, sizeof folder, "/tmp/tidings-%u", geteuid());
  fifo_path(db, path, sizeof path);
  if (strncmp(path, "/tmp/", 5) == 0) {
    (void)mkdir(folder, 0700);
    if (lstat(folder, &entry) || !S_ISDIR(entry.st_mode) || entry.st_uid != geteuid() ||
        entry.st_mode & 077)
      return fail(error, TIDINGS_E_STORE, "%s is not a folder of yours alone; set XDG_RUNTIME_DIR",
                  folder);
  }
  bool again = mkfifo(path, 0600) != 0;
  if (again && errno != EEXIST) return fifo_failed(path, error);
  int code = open_fifo(path, ret_fd, error);
  /* What rang between two openings is looked for once more. */
  if (!code && again && write(*ret_fd, "", 1) < 0 && errno != EAGAIN)
    code = fifo_failed(path, error);
  return code;
}

static void ring_bell(const struct pg_wake *wake) {
  ssize_t written;
  do written = write(wake->fifo, "", 1);
  while (written < 0 && errno == EINTR);
}

/* -- the thread -------------------------------------------------------------------------------- */

static int run_text(struct db *db, struct pg_conn *conn, const char *sql) {
  PGresult *result = NULL;
  int rc = PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0)
               ? pg_run(db, conn, store_deadline_in(LISTEN_BUDGET_MS), &result, 1)
               : PG_E_LOST;
  PQclear(result);
  return rc;
}

static void hex(const uint8_t *bytes, size_t len, char *text) {
  for (size_t i = 0; i < len; i++) (void)sprintf(text + 2 * i, "%02x", bytes[i]);
}

static int listen_on(struct pg_wake *wake, store_deadline deadline, struct pg_conn **ret_conn) {
  uint8_t process[PG_OWNER_BYTES], owner[PG_OWNER_BYTES];
  char process_hex[2 * PG_OWNER_BYTES + 1], owner_hex[2 * PG_OWNER_BYTES + 1], sql[512];
  struct pg_conn *conn = NULL;
  if (pg_conn_open(wake->db, deadline, &conn, NULL)) return -1;
  pg_owner_bytes(&wake->db->self, process);
  pg_owner_bytes(&wake->owner, owner);
  hex(process, sizeof process, process_hex);
  hex(owner, sizeof owner, owner_hex);
  /* A channel's name has 63 bytes at most: the end of it says which process. */
  (void)snprintf(sql, sizeof sql, "LISTEN \"tidings_%s\"",
                 process_hex + sizeof process_hex - 1 - 40);
  int rc = run_text(wake->db, conn, sql);
  (void)snprintf(sql, sizeof sql,
                 "INSERT INTO waiter VALUES ('\\x%s', '\\x%s') ON CONFLICT DO NOTHING", owner_hex,
                 process_hex);
  if (!rc) rc = run_text(wake->db, conn, sql);
  if (rc) pg_conn_close(conn);
  else *ret_conn = conn;
  return rc ? -1 : 0;
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
  if (!failed) ring_bell(wake); /* what was missed is found in the store */
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
  pthread_mutex_lock(&wake->lock);
  drop_conn(wake);
  pthread_mutex_unlock(&wake->lock);
  return NULL;
}

/* Who has the descriptor is called from now on, if the server answers within the budget. */
static int start_thread(struct pg_wake *wake, uint32_t budget_ms, struct tidings_error *error) {
  if (wake->runs) return 0;
  if (!wake->conn) (void)listen_on(wake, store_deadline_in(budget_ms), &wake->conn);
  if (wake->stop < 0) wake->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake->stop < 0 || pthread_create(&wake->thread, NULL, listen_thread, wake))
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
  pg_conn_close(wake->conn);
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
  int code = wake->fifo < 0 ? make_fifo(db, &wake->fifo, error) : 0;
  wake->owner = *owner;
  if (!code) code = start_thread(wake, budget_ms, error);
  if (!code) *ret_fd = wake->fifo;
  return code;
}

bool db_waits(const struct db *db) {
  char path[256];
  struct stat entry;
  if (db->wake->fifo >= 0) return true;
  fifo_path(db, path, sizeof path);
  return lstat(path, &entry) == 0 && S_ISFIFO(entry.st_mode);
}

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

/* Which have rung is in the database: a notification only says that it is time to look. */
static int ask_rings(struct db *db, const struct owner *owner, struct tidings_error *error) {
  struct pg_wake *wake = db->wake;
  store_deadline deadline = store_deadline_in(LISTEN_BUDGET_MS);
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

int db_rings_look(struct db *db, const struct owner *owner, const struct rings **ret_rings,
                  struct tidings_error *error) {
  struct pg_wake *wake = db->wake;
  bool any = false;
  int code = ask_rings(db, owner, error);
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
