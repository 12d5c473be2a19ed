/* SPDX-License-Identifier: MIT
 *
 * flow/wake.c: the extension `tidings.wake/1`, after its arguments were checked. It empties the
 * FIFO first, then reads the counters, then the store: in this order no wake-up is lost. If naming
 * a session or its `wake` event fails, a later call names the session again. A byte is put into the
 * FIFO too, but only if the store was busy: that ends, and the call has waited for it. After other
 * errors, a host with a broken store would never sleep.
 */
#include "store/wake/wake.h"
#include "common/error.h"
#include "flow/internal.h"

struct search { /* in one snapshot */
  struct op *op;
  const struct rings *rings;
  struct tidings_error *error;
};

static bool is_busy(int code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_OUTCOME_UNKNOWN;
}

static int no_memory_for_rung(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for the woken sessions");
}

/* -- whose session is it, and what is it called? ----------------------------------------------- */

static int add_rung(struct search *search, const struct session *session) {
  if (!session || wake_add(&search->op->instance->wake, session))
    return no_memory_for_rung(search->error);
  return 0;
}

static int add_by_name(struct search *search, struct tidings_span name, uint32_t number) {
  struct instance *instance = search->op->instance;
  return add_rung(search, session_table_add(&instance->sessions, name, number,
                                            store_changes(instance->store, number)));
}

/* A session with a damaged head has no owner, and every call for it reports the damage. */
static int check_mine(struct search *search, uint32_t number, bool *ret_mine) {
  struct op *op = search->op;
  op->session = number;
  int code = op_get_head(op, NULL);
  *ret_mine = !code && op_owns_session(op);
  arena_free(&op->arena);
  return code == TIDINGS_E_NOMEM ? no_memory_for_rung(search->error) : 0;
}

static int add_if_mine(void *context, struct tidings_span name, uint32_t number) {
  struct search *search = context;
  bool mine;
  int code = check_mine(search, number, &mine);
  return code || !mine ? code : add_by_name(search, name, number);
}

/* -- what rang --------------------------------------------------------------------------------- */

/* Sessions share counters, so one that did not ring may be added too. */
static int add_if_rung(void *context, struct tidings_span name, uint32_t number) {
  const struct search *search = context;
  return ring_moved(search->rings, number % STORE_RINGS) ? add_if_mine(context, name, number) : 0;
}

/* The first search adds all sessions of ours, because an earlier instance may not have named all
 * that rang. */
static int search_store(struct instance *instance, const struct rings *rings, bool all,
                        struct tidings_error *error) {
  struct op op;
  struct search search = {.op = &op, .rings = rings, .error = error};
  op_begin(&op, instance, span_of(NULL, 0), instance_deadline(instance));
  int code = op_read_only(&op, error); /* a session that nobody has opened is not ours */
  if (!code) code = session_scan(op.txn, all ? add_if_mine : add_if_rung, &search, error);
  op_end(&op);
  return code;
}

/* Adds the sessions that rang to the list. */
static int look_for_rings(struct instance *instance, struct tidings_error *error) {
  struct wake *wake = &instance->wake;
  const struct rings *rings = NULL;
  bool all = !wake->started;
  size_t before = wake->ready.count;
  store_wait_drain(instance->store);
  int code = store_rings_look(instance->store, &instance->owner, instance_deadline(instance),
                              &rings, error);
  if (code || (!rings && !all)) return code;
  code = search_store(instance, rings, all, error);
  if (code) {
    wake->ready.count = before;
    return code;
  }
  if (rings) store_rings_mark_seen(instance->store);
  wake->started = true;
  return 0;
}

/* -- the calls --------------------------------------------------------------------------------- */

static int enlist_waiter(struct instance *instance, int *ret_fd, struct tidings_error *error) {
  int code =
      store_wait(instance->store, &instance->owner,
                 (uint32_t)store_deadline_left_ms(instance_deadline(instance)), ret_fd, error);
  if (!code) atomic_store(&instance->wake_used, true);
  return code;
}

