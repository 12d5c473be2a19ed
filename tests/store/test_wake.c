/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_wake.c: tests which events wake which hosts, and which sessions next_session
 * names.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/flow.h"
#include "instance/instance.h"
#include "wake_kit.h"

TestSuite(wake, .init = kit_begin, .fini = kit_end);

static struct tidings_plugin *host(void) { return plugin_at(kit_store, (struct plugin_words){0}); }

Test(wake, the_descriptor_is_a_fifo_that_neither_blocks_nor_is_inherited) {
  struct tidings_plugin *plugin = host();
  struct stat entry;
  int fd = wake_fd(plugin);
  cr_assert_eq(fstat(fd, &entry), 0);
  cr_assert(S_ISFIFO(entry.st_mode));
  cr_assert_eq(entry.st_mode & 07777, 0600);
  cr_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
  cr_assert_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
  cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  cr_assert_eq(wake_fd(plugin), fd, "it is the same when it is asked for again");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

Test(wake, a_critical_push_of_another_process_rings_and_names_its_session) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  push_by_another("s", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  next_is(plugin, "s");
  next_is(plugin, "");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

Test(wake, what_asks_for_a_turn_rings_too) {
  static const char *const members[] = {"\"activation\":\"idle\"",
                                        "\"activation\":\"interrupt\",\"level\":\"info\""};
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    push_by_another("s", members[i]);
    cr_assert(is_rung(fd, LONG_MS), "%s", members[i]);
    next_is(plugin, "s");
    next_is(plugin, "");
  }
  plugin_end(plugin);
}

Test(wake, what_can_wait_for_the_next_carrier_does_not_ring) {
  static const char *const members[] = {"\"level\":\"error\"", "\"activation\":\"passive\"",
                                        "\"level\":\"info\""};
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) push_by_another("s", members[i]);
  cr_assert(!is_rung(fd, 0), "the pusher has come back, so it would have rung by now");
  next_is(plugin, "");
  plugin_end(plugin);
}

static void woken(struct tidings_plugin *plugin, int fd, const char *what) {
  struct tidings_error error = new_error();
  cr_assert(is_rung(fd, LONG_MS), "%s", what);
  next_is(plugin, "s");
  next_is(plugin, "");
  cr_assert_eq(event(plugin, &error, "{\"type\":\"wake\",\"session\":\"s\"}"), 0, "%s", error.text);
}

Test(wake, messages_of_others_ring_when_the_host_is_to_act_on_them) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  event_by_another("s", "message.submitted", "\"id\":\"m1\",\"content\":\"x\"");
  woken(plugin, fd, "an offer");
  event_by_another("s", "message.cancelled", "\"id\":\"m1\"");
  woken(plugin, fd,
        "no offer any more: something that was to ride on it may want a turn of its own");
  event_by_another("s", "message.submitted", "\"id\":\"m2\",\"content\":\"x\"");
  woken(plugin, fd, "an offer");
  event_by_another("s", "message.submitted", "\"id\":\"m3\",\"content\":\"x\"");
  event_by_another("s", "message.edited", "\"id\":\"m3\",\"content\":\"y\"");
  event_by_another("s", "message.submitted", "\"id\":\"m4\",\"content\":\"x\"");
  event_by_another("s", "message.cancelled", "\"id\":\"m4\"");
  cr_assert(!is_rung(fd, 0), "what only waits has rung");
  event_by_another("s", "message.cancelled", "\"id\":\"m2\"");
  woken(plugin, fd, "the next offer");
  plugin_end(plugin);
}

/* The reply to the fork is about the parent, so the waiting thread is also rung. */
Test(wake, what_a_fork_copies_rings_for_the_child) {
  struct tidings_plugin *plugin = host();
  struct tidings_error error = new_error();
  int fd = waiting(plugin);
  event_by_another("parent", "notification", "\"kind\":\"a.b\",\"message\":\"m\"," CRITICAL);
  const char *fork =
      "{\"type\":\"session.forked\",\"session\":\"parent\",\"data\":{\"child\":\"s\"}}";
  cr_assert_eq(event(plugin, &error, "%s", fork), 0, "%s", error.text);
  woken(plugin, fd, "the child has a critical notification");
  cr_assert_eq(event(plugin, &error, "%s", fork), 0, "%s", error.text);
  cr_assert(!is_rung(fd, 0), "nothing was copied twice");
  plugin_end(plugin);
}

Test(wake, sessions_of_nobody_and_of_others_do_not_ring) {
  struct child other = child_living();
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  take_session(plugin, "theirs");
  plugin_end(plugin);
  plugin = host();
  int fd = waiting(plugin);
  push_by_another("theirs", CRITICAL);
  push_by_another("nobody's", CRITICAL);
  cr_assert(!is_rung(fd, 0));
  next_is(plugin, "");
  plugin_end(plugin);
  child_kill(&other);
}

