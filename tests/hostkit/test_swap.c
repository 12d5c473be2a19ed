/* SPDX-License-Identifier: MIT
 *
 * test_swap.c: swaps a running build for another one, and tests swaps that fail. swap_storm.c swaps
 * under load.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate.h"
#include "kit.h"

/* Returns the path of a plugin that is not the one in the options. */
static const char *other(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof path, "%s/tests/plugins/%s.so", getenv("TIDINGS_BUILD_DIR"), name);
  return path;
}

static void assert_runs(struct hostkit *hostkit, const char *build_id, uint32_t generation) {
  struct hostkit_info info = {.size = sizeof info};
  cr_assert_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
  cr_expect_str_eq(info.build_id, build_id);
  cr_expect_eq(info.generation, generation);
}

static void query(struct hostkit *hostkit, const char *request, const char *expected) {
  struct tidings_span span = kit_span(request);
  char *json = NULL;
  cr_assert_eq(hostkit_query(hostkit, &span, &json, NULL), TIDINGS_OK);
  cr_expect_str_eq(json, expected);
  hostkit_free(json);
}

Test(swap, to_another_build_and_back) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags &= ~HOSTKIT_KEEP_MAPPED;
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(kit_event(hostkit, "one", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, &error), TIDINGS_OK, "%s", error.text);
  assert_runs(hostkit, "B", 2);
  cr_expect(!kit_is_mapped("/good_a.so"), "the old image is gone");
  cr_expect(kit_is_mapped("/good_b.so"));
  cr_expect_eq(kit_event(hostkit, "two", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, &error), TIDINGS_OK, "%s", error.text);
  assert_runs(hostkit, "B", 3);
  cr_assert_eq(hostkit_swap(hostkit, other("good_newer"), 0, &error), TIDINGS_OK, "%s", error.text);
  assert_runs(hostkit, "newer", 4);
  cr_expect_eq(kit_log_lines(&kit, "A event one"), 1);
  cr_expect_eq(kit_log_lines(&kit, "B event two"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
  cr_assert_null(kit_finish(&kit));
}

/* As in the developer's loop: the path is the same, and the file is new. */
Test(swap, to_what_was_rebuilt_in_place) {
  struct kit kit;
  kit_init(&kit);
  kit_build_own(&kit, "good_a");
  struct hostkit *hostkit = NULL;
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
  kit_build_own(&kit, "good_b");
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, NULL), TIDINGS_OK);
  assert_runs(hostkit, "B", 2);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(swap, carries_the_configuration_in_force) {
  struct kit kit;
  kit_init(&kit);
  kit.options.configuration = "{\"at\":\"open\"}";
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  query(hostkit, "{\"name\":\"configure\",\"config\":{\"at\":\"runtime\"}}",
        "{\"config\":{\"at\":\"runtime\"}}");
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_OK);
  query(hostkit, "{\"name\":\"configure\"}", "{\"config\":{\"at\":\"runtime\"}}");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* If the plugin lacks the extension, the configuration given at open stays. */
Test(swap, from_a_plugin_that_cannot_tell_its_configuration) {
  struct kit kit;
  kit_init(&kit);
  kit.options.configuration = "{\"at\":\"open\"}";
  struct hostkit *hostkit = kit_open(&kit, "good_without_query");
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_OK);
  query(hostkit, "{\"name\":\"configure\"}", "{\"config\":{\"at\":\"open\"}}");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* A build that the checks or the probe refuse never stops the old one. */
Test(swap, to_a_broken_build_leaves_the_old_one_untouched) {
  static const char *const broken[] = {"open_crashes", "wrong_major", "no_symbol", "open_fails",
                                       "nothing_of_that_name"};
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  query(hostkit, "{\"name\":\"configure\",\"config\":{\"n\":1}}", "{\"config\":{\"n\":1}}");
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    struct tidings_error error = {.size = sizeof error};
    int32_t code = hostkit_swap(hostkit, other(broken[i]), 0, &error);
    cr_expect(code < 0, "%s", broken[i]);
    cr_expect_eq(error.code, code);
    cr_expect_not_null(strstr(error.text, i == 3 ? "the moon" : broken[i]), "%s", error.text);
    cr_expect_null(strstr(error.text, "(the old build goes on)"), "it was not stopped");
  }
  assert_runs(hostkit, "A", 1);
  query(hostkit, "{\"name\":\"configure\"}", "{\"config\":{\"n\":1}}");
  cr_expect_eq(kit_event(hostkit, "on", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* The probe's store is empty, so only the real open of build B finds the file that makes it
 * fail. */
Test(swap, goes_back_when_the_new_build_fails_in_open) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags &= ~HOSTKIT_KEEP_MAPPED;
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  query(hostkit, "{\"name\":\"configure\",\"config\":{\"n\":1}}", "{\"config\":{\"n\":1}}");
  kit_touch(&kit, "refuse-B");
  struct tidings_error error = {.size = sizeof error};
  for (int i = 0; i < 3; i++) {
    cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 0, &error), TIDINGS_E_STORE);
    cr_expect_str_eq(error.text, "build B does not want this store (the old build goes on)");
  }
  assert_runs(hostkit, "A", 1);
  cr_expect(!kit_is_mapped("/good_b.so"), "the failed build is gone");
  query(hostkit, "{\"name\":\"configure\"}", "{\"config\":{\"n\":1}}");
  cr_expect_eq(kit_event(hostkit, "on", NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A event on"), 1);
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, &error), TIDINGS_OK,
               "the path is still the old one: %s", error.text);
  assert_runs(hostkit, "A", 2);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(swap, answers_closed_when_neither_build_opens) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  kit_touch(&kit, "refuse-A");
  kit_touch(&kit, "refuse-B");
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 0, &error), TIDINGS_E_STORE);
  cr_expect_str_eq(error.text, "build B does not want this store (and the old build cannot be "
                               "opened again: TIDINGS_E_STORE)");
  cr_expect_str_eq(kit.last_warning, "build A does not want this store",
                   "the whole reason is in the log");
  cr_expect_eq(kit_event(hostkit, "anyone?", &error), TIDINGS_E_CLOSED);
  cr_expect_str_eq(
      error.text,
      "no plugin is loaded: a swap failed, and the old build could not be opened again");
  cr_expect_eq(hostkit_info(hostkit, &(struct hostkit_info){.size = sizeof(struct hostkit_info)}),
               TIDINGS_E_CLOSED);
  cr_expect_eq(hostkit_settle(hostkit, 1, TIDINGS_COMMITTED, NULL, NULL), TIDINGS_E_CLOSED);
  cr_expect_eq(hostkit_swap(hostkit, NULL, 0, &error), TIDINGS_E_STORE, "still refused");
  cr_expect_eq(kit_event(hostkit, "anyone?", &error), TIDINGS_E_CLOSED);
  kit_untouch(&kit, "refuse-A");
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_eq(kit_event(hostkit, "here again", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

static void *wait_in_a_call(void *hostkit) {
  cr_expect_eq(kit_event(hostkit, "wait", NULL), TIDINGS_OK);
  return NULL;
}

Test(swap, is_busy_while_a_call_takes_too_long) {
  struct kit kit;
  pthread_t thread;
  kit_init(&kit);
  kit_make_gate(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  thread = kit_start(wait_in_a_call, hostkit);
  int gate = kit_hold_gate(&kit);
  cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 20, &error), TIDINGS_E_BUSY);
  cr_expect_str_eq(error.text, "1 call was still under way after 20 ms");
  assert_runs(hostkit, "A", 1);
  cr_expect_eq(kit_event(hostkit, "meanwhile", NULL), TIDINGS_OK);
  close(gate);
  cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 60000, &error), TIDINGS_OK, "%s", error.text);
  pthread_join(thread, NULL);
  cr_expect_eq(kit_log_lines(&kit, "A event wait"), 1, "the slow call ended in the old build");
  assert_runs(hostkit, "B", 2);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