int flow_wake_descriptor(struct instance *instance, int32_t *ret_fd, struct tidings_error *error) {
  int fd;
  pthread_mutex_lock(&instance->wake.lock);
  int code = enlist_waiter(instance, &fd, error);
  pthread_mutex_unlock(&instance->wake.lock);
  if (!code) *ret_fd = fd;
  return code;
}

/* The host may still poll the descriptor of an earlier instance without asking for one again. */
static int enlist_again(struct instance *instance, struct tidings_error *error) {
  int fd;
  if (instance->wake.started || !store_waits(instance->store)) return 0;
  return enlist_waiter(instance, &fd, error);
}

static int name_next(struct wake *wake, char *buffer, size_t buffer_size, size_t *ret_len,
                     struct tidings_error *error) {
  wake->ended = wake_is_empty(wake);
  if (wake->ended) {
    *ret_len = 0;
    return 0;
  }
  struct tidings_span id = wake->ready.items[wake->next]->id;
  if (id.len > buffer_size) {
    return fail(error, TIDINGS_E_INVAL,
                "buffer_size: %zu; expected at least %zu for the next session's id (255 is "
                "always enough)",
                buffer_size, id.len);
  }
  memcpy(buffer, id.ptr, id.len);
  *ret_len = id.len;
  wake->next++;
  return 0;
}

/* Settles that are remembered may make something wait again. *ret_busy: they could not be done yet.
 * To be called without the lock. */
static void settle_before(struct instance *instance, bool *ret_busy) {
  struct wake *wake = &instance->wake;
  pthread_mutex_lock(&wake->lock);
  bool starts = wake_is_empty(wake);
  pthread_mutex_unlock(&wake->lock);
  *ret_busy =
      starts && is_busy(flow_settle_remembered(instance, instance_deadline(instance), NULL));
}

int flow_wake_next(struct instance *instance, char *buffer, size_t buffer_size, size_t *ret_len,
                   struct tidings_error *error) {
  struct wake *wake = &instance->wake;
  bool busy;
  settle_before(instance, &busy);
  pthread_mutex_lock(&wake->lock);
  int code = enlist_again(instance, error);
  if (!code && wake_is_empty(wake)) {
    wake_start_again(wake);
    code = look_for_rings(instance, error);
  }
  if (!code) code = name_next(wake, buffer, buffer_size, ret_len, error);
  if (!code && wake->ended && (wake->failed_rings || busy)) store_wait_again(instance->store);
  pthread_mutex_unlock(&wake->lock);
  return code;
}

/* -- naming a session again -------------------------------------------------------------------- */

struct by_number {
  uint32_t number;
  const struct session *found;
};

static bool has_other_number(void *context, struct session *session) {
  struct by_number *wanted = context;
  if (session->number == wanted->number) wanted->found = session;
  return !wanted->found;
}

static const struct session *find_by_number(struct instance *instance, uint32_t number) {
  struct by_number wanted = {.number = number};
  if (number) session_table_each(&instance->sessions, has_other_number, &wanted);
  return wanted.found;
}

static void name_again(struct instance *instance, const struct session *session, bool rings) {
  struct wake *wake = &instance->wake;
  pthread_mutex_lock(&wake->lock);
  if (!session || wake_add_failed(wake, session)) wake->started = false;
  if (rings) {
    wake->failed_rings = true;
    store_wait_again(instance->store);
  }
  pthread_mutex_unlock(&wake->lock);
}

void flow_wake_again(struct instance *instance, uint32_t number) {
  name_again(instance, find_by_number(instance, number), true);
}

/* A session that next_session has named is in the table. Any other was woken at its wake_at, which
 * the host keeps when the call fails. */
void flow_wake_failed(struct instance *instance, uint32_t number, int code) {
  if (!is_busy(code) && code != TIDINGS_E_NOMEM && code != TIDINGS_E_STORE) return;
  const struct session *session = find_by_number(instance, number);
  if (session || code == TIDINGS_E_OUTCOME_UNKNOWN) name_again(instance, session, is_busy(code));
}
