/* SPDX-License-Identifier: MIT
 *
 * test_memory.c: every allocation of hostkit fails in turn; each call then answers NOMEM, leaks
 * nothing, and leaves nothing leased. The linker hands all calls of malloc, calloc and realloc in
 * this program to the functions below.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

void *real_malloc(size_t size) __asm__("__real_malloc");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *real_realloc(void *memory, size_t size) __asm__("__real_realloc");
void real_free(void *memory) __asm__("__real_free");
void *failing_malloc(size_t size) __asm__("__wrap_malloc");
void *failing_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *failing_realloc(void *memory, size_t size) __asm__("__wrap_realloc");
void counting_free(void *memory) __asm__("__wrap_free");

static long fail_at;   /* how many allocations until one fails; 0: none fails */
static int from_there; /* 1: all later ones fail too */
static int failed;     /* how many have */
static long live;      /* allocated and not freed */

static int fails(void) {
  int now = fail_at == 1;
  if (fail_at > 1 || (now && !from_there)) fail_at--;
  failed += now;
  return now;
}

void *failing_malloc(size_t size) {
  void *memory = fails() ? NULL : real_malloc(size);
  live += memory != NULL;
  return memory;
}

void *failing_calloc(size_t count, size_t size) {
  void *memory = fails() ? NULL : real_calloc(count, size);
  live += memory != NULL;
  return memory;
}

void *failing_realloc(void *memory, size_t size) {
  void *larger = fails() ? NULL : real_realloc(memory, size);
  live += larger && !memory;
  return larger;
}

void counting_free(void *memory) {
  live -= memory != NULL;
  real_free(memory);
}

struct trial {
  struct kit kit;
  struct hostkit *hostkit;
  int64_t handle;
  char options[2048];
  char other[512];
};

/* Runs `step` with the n-th allocation failing. Returns whether there was one. */
static int with_failure(struct trial *trial, int32_t (*step)(struct trial *), int n) {
  long before = live;
  int fds = kit_count_fds();
  failed = 0;
  fail_at = n;
  int32_t code = step(trial);
  fail_at = 0;
  if (!failed) {
    cr_expect_eq(code, TIDINGS_OK, "no allocation failed, the answer is %s",
                 hostkit_error_name(code));
    return 0;
  }
  cr_expect_eq(code, TIDINGS_E_NOMEM, "allocation %d failed, the answer is %s", n,
               hostkit_error_name(code));
  cr_expect_eq(live, before, "allocation %d failed, %ld were leaked", n, live - before);
  cr_expect_eq(kit_count_fds(), fds, "allocation %d failed, a descriptor was left open", n);
  return code != TIDINGS_OK;
}

/* Makes each allocation of `step` fail in turn, first together with all that follow it, then alone.
 * Returns how many allocations there are. */
static int each_failing(struct trial *trial, int32_t (*step)(struct trial *)) {
  int n = 1;
  while (n < 2000) {
    from_there = 1;
    if (!with_failure(trial, step, n)) break;
    from_there = 0;
    if (!with_failure(trial, step, n)) break;
    n++;
  }
  return n - 1;
}

static void trial_init(struct trial *trial) {
  *trial = (struct trial){.handle = 0};
  kit_init(&trial->kit);
  trial->kit.options.configuration = "{\"n\":1}";
  trial->kit.options.host_name = "JP";
  (void)snprintf(trial->other, sizeof trial->other, "%s", kit_plugin(&trial->kit, "good_b"));
  kit_plugin(&trial->kit, "good_a");
}

static int32_t open_and_close(struct trial *trial) {
  struct hostkit *hostkit = NULL;
  int32_t code = hostkit_open(&trial->kit.options, &hostkit, NULL);
  return code ? code : hostkit_close(hostkit, 0, NULL);
}

Test(memory, open) {
  struct trial trial;
  trial_init(&trial);
  cr_expect_gt(each_failing(&trial, open_and_close), 10);
  cr_assert_null(kit_finish(&trial.kit));
}

static int32_t swap(struct trial *trial) {
  return hostkit_swap(trial->hostkit, trial->other, 0, NULL);
}

/* If a failure comes before the old build is closed, it goes on; if the new build fails, the old
 * one returns. */
