/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_waiters.c: rings and waiters from the inside: writers that are killed at the
 * worst moment, an instance that is closed and opened again, FIFOs of dead processes, a store with
 * too many waiters.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/ring.h"
#include "store/handle.h"
#include "store/wake/wake.h"
#include "wake_kit.h"

TestSuite(waiters, .init = kit_begin, .fini = kit_end);

static struct tidings_plugin *host(void) { return plugin_at(kit_store, (struct plugin_words){0}); }

/* -- killed at the worst moment ---------------------------------------------------------------- */

/* A write that changes session "s" and rings its owner; not committed. */
static struct store_txn *begin_ringing(struct store *store) {
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  uint32_t number;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, NULL), 0);
  cr_assert_eq(session_add(txn, span_text("s"), &number, NULL), 0);
  cr_assert_eq(head_get(txn, number, &arena, &head, NULL), 0);
  cr_assert_eq(head_put(txn, number, &head, NULL), 0);
  store_ring(txn, number, &head.owner);
  arena_free(&arena);
  return txn;
}

static int stop_in_a_commit(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  struct store_txn *txn = begin_ringing(store);
  (void)context;
  rings_begin(txn->db);
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(waiters, a_writer_killed_in_its_commit_leaves_its_session_to_be_named) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  for (int i = 0; i < 3; i++) {
    struct child writer = child_start(stop_in_a_commit, NULL);
    child_await(&writer);
    next_is(plugin, "s"); /* it may have been committed by now */
    next_is(plugin, "");  /* but it is not named again and again */
    child_kill(&writer);
    cr_assert(!is_rung(fd, 0));
    next_is(plugin, "s");
    next_is(plugin, "");
    next_is(plugin, "");
  }
  push_by_another("s", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  next_is(plugin, "s");
  plugin_end(plugin);
}

static int commit_without_calling(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  struct store_txn *txn = begin_ringing(store);
  (void)self;
  (void)context;
  txn->db->called_count = 0;
  return store_commit(txn, NULL);
}

Test(waiters, a_writer_killed_between_commit_and_ring_leaves_its_session_to_be_named) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  struct child writer = child_start(commit_without_calling, NULL);
  cr_assert_eq(child_wait(&writer), 0);
  cr_assert(!is_rung(fd, 0));
  next_is(plugin, "s"); /* whatever made the host ask: wake_at does */
  next_is(plugin, "");
  plugin_end(plugin);
}

/* A dead writer's ring must not be taken for the waiting thread's own. */
Test(waiters, its_own_commit_does_not_hide_a_dead_writer) {
  struct tidings_plugin *plugin = host();
  (void)waiting(plugin);
  struct child writer = child_start(stop_in_a_commit, NULL);
  child_await(&writer);
  child_kill(&writer);
  cr_assert_eq(store_commit(begin_ringing(store_of(plugin)), NULL), 0);
  next_is(plugin, "s");
  next_is(plugin, "");
  plugin_end(plugin);
}

Test(waiters, a_write_that_is_given_up_rings_nobody) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  atomic_store(&store_of(plugin)->db->wake.waiting_thread, 0); /* as if another thread did it */
  store_end(begin_ringing(store_of(plugin)));
  cr_assert(!is_rung(fd, 0));
  next_is(plugin, "");
  plugin_end(plugin);
}

Test(waiters, more_owners_than_a_write_notes_are_all_called) {
  struct tidings_plugin *plugin = host();
  struct store *store = store_of(plugin);
  int fd = waiting(plugin);
  struct store_txn *txn = begin_ringing(store);
  struct owner owner = *store_self(store);
  for (uint32_t i = 0; i < CALLED_OWNERS; i++) {
    owner.pid += 1;
    db_ring(txn->db, 100 + i, &owner, 0);
  }
  cr_assert_eq(store_commit(txn, NULL), 0);
  cr_assert(is_rung(fd, 0));
  next_is(plugin, "s");
  next_is(plugin, "");
  plugin_end(plugin);
}

/* -- sessions share counters ------------------------------------------------------------------- */

Test(waiters, a_counter_that_sessions_share_names_only_ours) {
  struct child other = child_living();
  struct store *store = store_at(kit_store);
  struct store_txn *txn;
  char name[16] = "s";
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, NULL), 0);
  for (unsigned i = 0; i < 2 * STORE_RINGS + 1;
       i++) { /* the numbers of s, t and u are equal modulo STORE_RINGS */
    uint32_t number;
    (void)snprintf(name, sizeof name,
                   i == 0                 ? "s"
                   : i == STORE_RINGS     ? "t"
                   : i == 2 * STORE_RINGS ? "u"
                                          : "other-%u",
                   i);
    cr_assert_eq(session_add(txn, span_text(name), &number, NULL), 0);
  }
  cr_assert_eq(store_commit(txn, NULL), 0);
  store_close(store);
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  take_session(plugin, "t");
  plugin_end(plugin);
  plugin = host();
  int fd = waiting(plugin);
  take_session(plugin, "u");
  push_by_another("t", CRITICAL);
  cr_assert(!is_rung(fd, 0));
  push_by_another("u", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  next_are(plugin, "s u"); /* s shares the counter: asked in vain, which does no harm */
  plugin_end(plugin);
  child_kill(&other);
}