static int report_it(struct child *self, void *context) {
  struct tidings_error error = new_error();
  (void)self;
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  int code = event(plugin, &error, "%s", (const char *)context);
  plugin_end(plugin);
  return code ? 1 : 0;
}

Test(wake, reports_ring_as_notifications_do) {
  static char finished[] = "{\"type\":\"subagent.finished\",\"session\":\"s\",\"data\":{\"slug\":"
                           "\"a\",\"summary\":\"done\"}}";
  /* Withdraws older reports about its handle, so it is written in another way. */
  static char failed[] = "{\"type\":\"handle.state\",\"session\":\"s\",\"data\":{\"handle\":\"h\","
                         "\"tool\":\"t\",\"state\":\"failed\","
                         "\"level\":\"critical\"}}";
  static char *const reports[] = {finished, failed};
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
    struct child child = child_start(report_it, reports[i]);
    cr_assert_eq(child_wait(&child), 0);
    cr_assert(is_rung(fd, LONG_MS), "%s", reports[i]);
    next_is(plugin, "s");
    next_is(plugin, "");
  }
  plugin_end(plugin);
}

static void push_critical(struct tidings_plugin *plugin, const char *session) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error,
                   "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":\"a.b\","
                   "\"message\":\"m\"," CRITICAL "}}",
                   session);
  cr_assert_eq(code, 0, "%s", error.text);
}

static void *push_in_thread(void *plugin) {
  push_critical(plugin, "s");
  return NULL;
}

Test(wake, the_waiting_thread_is_not_woken_by_itself_but_by_other_threads) {
  struct tidings_plugin *plugin = host();
  pthread_t thread;
  int fd = waiting(plugin);
  push_critical(plugin, "s");
  cr_assert(!is_rung(fd, 0), "the reply had the actions");
  next_is(plugin, "");
  cr_assert_eq(pthread_create(&thread, NULL, push_in_thread, plugin), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert(is_rung(fd, 0));
  next_is(plugin, "s");
  next_is(plugin, "");
  plugin_end(plugin);
}

/* The host's own push must not hide an earlier push of another process. */
Test(wake, a_push_of_its_own_hides_no_other) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  push_by_another("s", CRITICAL);
  push_critical(plugin, "s");
  cr_assert(is_rung(fd, LONG_MS));
  next_is(plugin, "s");
  next_is(plugin, "");
  plugin_end(plugin);
}

