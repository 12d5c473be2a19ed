/* SPDX-License-Identifier: MIT
 *
 * instance/instance.c: open, quiesce and close, and the gate that every call passes through.
 */
#include "instance/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "common/libc.h"
#include "store/wake/wake.h"

/* The gate is one word, so that quiesce sees calls and replies at one moment and shuts it only if
 * there are none: the lower half counts calls, the upper one replies. */
#define GATE_REPLY ((uint64_t)1 << 32)
#define GATE_SHUT ((uint64_t)1 << 63)
enum { DEFAULT_BUDGET_MS = 250, OPEN_BUDGET_MS = 10000 };

int64_t instance_now(const struct instance *instance) {
  static const int64_t first_ms = -62135596800000, last_ms = 253402300799999;
  int64_t now_ms = instance->host.now_ms(instance->host.context);
  return now_ms < first_ms ? first_ms : now_ms > last_ms ? last_ms : now_ms;
}

/* -- a session's lock -------------------------------------------------------------------------- */

int instance_lock_session(struct instance *instance, uint32_t session, store_deadline deadline,
                          struct tidings_error *error) {
  pthread_mutex_t *lock = &instance->session_locks[session % SESSION_LOCKS];
  if (pthread_mutex_trylock(lock) == 0 || libc_lock_until(lock, deadline) == 0) return 0;
  return fail(error, TIDINGS_E_BUSY,
              "another call for this session is under way; nothing was lost, try again");
}

void instance_unlock_session(struct instance *instance, uint32_t session) {
  pthread_mutex_unlock(&instance->session_locks[session % SESSION_LOCKS]);
}

/* -- open -------------------------------------------------------------------------------------- */

store_deadline instance_deadline(const struct instance *instance) {
  store_deadline deadline = store_deadline_in(instance->budget_ms);
  return deadline < instance->until ? deadline : instance->until;
}

static store_deadline last_deadline(uint64_t total_ms) {
  if (!total_ms) return UINT64_MAX;
  return store_deadline_in(total_ms < UINT32_MAX ? (uint32_t)total_ms : UINT32_MAX);
}

static void log_from_store(void *context, uint32_t severity, const char *text) {
  const struct instance *instance = context;
  struct tidings_span message = span_text(text);
  if (publisher_is_caller(&instance->publisher)) return; /* this thread must not call the host */
  instance->host.log(instance->host.context, severity, &message);
}

/* A page that the kernel hands to a forked child as zeros: one load distinguishes parent from
 * child, where getpid costs a system call. */
static const uint8_t *make_fork_mark(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, size, MADV_WIPEONFORK)) {
    munmap(page, size);
    return NULL;
  }
  *page = 1;
  return page;
}

static void drop_fork_mark(const volatile uint8_t *mark) {
  if (mark) munmap((void *)(uintptr_t)mark, (size_t)sysconf(_SC_PAGESIZE));
}

/* Finds the store: as the host said, or where the XDG base directory specification puts a
 * program's state. */
static int choose_directory(struct tidings_span wanted, char **ret_path,
                            struct tidings_error *error) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  char *path = NULL;
  int len;
  if (wanted.len) {
    if (memchr(wanted.ptr, '\0', wanted.len))
      return fail(error, TIDINGS_E_INVAL, "options.store_dir: %s has a NUL byte; expected a path",
                  quote(wanted).text);
    len = asprintf(&path, "%.*s", (int)wanted.len, wanted.ptr);
  } else if (state && state[0] == '/') {
    len = asprintf(&path, "%s/tidings", state);
  } else if (home && home[0] == '/') {
    len = asprintf(&path, "%s/.local/state/tidings", home);
  } else {
    return fail(
        error, TIDINGS_E_STORE,
        "no folder for the store: name one in options.store_dir, or set XDG_STATE_HOME or HOME");
  }
  if (len < 0) return fail(error, TIDINGS_E_NOMEM, "no memory for the store's path");
  *ret_path = path;
  return 0;
}

static int open_store(struct instance *instance, struct tidings_span wanted,
                      store_deadline deadline, struct tidings_error *error) {
  char *path = NULL;
  int code = choose_directory(wanted, &path, error);
  if (code) return code;
  struct store_options options = {.directory = path,
                                  .log = log_from_store,
                                  .log_context = instance,
                                  .create_budget_ms = (uint32_t)store_deadline_left_ms(deadline),
                                  .now_ms = instance_now(instance),
                                  .random = instance->host.random,
                                  .random_context = instance->host.context};
  code = store_open(&options, &instance->store, error);
  if (!code && !instance->owner.pid) instance->owner = *store_self(instance->store);
  free(path);
  return code;
}

/* The host is this process, unless it said otherwise. */
static int find_owner(struct instance *instance, uint32_t owner_pid, struct tidings_error *error) {
  char reason[OWNER_REASON_BYTES];
  if (!owner_pid || owner_of_process(owner_pid, &instance->owner) == 0) return 0;
  owner_reason(owner_pid, reason);
  return fail(error, TIDINGS_E_INVAL,
              "options.owner_pid: %s; expected the pid of the running host, or 0 for this process",
              reason);
}