/* -- another instance of the same process ------------------------------------------------------ */

Test(waiters, the_fifo_outlives_its_instance_and_keeps_what_rings_meanwhile) {
  struct tidings_plugin *plugin = host();
  int polled = fcntl(waiting(plugin), F_DUPFD_CLOEXEC, 0);
  struct stat before, after;
  cr_assert_geq(polled, 0);
  plugin_end(plugin);
  push_by_another("s", CRITICAL); /* between two instances */
  cr_assert(is_rung(polled, LONG_MS));
  plugin = host();
  next_is(plugin, "s"); /* although the new instance was not asked for a descriptor */
  next_is(plugin, "");
  cr_assert(!is_rung(polled, 0), "it was emptied");
  push_by_another("s", CRITICAL);
  cr_assert(is_rung(polled, LONG_MS));
  next_is(plugin, "s");
  next_is(plugin, "");
  cr_assert_eq(fstat(polled, &before), 0);
  cr_assert_eq(fstat(wake_fd(plugin), &after), 0);
  cr_assert_eq(before.st_ino, after.st_ino);
  close(polled);
  plugin_end(plugin);
}

Test(waiters, an_instance_asked_for_the_descriptor_again_makes_the_host_look) {
  struct tidings_plugin *plugin = host();
  int polled = fcntl(waiting(plugin), F_DUPFD_CLOEXEC, 0);
  take_session(plugin, "t");
  plugin_end(plugin);
  plugin = host();
  (void)wake_fd(plugin);
  cr_assert(is_rung(polled, 0));
  next_are(plugin, "s t"); /* each once, whether it rang or not */
  cr_assert(!is_rung(polled, 0));
  close(polled);
  plugin_end(plugin);
}

Test(waiters, what_an_instance_had_not_named_yet_is_left_to_the_next) {
  struct tidings_plugin *plugin = host();
  int polled = fcntl(waiting(plugin), F_DUPFD_CLOEXEC, 0);
  take_session(plugin, "t");
  push_by_another("s", CRITICAL);
  push_by_another("t", CRITICAL);
  next_is_one_of(plugin, "s t");
  cr_assert(!is_rung(polled, 0));
  plugin_end(plugin);
  cr_assert(is_rung(polled, 0));
  plugin = host();
  next_are(plugin, "s t");
  close(polled);
  plugin_end(plugin);
}

/* -- slots and files --------------------------------------------------------------------------- */

static size_t fifos(void) {
  size_t count = 0;
  DIR *folder = opendir(kit_store);
  const struct dirent *entry;
  cr_assert_not_null(folder);
  while ((entry = readdir(folder))) count += strncmp(entry->d_name, "wake.", 5) == 0;
  closedir(folder);
  return count;
}