Test(memory, swap) {
  struct trial trial;
  trial_init(&trial);
  trial.hostkit = kit_open(&trial.kit, "good_a");
  cr_expect_gt(each_failing(&trial, swap), 9);
  struct hostkit_info info = {.size = sizeof info};
  cr_assert_eq(hostkit_info(trial.hostkit, &info), TIDINGS_OK);
  cr_expect_str_eq(info.build_id, "B");
  cr_expect_eq(info.generation, 2, "no failed swap counted");
  cr_assert_eq(hostkit_close(trial.hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&trial.kit));
}

static int32_t call(struct trial *trial) {
  struct tidings_tool_result result = {.size = sizeof result, .session = kit_span("full")};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_tool_result(trial->hostkit, &result, &reply, NULL);
  hostkit_reply_free(reply);
  return code;
}

static int32_t query(struct trial *trial) {
  struct tidings_span request = kit_span("{\"name\":\"configure\"}");
  char *json = NULL;
  int32_t code = hostkit_query(trial->hostkit, &request, &json, NULL);
  hostkit_free(json);
  return code;
}

static int32_t push(struct trial *trial) {
  struct hostkit_notification note = {.size = sizeof note,
                                      .session = kit_span("s"),
                                      .kind_source = kit_span("tool"),
                                      .text = kit_span("a\xFFz"),
                                      .data = kit_span("{\"a\":[1]}"),
                                      .key = kit_span("k"),
                                      .event_id = kit_span("1")};
  return hostkit_push(trial->hostkit, &note, NULL, NULL);
}

static int32_t wake(struct trial *trial) {
  struct tidings_span session = kit_span("s");
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_wake(trial->hostkit, &session, &reply, NULL);
  hostkit_reply_free(reply);
  return code;
}

Test(memory, push_and_wake) {
  struct trial trial;
  trial_init(&trial);
  trial.hostkit = kit_open(&trial.kit, "good_a");
  cr_expect_gt(each_failing(&trial, push), 1);
  cr_expect_eq(kit_log_lines(&trial.kit, "A event"), 1, "only what was whole was sent");
  cr_expect_gt(each_failing(&trial, wake), 0);
  cr_assert_eq(hostkit_close(trial.hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&trial.kit));
}

Test(memory, calls) {
  struct trial trial;
  trial_init(&trial);
  trial.hostkit = kit_open(&trial.kit, "good_a");
  cr_expect_eq(each_failing(&trial, call), 1);
  cr_expect_eq(kit_log_lines(&trial.kit, "A settle 17 2"), 2,
               "a delivery that could not be copied out is rolled back");
  cr_expect_eq(each_failing(&trial, query), 1);
  cr_assert_eq(hostkit_close(trial.hostkit, 0, NULL), TIDINGS_OK, "nothing is out");
  cr_assert_null(kit_finish(&trial.kit));
}

static int32_t compose_and_print(struct trial *trial) {
  struct tidings_span broken = {.ptr = "a\xFFz", .len = 3};
  const struct tidings_span *const list[] = {&broken};
  struct tidings_reply reply = {
      .size = sizeof reply, .delivery_id = 1, .steered = list, .steered_count = 1};
  struct hostkit_outgoing *outgoing = NULL;
  char *json = NULL;
  (void)trial;
  int32_t code = hostkit_compose(&broken, &reply, &outgoing, NULL);
  if (!code) code = hostkit_reply_json(&reply, &json, NULL);
  hostkit_free(json);
  hostkit_outgoing_free(outgoing);
  return code;
}

Test(memory, compose_and_json) {
  struct trial trial;
  trial_init(&trial);
  cr_expect_gt(each_failing(&trial, compose_and_print), 2);
  cr_assert_null(kit_finish(&trial.kit));
}

static int32_t flat_open_and_close(struct trial *trial) {
  int64_t handle = hostkit_flat_open(trial->options);
  if (!handle) return strstr(hostkit_flat_error(), "memory") ? TIDINGS_E_NOMEM : TIDINGS_E_STATE;
  return hostkit_flat_close(handle);
}

