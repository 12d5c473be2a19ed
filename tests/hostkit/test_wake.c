/* SPDX-License-Identifier: MIT
 *
 * test_wake.c: the descriptor that a host polls also works after swaps, and the names of sessions
 * that rang reach the host.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

static const char *other(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof path, "%s/tests/plugins/%s.so", getenv("TIDINGS_BUILD_DIR"), name);
  return path;
}

static int descriptor(struct hostkit *hostkit) {
  struct tidings_error error = {.size = sizeof error};
  int32_t fd = -1;
  cr_assert_eq(hostkit_wake_descriptor(hostkit, &fd, &error), TIDINGS_OK, "%s", error.text);
  return fd;
}

static int is_readable(int fd) {
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  return poll(&polled, 1, 0) == 1;
}

static void next_is(struct hostkit *hostkit, const char *expected) {
  char id[256] = "";
  size_t len = 99;
  cr_assert_eq(hostkit_next_session(hostkit, id, sizeof id - 1, &len, NULL), TIDINGS_OK);
  cr_expect_eq(len, strlen(expected));
  cr_expect_str_eq(id, expected);
}

Test(wake, a_descriptor_survives_swaps_and_is_the_callers) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  int fd = descriptor(hostkit), another = descriptor(hostkit);
  cr_expect_neq(fd, another, "each caller has its own");
  cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  cr_expect(!is_readable(fd));
  cr_expect_eq(kit_event(hostkit, "ring", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "B waits"), 1, "the new build was told");
  cr_expect(is_readable(fd), "what rang before the swap is not forgotten");
  next_is(hostkit, "rung");
  next_is(hostkit, "");
  cr_expect(!is_readable(fd));
  cr_expect_eq(kit_event(hostkit, "ring", NULL), TIDINGS_OK);
  cr_expect(is_readable(fd) && is_readable(another));
  next_is(hostkit, "rung");
  cr_expect_eq(close(another), 0);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect_eq(close(fd), 0, "closing it is left to the caller");
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
  cr_assert_null(kit_finish(&kit));
}

Test(wake, who_does_not_wait_is_not_told_of) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  next_is(hostkit, "");
  cr_assert_eq(hostkit_swap(hostkit, other("good_without_wake"), 0, NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A waits") + kit_log_lines(&kit, "B waits"), 0);
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(wake, a_build_without_the_extension_says_so_and_a_later_one_rings_again) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  int32_t none = -7;
  char id[256];
  size_t len = 99;
  int fd = descriptor(hostkit);
  cr_assert_eq(hostkit_swap(hostkit, other("good_without_wake"), 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit.warnings, 2);
  cr_expect_str_eq(kit.last_warning,
                   "this plugin has no extension tidings.wake/1: use the replies' wake_at");
  cr_expect_eq(hostkit_wake_descriptor(hostkit, &none, &error), TIDINGS_E_UNSUPPORTED);
  cr_expect_eq(none, -7);
  cr_expect_eq(hostkit_next_session(hostkit, id, sizeof id, &len, &error), TIDINGS_E_UNSUPPORTED);
  cr_expect_eq(len, 99);
  cr_expect_str_eq(error.text,
                   "this plugin has no extension tidings.wake/1: use the replies' wake_at");
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit_event(hostkit, "ring", NULL), TIDINGS_OK);
  cr_expect(is_readable(fd));
  cr_expect_eq(close(fd), 0);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(wake, the_old_build_that_goes_on_rings_on) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  int fd = descriptor(hostkit);
  kit_touch(&kit, "refuse-B");
  cr_assert_eq(hostkit_swap(hostkit, other("good_b"), 0, NULL), TIDINGS_E_STORE);
  cr_expect_eq(kit_log_lines(&kit, "A waits"), 2);
  cr_expect_eq(kit_event(hostkit, "ring", NULL), TIDINGS_OK);
  cr_expect(is_readable(fd));
  cr_expect_eq(close(fd), 0);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(wake, bad_arguments_and_the_plugins_errors) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  char id[256];
  size_t len = 99;
  int32_t fd = -7;
  cr_expect_eq(hostkit_wake_descriptor(hostkit, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "ret_fd is a null pointer");
  cr_expect_eq(hostkit_wake_descriptor(NULL, &fd, &error), TIDINGS_E_INVAL);
  cr_expect_eq(hostkit_next_session(hostkit, NULL, sizeof id, &len, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "buffer is a null pointer");
  cr_expect_eq(hostkit_next_session(hostkit, id, sizeof id, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "ret_len is a null pointer");
  cr_expect_eq(hostkit_next_session(hostkit, id, 3, &len, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "the buffer is too small");
  cr_expect_eq(len, 99);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

static int64_t open_flat(struct kit *kit) {
  char options[2048];
  (void)snprintf(options, sizeof options, "{\"plugin\":\"%s\",\"store\":\"%s\",\"probe\":\"%s\"}",
                 kit_plugin(kit, "good_a"), kit->store, kit->probe);
  setenv("XDG_RUNTIME_DIR", kit->copies, 1);
  int64_t handle = hostkit_flat_open(options);
  cr_assert(handle > 0, "%s", hostkit_flat_error());
  return handle;
}

static void assert_answer(int64_t handle, const char *request, const char *expected) {
  char *answer = hostkit_flat_call(handle, request);
  cr_expect_str_eq(answer, expected, "%s answered %s, expected %s", request, answer, expected);
  hostkit_free(answer);
}

static void assert_next(int64_t handle, const char *expected) {
  char *id = hostkit_flat_next_session(handle);
  cr_assert_not_null(id, "%s", hostkit_flat_error());
  cr_expect_str_eq(id, expected);
  hostkit_free(id);
}

Test(wake, the_flat_functions) {
  struct kit kit;
  kit_init(&kit);
  int64_t handle = open_flat(&kit);
  static const char start[] = "{\"descriptor\":";
  int fd = hostkit_flat_wake_descriptor(handle);
  cr_assert_geq(fd, 0, "%s", hostkit_flat_error());
  assert_next(handle, "");
  assert_answer(handle, "{\"op\":\"next_session\"}", "{\"session\":null}");
  for (int i = 0; i < 2; i++)
    hostkit_free(hostkit_flat_call(handle, "{\"op\":\"event\",\"event\":{\"type\":\"ring\"}}"));
  cr_expect(is_readable(fd));
  assert_next(handle, "rung");
  assert_answer(handle, "{\"op\":\"next_session\"}", "{\"session\":\"rung\"}");
  char *answer = hostkit_flat_call(handle, "{\"op\":\"wake_descriptor\"}");
  cr_assert_eq(strncmp(answer, start, sizeof start - 1), 0, "%s", answer);
  int from_call = (int)strtol(answer + sizeof start - 1, NULL, 10);
  hostkit_free(answer);
  cr_expect_eq(close(from_call), 0);
  cr_expect_eq(close(fd), 0);
  assert_answer(handle, "{\"op\":\"next_session\",\"who\":1}",
                "{\"error\":{\"code\":\"TIDINGS_E_SCHEMA\",\"text\":\"next_session has an unknown "
                "member who, expected only op\"}}");
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_expect_eq(hostkit_flat_wake_descriptor(handle), TIDINGS_E_NOT_FOUND);
  cr_expect_null(hostkit_flat_next_session(handle));
  cr_assert_null(kit_finish(&kit));
}