static void instance_free(struct instance *instance) {
  /* The next instance of this process names the sessions that rang and were not named yet. */
  if (!wake_is_empty(&instance->wake) || instance->wake.failed.count)
    store_wait_again(instance->store);
  publisher_finish(&instance->publisher);
  wake_finish(&instance->wake);
  handed_out_finish(&instance->handed_out);
  store_close(instance->store);
  configuration_done(instance->configuration);
  session_table_finish(&instance->sessions);
  for (size_t i = 0; i < SESSION_LOCKS; i++) pthread_mutex_destroy(&instance->session_locks[i]);
  pthread_mutex_destroy(&instance->configuration_lock);
  remembered_finish(&instance->remembered);
  unseen_finish(&instance->unseen);
  drop_fork_mark(instance->fork_mark);
  arena_free(&instance->arena);
  free(instance);
}

int instance_open(const struct tidings_host *host, const struct tidings_open_options *options,
                  struct instance **ret_instance, struct tidings_error *error) {
  struct instance *instance = calloc(1, sizeof *instance);
  int code = 0;
  if (!instance) return fail(error, TIDINGS_E_NOMEM, "no memory for an instance");
  instance->host = *host; /* entry.c has filled in the members that an older host lacks */
  instance->role = options->role;
  instance->until = last_deadline(options->total_budget_ms);
  instance->budget_ms = options->hook_budget_ms ? options->hook_budget_ms : OPEN_BUDGET_MS;
  store_deadline deadline = instance_deadline(instance);
  instance->settle_on_return = options->settle_on_return;
  (void)session_table_init(&instance->sessions);
  (void)pthread_mutex_init(&instance->configuration_lock, NULL);
  remembered_init(&instance->remembered);
  unseen_init(&instance->unseen);
  publisher_init(&instance->publisher);
  wake_init(&instance->wake);
  handed_out_init(&instance->handed_out);
  for (size_t i = 0; i < SESSION_LOCKS; i++)
    (void)pthread_mutex_init(&instance->session_locks[i], NULL);
  instance->fork_mark = make_fork_mark();
  if (!instance->fork_mark)
    code = fail(error, TIDINGS_E_NOMEM, "no memory for the fork mark: %s", strerror(errno));
  if (!code && arena_copy(&instance->arena, options->host_name, &instance->host_name))
    code = fail(error, TIDINGS_E_NOMEM, "no memory for options.host_name");
  if (!code) code = configuration_set(instance, options->configuration, error);
  if (!code) code = find_owner(instance, options->owner_pid, error);
  if (!code) code = open_store(instance, options->store_dir, deadline, error);
  if (!code) code = configuration_complete(instance, instance->configuration, deadline, error);
  if (code) {
    instance_free(instance);
    return code;
  }
  if (!options->hook_budget_ms) instance->budget_ms = DEFAULT_BUDGET_MS;
  *ret_instance = instance;
  return 0;
}

/* -- the gate ---------------------------------------------------------------------------------- */

int instance_enter(struct instance *instance, struct tidings_error *error) {
  if (!*instance->fork_mark)
    return fail(
        error, TIDINGS_E_CLOSED,
        "this process was forked from the one that opened the store; open an instance of its own");
  if (!(atomic_fetch_add_explicit(&instance->gate, 1, memory_order_acquire) & GATE_SHUT)) return 0;
  instance_leave(instance);
  return fail(error, TIDINGS_E_CLOSED, "the instance is quiesced; open another");
}

void instance_leave(struct instance *instance) {
  atomic_fetch_sub_explicit(&instance->gate, 1, memory_order_release);
}

void instance_hand_out(struct instance *instance, struct handed_out_node *node,
                       enum handed_out_kind kind, const void *what) {
  handed_out_add(&instance->handed_out, node, kind, what);
  atomic_fetch_add_explicit(&instance->gate, GATE_REPLY, memory_order_relaxed);
}

bool instance_claim(struct instance *instance, enum handed_out_kind kind, const void *what) {
  static const char *const texts[] = {
      [HANDED_OUT_REPLY] = "release: INVAL: this is no reply that is out: it was released before, "
                           "or this instance never handed it out; nothing was done",
      [HANDED_OUT_ANSWER] = "release_answer: INVAL: this is no answer that is out: it was released "
                            "before, or this instance never handed it out; nothing was done"};
  if (!*instance->fork_mark) return false;
  if (handed_out_remove(&instance->handed_out, kind, what)) return true;
  struct tidings_span text = span_text(texts[kind]);
  instance->host.log(instance->host.context, TIDINGS_LOG_ERROR, &text);
  return false;
}

void instance_take_back(struct instance *instance) {
  atomic_fetch_sub_explicit(&instance->gate, GATE_REPLY, memory_order_release);
}

int instance_quiesce(struct instance *instance, struct tidings_error *error) {
  uint64_t gate = 0;
  if (!*instance->fork_mark)
    return fail(error, TIDINGS_E_CLOSED,
                "this process was forked from the one that opened the store");
  if (atomic_load(&instance->gate) & GATE_SHUT) return 0;
  if (atomic_compare_exchange_strong(&instance->gate, &gate, GATE_SHUT)) return 0;
  unsigned long long calls = gate & (GATE_REPLY - 1), replies = (gate & ~GATE_SHUT) / GATE_REPLY;
  if (!replies)
    return fail(error, TIDINGS_E_BUSY, "%llu calls are under way; wait for them and try again",
                calls);
  return fail(error, TIDINGS_E_BUSY,
              "%llu replies have not been released and %llu calls are under way; release them and "
              "try again",
              replies, calls);
}

void instance_admit(struct instance *instance) { atomic_fetch_and(&instance->gate, ~GATE_SHUT); }

int instance_close(struct instance *instance, struct tidings_error *error) {
  int code =
      instance_quiesce(instance, error); /* CLOSED in a forked child: the store is the parent's */
  if (code) return code;
  instance_free(instance);
  return 0;
}