/* Makes a flat call; its answer must be NULL or NOMEM. */
static int32_t flat_call(struct trial *trial) {
  static const char *const requests[] = {
      "{\"op\":\"tool_result\",\"session\":\"full\",\"content\":\"x\"}",
      "{\"op\":\"chat_request\",\"session\":\"full\",\"messages\":[\"m1\"]}",
      "{\"op\":\"event\",\"event\":{\"type\":\"wake\"}}",
      "{\"op\":\"query\",\"query\":{\"name\":\"configure\"}}",
      "{\"op\":\"info\"}",
      "{\"op\":\"next_session\"}"};
  int32_t code = hostkit_flat_push(trial->handle, "s", "k", 0, "m");
  char *id = code ? NULL : hostkit_flat_next_session(trial->handle);
  if (!code && !id)
    code = strstr(hostkit_flat_error(), "memory") ? TIDINGS_E_NOMEM : TIDINGS_E_STATE;
  hostkit_free(id);
  for (size_t i = 0; !code && i < sizeof requests / sizeof requests[0]; i++) {
    char *answer = hostkit_flat_call(trial->handle, requests[i]);
    if (!answer || strstr(answer, "TIDINGS_E_NOMEM")) code = TIDINGS_E_NOMEM;
    else if (strstr(answer, "\"error\":")) code = TIDINGS_E_STATE;
    hostkit_free(answer);
  }
  return code;
}

Test(memory, flat) {
  struct trial trial;
  trial_init(&trial);
  setenv("XDG_RUNTIME_DIR", trial.kit.copies, 1);
  (void)snprintf(
      trial.options, sizeof trial.options,
      "{\"plugin\":\"%s\",\"store\":\"%s\",\"probe\":\"%s\",\"configuration\":{\"n\":1}}",
      trial.kit.plugin, trial.kit.store, trial.kit.probe);
  cr_expect_gt(each_failing(&trial, flat_open_and_close), 10);
  trial.handle = hostkit_flat_open(trial.options);
  cr_assert(trial.handle > 0);
  cr_expect_gt(each_failing(&trial, flat_call), 30);
  int handed_out = kit_log_lines(&trial.kit, "A tool_result full") +
                   kit_log_lines(&trial.kit, "A chat_request full");
  int rolled_back = kit_log_lines(&trial.kit, "A settle 17 2");
  cr_expect_gt(rolled_back, 20);
  cr_expect_lt(rolled_back, handed_out);
  cr_expect_eq(hostkit_flat_close(trial.handle), TIDINGS_OK, "nothing is out");
  cr_assert_null(kit_finish(&trial.kit));
}

/* Asks for the next session with the n-th allocation failing, and then again without a failure.
 * Returns whether there was such an allocation. */
static int asked_twice(struct trial *trial, int n) {
  static const char ring[] = "{\"op\":\"event\",\"event\":{\"type\":\"ring\"}}";
  static const char next[] = "{\"op\":\"next_session\"}";
  hostkit_free(hostkit_flat_call(trial->handle, ring));
  failed = 0;
  fail_at = n;
  char *answer = hostkit_flat_call(trial->handle, next);
  fail_at = 0;
  if (failed) {
    hostkit_free(answer);
    answer = hostkit_flat_call(trial->handle, next);
  }
  cr_expect_str_eq(answer, "{\"session\":\"rung\"}", "after allocation %d failed", n);
  hostkit_free(answer);
  return failed;
}

Test(memory, the_flat_next_session_loses_no_ring) {
  struct trial trial;
  trial_init(&trial);
  setenv("XDG_RUNTIME_DIR", trial.kit.copies, 1);
  (void)snprintf(trial.options, sizeof trial.options,
                 "{\"plugin\":\"%s\",\"store\":\"%s\",\"probe\":false}", trial.kit.plugin,
                 trial.kit.store);
  trial.handle = hostkit_flat_open(trial.options);
  cr_assert(trial.handle > 0);
  int fd = hostkit_flat_wake_descriptor(trial.handle);
  cr_assert_geq(fd, 0);
  for (from_there = 0; from_there < 2; from_there++) {
    int n = 1;
    while (asked_twice(&trial, n)) n++;
    cr_expect_gt(n, 1, "the request alone needs memory");
  }
  cr_expect_eq(close(fd), 0);
  cr_expect_eq(hostkit_flat_close(trial.handle), TIDINGS_OK);
  cr_assert_null(kit_finish(&trial.kit));
}