static int wait_for_death(struct child *self, void *context) {
  (void)context;
  (void)wake_fd(host());
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(waiters, the_dead_are_forgotten_when_the_store_is_opened) {
  struct child dead = child_start(wait_for_death, NULL), alive = child_start(wait_for_death, NULL);
  child_await(&dead);
  child_await(&alive);
  struct tidings_plugin *plugin = host();
  (void)waiting(plugin);
  cr_assert_eq(fifos(), 3);
  child_kill(&dead);
  plugin_end(plugin);
  cr_assert_eq(fifos(), 3);
  plugin = host();
  cr_assert_eq(fifos(), 2, "this process's own, and that of the living one");
  child_kill(&alive);
  plugin_end(plugin);
  store_close(store_at(kit_store));
  cr_assert_eq(fifos(), 1);
}

Test(waiters, a_pid_that_is_somebody_elses_by_now_is_found_out_by_the_first_who_opens) {
  struct child other = child_living();
  struct store *store = store_at(kit_store);
  int fd;
  cr_assert_eq(store_wait(store, store_self(store), KIT_BUDGET_MS, &fd, NULL), 0);
  struct wait_slot *slot = &store->db->shared.waiters[0];
  atomic_store(&slot->pid, (uint32_t)other.pid);
  atomic_store(&slot->start_time, 1); /* not its: both may have begun in one tick of the clock */
  store_close(store);
  store = store_at(kit_store);
  cr_assert_eq(atomic_load(&store->db->shared.waiters[0].state), WAITER_NONE);
  store_close(store);
  child_kill(&other);
}

Test(waiters, fifos_that_nothing_names_any_more_are_swept) {
  struct tidings_plugin *plugin = host();
  (void)waiting(plugin);
  struct child dead = child_start(wait_for_death, NULL);
  child_await(&dead);
  child_kill(&dead);
  plugin_end(plugin);
  FILE *note = fopen(kit_path("store/wake.up"), "w");
  cr_assert_not_null(note);
  (void)fclose(note);
  cr_assert_eq(unlink(kit_path("store/shared")), 0);
  cr_assert_eq(fifos(), 3);
  plugin = host();
  cr_assert_eq(fifos(), 2, "our own stays, and a file that is none of ours");
  (void)wake_fd(plugin);
  cr_assert_eq(fifos(), 2);
  plugin_end(plugin);
}

Test(waiters, a_full_store_says_so_until_somebody_dies) {
  struct tidings_plugin *plugin = host();
  struct store *store = store_of(plugin);
  struct child other = child_living();
  struct owner identity;
  struct tidings_error error = new_error();
  int32_t fd = -7;
  cr_assert_eq(owner_of_process((uint32_t)other.pid, &identity), 0);
  for (size_t i = 0; i < STORE_WAITERS; i++) {
    struct wait_slot *slot = &store->db->shared.waiters[i];
    atomic_store(&slot->pid, identity.pid);
    atomic_store(&slot->start_time, identity.start_time);
    atomic_store(&slot->state, WAITER_READY);
  }
  atomic_store(&store->db->shared.page->waiters_end, STORE_WAITERS);
  take_session(plugin, "s");
  cr_assert_eq(wake_extension()->descriptor(plugin, &fd, &error), TIDINGS_E_FULL);
  cr_assert(strstr(error.text, ": 256 processes wait on it already, which is the limit; end "
                               "one, or use only wake_at"),
            "%s", error.text);
  cr_assert_eq(fd, -7);
  next_is(plugin, "s"); /* the plugin works without a slot */
  push_by_another("s", CRITICAL);
  next_is(plugin, "s");
  child_kill(&other);
  cr_assert_geq(wake_fd(plugin), 0);
  plugin_end(plugin);
}

static int descriptor_of(struct tidings_plugin *plugin, struct tidings_error *error) {
  int32_t fd = -7;
  int code = wake_extension()->descriptor(plugin, &fd, error);
  cr_assert(code == 0 || fd == -7);
  return code;
}

Test(waiters, what_is_no_fifo_is_not_used) {
  struct tidings_plugin *plugin = host();
  const struct owner *self = store_self(store_of(plugin));
  struct tidings_error error = new_error();
  char name[64], path[500];
  (void)snprintf(name, sizeof name, "wake.%u.%llu", self->pid,
                 (unsigned long long)self->start_time);
  (void)snprintf(path, sizeof path, "%s/%s", kit_store, name);
  cr_assert_eq(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
  cr_assert_eq(descriptor_of(plugin, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "cannot be used: it is not a FIFO that you own; move it away"), "%s",
            error.text);
  cr_assert_eq(unlink(path), 0);
  cr_assert_eq(mkfifo(kit_path("elsewhere"), 0600), 0);
  cr_assert_eq(symlink(kit_path("elsewhere"), path), 0);
  cr_assert_eq(descriptor_of(plugin, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, strerror(ELOOP)), "%s", error.text);
  cr_assert_eq(unlink(path), 0);
  cr_assert_eq(descriptor_of(plugin, &error), 0, "%s", error.text);
  plugin_end(plugin);
}

Test(waiters, the_fifo_is_its_users_alone_whatever_the_umask) {
  struct tidings_plugin *plugin = host();
  struct stat entry;
  mode_t before = umask(0777);
  int fd = wake_fd(plugin);
  (void)umask(before);
  cr_assert_eq(fstat(fd, &entry), 0);
  cr_assert_eq(entry.st_mode & 07777, 0600);
  plugin_end(plugin);
}

/* Writers do not wait for a reader that does not read, and the reader's next look empties the
 * FIFO. */
Test(waiters, a_full_pipe_holds_nobody_up) {
  struct tidings_plugin *plugin = host();
  struct store *store = store_of(plugin);
  int fd = waiting(plugin);
  for (int i = 0; i < 70000; i++) store_wait_again(store);
  cr_assert_eq(write(fd, "", 1), -1);
  cr_assert_eq(errno, EAGAIN);
  push_by_another("s", CRITICAL);
  next_is(plugin, "s");
  next_is(plugin, "");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}