struct one_swap {
  struct hostkit *hostkit;
  atomic_int done;
  int32_t code;
};

static void *swap_patiently(void *argument) {
  struct one_swap *one = argument;
  one->code = hostkit_swap(one->hostkit, other("good_b"), 60000, NULL);
  atomic_store(&one->done, 1);
  return NULL;
}

static void *push_once(void *hostkit) {
  cr_expect_eq(kit_event(hostkit, "late", NULL), TIDINGS_OK);
  return NULL;
}

/* In the child nobody ends the swap that a thread of its parent had begun. */
Test(swap, a_child_forked_during_it_gets_closed) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct timespec deadline = hk_deadline(1000);
  struct hk_gate *gate = (struct hk_gate *)hostkit; /* first in struct hostkit */
  cr_assert(hk_gate_claim(gate, &deadline));
  cr_assert_eq(hk_gate_shut(gate, &deadline), 0);
  pid_t child = fork();
  if (!child) {
    bool closed = kit_event(hostkit, "anyone?", NULL) == TIDINGS_E_CLOSED &&
                  hostkit_swap(hostkit, NULL, 0, NULL) == TIDINGS_E_CLOSED &&
                  hostkit_close(hostkit, 0, NULL) == TIDINGS_E_CLOSED;
    _exit(closed ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect_eq(status, 0);
  hk_gate_open(gate);
  hk_gate_unclaim(gate);
  cr_expect_eq(kit_event(hostkit, "one", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* A call that comes during the drain is held back, and is answered by the new build. */
Test(swap, new_calls_wait_for_it) {
  struct kit kit;
  pthread_t slow;
  pthread_t swapper;
  pthread_t late;
  kit_init(&kit);
  kit_make_gate(&kit);
  kit.options.flags |= HOSTKIT_NO_PROBE;
  struct one_swap one = {.hostkit = kit_open(&kit, "good_a")};
  slow = kit_start(wait_in_a_call, one.hostkit);
  int gate = kit_hold_gate(&kit);
  swapper = kit_start(swap_patiently, &one);
  struct hk_gate *inside = (struct hk_gate *)(void *)one.hostkit; /* its first member */
  for (int i = 0; i < 1000000 && !(atomic_load(&inside->state) & HK_GATE_SHUT); i++) usleep(100);
  cr_assert(atomic_load(&inside->state) & HK_GATE_SHUT);
  late = kit_start(push_once, one.hostkit);
  cr_expect_eq(atomic_load(&one.done), 0);
  close(gate);
  pthread_join(slow, NULL);
  pthread_join(swapper, NULL);
  pthread_join(late, NULL);
  cr_expect_eq(one.code, TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A event wait"), 1);
  cr_expect_eq(kit_log_lines(&kit, "B event late"), 1,
               "the call that was held back went to the new build");
  cr_assert_eq(hostkit_close(one.hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(swap, passes_on_why_the_old_build_does_not_close) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(kit_event(hostkit, "keep", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 0, &error), TIDINGS_E_BUSY);
  cr_expect_str_eq(error.text, "1 reply is out");
  assert_runs(hostkit, "A", 1);
  cr_expect_eq(kit_event(hostkit, "give back", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_swap(hostkit, other("good_b"), 0, &error), TIDINGS_OK, "%s", error.text);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(swap, to_an_empty_path) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  cr_expect_eq(hostkit_swap(hostkit, "", 0, NULL), TIDINGS_E_INVAL);
  assert_runs(hostkit, "A", 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}