Test(wake, many_rings_before_the_waiter_looks_are_one) {
  struct tidings_plugin *plugin = host();
  int fd = waiting(plugin);
  take_session(plugin, "t");
  for (int i = 0; i < 3; i++) {
    push_by_another("t", CRITICAL);
    push_by_another("s", CRITICAL);
  }
  cr_assert(is_rung(fd, LONG_MS));
  next_are(plugin, "s t");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

Test(wake, a_buffer_that_is_too_small_keeps_the_session_rung) {
  struct tidings_plugin *plugin = host();
  struct tidings_error error = new_error();
  char id[3];
  size_t len = 77;
  int fd = waiting(plugin);
  take_session(plugin, "four");
  push_by_another("four", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  cr_assert_eq(wake_extension()->next_session(plugin, id, sizeof id, &len, &error),
               TIDINGS_E_INVAL);
  cr_assert_str_eq(
      error.text,
      "buffer_size: 3; expected at least 4 for the next session's id (255 is always enough)");
  cr_assert_eq(len, 77);
  next_is(plugin, "four");
  next_is(plugin, "");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

/* -- a `wake` event that fails ----------------------------------------------------------------- */

static int wake_event(struct tidings_plugin *plugin) {
  struct tidings_error error = new_error();
  return event(plugin, &error, "{\"type\":\"wake\",\"session\":\"s\"}");
}

Test(wake, rings_again_after_the_event_found_the_store_busy) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){.budget_ms = 20});
  int fd = waiting(plugin);
  push_by_another("s", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  struct child writer = writer_holding(kit_store);
  for (int i = 0; i < 3; i++) {
    next_is(plugin, "s");
    cr_assert_eq(wake_event(plugin), TIDINGS_E_BUSY);
    next_is(plugin, ""); /* a host that asks until none is left comes to its end */
    cr_assert(is_rung(fd, 0), "%d", i);
  }
  writer_let_go(&writer);
  next_is(plugin, "s");
  cr_assert_eq(wake_event(plugin), 0);
  next_is(plugin, "");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

Test(wake, names_a_session_again_whose_event_failed_in_another_thread) {
  struct tidings_plugin *plugin = host();
  struct instance *instance = (struct instance *)plugin;
  int fd = waiting(plugin);
  take_session(plugin, "t");
  push_by_another("t", CRITICAL);
  next_is(plugin, "t");
  next_is(plugin, "");
  for (int i = 0; i < 2; i++)
    flow_wake_failed(instance, number_of(store_of(plugin), "s"), TIDINGS_E_BUSY);
  flow_wake_failed(instance, number_of(store_of(plugin), "t"), TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert(is_rung(fd, 0));
  next_are(plugin, "s t");
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

/* A host with a broken store sleeps, and asks again at a time that it chooses. */
Test(wake, names_a_session_again_without_a_ring_after_a_failure_of_the_store) {
  static const int codes[] = {TIDINGS_E_STORE, TIDINGS_E_NOMEM};
  struct tidings_plugin *plugin = host();
  struct instance *instance = (struct instance *)plugin;
  int fd = waiting(plugin);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    flow_wake_failed(instance, number_of(store_of(plugin), "s"), codes[i]);
    cr_assert(!is_rung(fd, 0));
    next_is(plugin, "s");
    next_is(plugin, "");
  }
  flow_wake_failed(instance, number_of(store_of(plugin), "s"), TIDINGS_E_OWNED);
  next_is(plugin, "");
  plugin_end(plugin);
}

Test(wake, null_pointers_are_refused) {
  struct tidings_plugin *plugin = host();
  const struct tidings_wake *wake = wake_extension();
  char id[256];
  size_t len;
  int32_t fd;
  cr_assert_eq(wake->descriptor(NULL, &fd, NULL), TIDINGS_E_INVAL);
  cr_assert_eq(wake->descriptor(plugin, NULL, NULL), TIDINGS_E_INVAL);
  cr_assert_eq(wake->next_session(NULL, id, sizeof id, &len, NULL), TIDINGS_E_INVAL);
  cr_assert_eq(wake->next_session(plugin, NULL, sizeof id, &len, NULL), TIDINGS_E_INVAL);
  cr_assert_eq(wake->next_session(plugin, id, sizeof id, NULL, NULL), TIDINGS_E_INVAL);
  plugin_end(plugin);
}

Test(wake, a_producer_has_nothing_to_wait_for) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  struct tidings_error error = new_error();
  int32_t fd = -7;
  char id[256];
  size_t len = 77;
  cr_assert_eq(wake_extension()->descriptor(plugin, &fd, &error), TIDINGS_E_UNSUPPORTED);
  cr_assert_str_eq(error.text,
                   "descriptor is for hosts; this instance was opened with role producer");
  cr_assert_eq(wake_extension()->next_session(plugin, id, sizeof id, &len, &error),
               TIDINGS_E_UNSUPPORTED);
  cr_assert_eq(fd, -7);
  cr_assert_eq(len, 77);
  plugin_end(plugin);
}

Test(wake, a_forked_child_and_a_quiesced_instance_are_closed) {
  struct tidings_plugin *plugin = host();
  const struct tidings_wake *wake = wake_extension();
  char id[256];
  size_t len;
  int32_t fd;
  int status;
  (void)waiting(plugin);
  pid_t child = fork();
  if (child == 0) {
    bool closed = wake->descriptor(plugin, &fd, NULL) == TIDINGS_E_CLOSED &&
                  wake->next_session(plugin, id, sizeof id, &len, NULL) == TIDINGS_E_CLOSED;
    _exit(closed ? 0 : 1);
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0);
  cr_assert_eq(plugin->quiesce(plugin, NULL), 0);
  cr_assert_eq(wake->descriptor(plugin, &fd, NULL), TIDINGS_E_CLOSED);
  cr_assert_eq(wake->next_session(plugin, id, sizeof id, &len, NULL), TIDINGS_E_CLOSED);
  plugin_end(plugin);
}

/* -- several processes for one agent ----------------------------------------------------------- */

static int help(struct child *self, void *context) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = *(uint32_t *)context});
  int fd = wake_fd(plugin);
  next_is(plugin, "");
  child_signal_test(self);
  if (!is_rung(fd, LONG_MS)) return 1;
  next_is(plugin, "s"); /* this process has never seen that name */
  next_is(plugin, "");
  plugin_end(plugin);
  return 0;
}

Test(wake, a_helper_of_the_agent_is_woken_as_well) {
  struct tidings_plugin *plugin = host();
  uint32_t agent = (uint32_t)getpid();
  int fd = wake_fd(plugin);
  next_is(plugin, "");
  struct child helper = child_start(help, &agent);
  child_await(&helper);
  take_session(plugin, "s"); /* the helper is waiting already */
  push_by_another("s", CRITICAL);
  cr_assert(is_rung(fd, LONG_MS));
  next_is(plugin, "s");
  cr_assert_eq(child_wait(&helper), 0);
  plugin_end(plugin);
}

Test(wake, whoever_lost_a_session_is_not_told_of_it) {
  struct child other = child_living();
  struct tidings_plugin *plugin = host();
  (void)waiting(plugin);
  push_by_another("s", CRITICAL); /* still ours */
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  struct tidings_error error = new_error();
  cr_assert_eq(
      event(plugin, &error,
            "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{\"takeover\":true}}"),
      0, "%s", error.text);
  plugin_end(plugin);
  plugin = host();
  int fd = wake_fd(plugin);
  next_is(plugin, "");
  push_by_another("s", CRITICAL);
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
  child_kill(&other);
}
