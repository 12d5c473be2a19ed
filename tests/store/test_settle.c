/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_settle.c: settles a delivery twice, with the other outcome, late, from another
 * process, from memory, and at once on return.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "instance/instance.h"
#include "kit.h"

TestSuite(settle, .init = kit_begin, .fini = kit_end);

#define expect_settle(plugin, delivery, outcome, expected)                                         \
  do {                                                                                             \
    struct tidings_error error_ = new_error();                                                     \
    int code_ = settle_as(plugin, delivery, outcome, &error_);                                     \
    cr_assert_eq(code_, expected, "%d %s", code_, error_.text);                                    \
  } while (0)

static uint64_t leased(struct tidings_plugin *plugin, const char *message) {
  push(plugin, "s", message);
  struct got got = tool_result(plugin, "s");
  cr_assert_eq(got.code, 0, "%d %s", got.code, got.error.text);
  cr_assert_neq(got.delivery, 0);
  return got.delivery;
}

Test(settle, twice_is_harmless_and_the_other_way_is_state) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  uint64_t first = leased(plugin, "one");
  expect_settle(plugin, first, TIDINGS_COMMITTED, 0);
  expect_settle(plugin, first, TIDINGS_COMMITTED, 0);
  expect_settle(plugin, first, TIDINGS_ROLLED_BACK, TIDINGS_E_STATE);
  expect_got(tool_result(plugin, "s"), "");
  uint64_t second = leased(plugin, "two");
  expect_settle(plugin, second, TIDINGS_ROLLED_BACK, 0);
  expect_settle(plugin, second, TIDINGS_ROLLED_BACK, 0);
  expect_settle(plugin, second, TIDINGS_COMMITTED, TIDINGS_E_STATE);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

Test(settle, what_never_was_is_not_found) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  uint64_t delivery = leased(plugin, "one");
  expect_settle(plugin, 0, TIDINGS_COMMITTED, TIDINGS_E_NOT_FOUND);
  expect_settle(plugin, delivery + 1, TIDINGS_COMMITTED, TIDINGS_E_NOT_FOUND);
  expect_settle(plugin, delivery + ((uint64_t)1 << 32), TIDINGS_COMMITTED, TIDINGS_E_NOT_FOUND);
  expect_settle(plugin, UINT64_MAX, TIDINGS_COMMITTED, TIDINGS_E_NOT_FOUND);
  expect_settle(plugin, delivery, TIDINGS_COMMITTED, 0);
  plugin_end(plugin);
}

static int32_t largest_random(void *context, void *buffer, size_t len) {
  (void)context;
  memset(buffer, 0xff, len);
  return 0;
}

Test(settle, an_event_may_name_a_delivery_by_an_integer) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.random = largest_random});
  struct tidings_error error = new_error();
  unsigned long long delivery = leased(plugin, "one");
  int code = event(plugin, &error,
                   "{\"type\":\"session.resumed\",\"session\":\"s\","
                   "\"data\":{\"deliveries\":[%llu]}}",
                   delivery);
  cr_assert_eq(code, 0, "%s", error.text);
  expect_got(tool_result(plugin, "s"), "");
  plugin_end(plugin);
}

Test(settle, on_success_the_error_is_not_written) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  uint64_t delivery = leased(plugin, "one");
  struct tidings_error error = {.size = sizeof error, .code = 77, .text = "untouched"};
  cr_assert_eq(settle_as(plugin, delivery, TIDINGS_COMMITTED, &error), 0);
  cr_assert_eq(settle_as(plugin, delivery, TIDINGS_COMMITTED, &error), 0);
  cr_assert_eq(error.code, 77);
  cr_assert_str_eq(error.text, "untouched");
  plugin_end(plugin);
}

/* Leases end in another order than they began; an item that is rolled back keeps its place. */
Test(settle, out_of_order) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  uint64_t first = leased(plugin, "one"), second = leased(plugin, "two"),
           third = leased(plugin, "three");
  expect_settle(plugin, second, TIDINGS_COMMITTED, 0);
  expect_settle(plugin, third, TIDINGS_ROLLED_BACK, 0);
  push(plugin, "s", "four");
  expect_settle(plugin, first, TIDINGS_ROLLED_BACK, 0);
  expect_got(tool_result(plugin, "s"), "one|three|four");
  plugin_end(plugin);
}

Test(settle, under_a_cap_the_rest_stays_pending) {
  struct tidings_plugin *plugin = plugin_at(
      kit_store, (struct plugin_words){
                     .configuration = "{\"delivery\":{\"max_items\":2,\"order\":\"newest\"}}"});
  for (int i = 1; i <= 5; i++) push(plugin, "s", (const char *[]){"", "1", "2", "3", "4", "5"}[i]);
  struct got newest = tool_result(plugin, "s");
  cr_assert_eq(newest.count, 2);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 3);
  struct got next = tool_result(plugin, "s");
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  expect_settle(plugin, newest.delivery, TIDINGS_COMMITTED, 0);
  expect_settle(plugin, next.delivery, TIDINGS_ROLLED_BACK, 0);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 3);
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert_eq(head.watermark, 1);
  cr_assert_eq(head.leased_count, 0);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 2);
  arena_free(&arena);
  plugin_end(plugin);
}

/* -- somebody else's --------------------------------------------------------------------------- */

Test(settle, after_a_takeover_the_old_owner_gets_closed) {
  struct child other = child_living();
  struct tidings_plugin *old =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  uint64_t done = leased(old, "one");
  expect_settle(old, done, TIDINGS_COMMITTED, 0);
  uint64_t open = leased(old, "two"), named = leased(old, "three");
  plugin_end(old);

  struct tidings_plugin *new = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  cr_assert_eq(tool_result(new, "s").code, TIDINGS_E_OWNED);
  cr_assert_eq(event(new, &error, "{\"type\":\"session.opened\",\"session\":\"s\"}"),
               TIDINGS_E_OWNED);
  cr_assert_eq(event(new, &error,
                     "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"takeover\":true,"
                     "\"deliveries\":[\"%llu\"]}}",
                     (unsigned long long)named),
               0, "%s", error.text);
  expect_got(tool_result(new, "s"), "two");
  plugin_end(new);

  old = plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  expect_settle(old, open, TIDINGS_COMMITTED, TIDINGS_E_CLOSED);
  expect_settle(old, named, TIDINGS_ROLLED_BACK, TIDINGS_E_CLOSED);
  expect_settle(old, done, TIDINGS_ROLLED_BACK, TIDINGS_E_CLOSED);
  expect_settle(old, open, TIDINGS_ROLLED_BACK, 0); /* the same outcome again is harmless */
  expect_settle(old, named, TIDINGS_COMMITTED, 0);
  expect_settle(old, done, TIDINGS_COMMITTED, 0);
  plugin_end(old);
  child_kill(&other);
}

/* A leased delivery whose owner lives: nobody else ends it. */
Test(settle, a_foreign_lease_is_closed) {
  struct child other = child_living();
  struct tidings_plugin *owner =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  uint64_t delivery = leased(owner, "one");
  plugin_end(owner);
  struct tidings_plugin *stranger = plugin_at(kit_store, (struct plugin_words){0});
  expect_settle(stranger, delivery, TIDINGS_COMMITTED, TIDINGS_E_CLOSED);
  plugin_end(stranger);
  owner = plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  expect_settle(owner, delivery, TIDINGS_COMMITTED, 0);
  plugin_end(owner);
  child_kill(&other);
}

Test(settle, late_after_a_recovery_is_state) {
  struct child other = child_living();
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  uint64_t delivery = leased(plugin, "one");
  plugin_end(plugin);
  child_kill(&other);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_got(tool_result(plugin, "s"), "one");
  expect_settle(plugin, delivery, TIDINGS_COMMITTED, TIDINGS_E_STATE);
  expect_settle(plugin, delivery, TIDINGS_ROLLED_BACK, 0);
  plugin_end(plugin);
}

/* -- remembered -------------------------------------------------------------------------------- */

/* Leases, then settles while another process holds the writer lock. */
static uint64_t settled_into_a_busy_store(struct tidings_plugin *plugin, uint32_t outcome) {
  uint64_t delivery = leased(plugin, "one");
  struct child writer = writer_holding(kit_store);
  for (int i = 0; i < 3; i++) expect_settle(plugin, delivery, outcome, TIDINGS_E_BUSY);
  cr_assert_eq(((struct instance *)plugin)->remembered.count, 1, "it is remembered once");
  writer_let_go(&writer);
  return delivery;
}

static uint8_t state_of(struct store *store, uint64_t id) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct delivery delivery;
  struct store_txn *txn;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(delivery_get(txn, public_id_session(id), public_id_n(id), &arena, &delivery, &error),
               0, "%s", error.text);
  store_end(txn);
  arena_free(&arena);
  return delivery.state;
}

static const struct plugin_words impatient = {.budget_ms = 20};

Test(settle, remembered_and_applied_by_a_hook_that_is_quiet) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  uint64_t delivery = settled_into_a_busy_store(plugin, TIDINGS_COMMITTED);
  expect_got(tool_result(plugin, "s"), "");
  cr_assert_eq(state_of(store_of(plugin), delivery), DELIVERY_COMMITTED);
  plugin_end(plugin);
}

Test(settle, a_remembered_rollback_is_told_by_the_same_call) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  (void)settled_into_a_busy_store(plugin, TIDINGS_ROLLED_BACK);
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
}

Test(settle, remembered_and_applied_by_an_event_a_query_or_a_settle) {
  static const char status[] = "{\"name\":\"status\",\"session\":\"s\"}";
  for (int by = 0; by < 3; by++) {
    struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
    uint64_t delivery = settled_into_a_busy_store(plugin, TIDINGS_COMMITTED);
    if (by == 0) push(plugin, "elsewhere", "x");
    if (by == 1) free(ask(plugin, status));
    if (by == 2) expect_settle(plugin, delivery, TIDINGS_ROLLED_BACK, TIDINGS_E_STATE);
    cr_assert_eq(state_of(store_of(plugin), delivery), DELIVERY_COMMITTED, "by %d", by);
    plugin_end(plugin);
  }
}

static uint8_t state_after_reopening(uint64_t delivery) {
  struct store *store = store_at(kit_store);
  uint8_t state = state_of(store, delivery);
  store_close(store);
  return state;
}

Test(settle, remembered_and_applied_by_close) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  uint64_t delivery = settled_into_a_busy_store(plugin, TIDINGS_COMMITTED);
  plugin_end(plugin);
  cr_assert_eq(state_after_reopening(delivery), DELIVERY_COMMITTED);
}

/* A remembered settle is applied at the next call of the instance; a swap calls quiesce first. */
Test(settle, remembered_and_applied_by_quiesce) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  struct tidings_error error = new_error();
  uint64_t delivery = settled_into_a_busy_store(plugin, TIDINGS_COMMITTED);
  cr_assert_eq(plugin->quiesce(plugin, &error), 0, "%s", error.text);
  plugin_end(plugin);
  cr_assert_eq(state_after_reopening(delivery), DELIVERY_COMMITTED);
}

/* -- one phase --------------------------------------------------------------------------------- */

Test(settle, on_return) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.settle_on_return = 1});
  push(plugin, "s", "one");
  push(plugin, "s", "two");
  struct got got = tool_result(plugin, "s");
  expect_got(got, "one|two");
  cr_assert_eq(got.delivery, 0);
  expect_got(tool_result(plugin, "s"), "");
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert_eq(head.watermark, 3);
  cr_assert_eq(head.leased_count, 0);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 2);
  arena_free(&arena);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_got(tool_result(plugin, "s"), "");
  plugin_end(plugin);
}

Test(settle, a_producer_may_not) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  expect_settle(plugin, 1, TIDINGS_COMMITTED, TIDINGS_E_UNSUPPORTED);
  cr_assert_eq(tool_result(plugin, "s").code, TIDINGS_E_UNSUPPORTED);
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.opened\",\"session\":\"s\"}"),
               TIDINGS_E_UNSUPPORTED);
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.closed\",\"session\":\"s\"}"),
               TIDINGS_E_UNSUPPORTED);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  plugin_end(plugin);
}

/* A host's description of its carrier is stored and returned by queries, whose answers must still
 * be UTF-8 and JSON. */
Test(settle, a_call_id_may_be_any_bytes) {
  static const char id[] = "\xff\xfe\"\\\n\x01\0\xe2\x82";
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text("s"),
                                             .call_id = {id, sizeof id - 1},
                                             .tool = {id, sizeof id - 1}};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert_not_null(reply);
  cr_assert_eq(settle_as(plugin, reply->delivery_id, TIDINGS_COMMITTED, &error), 0);
  plugin->release(plugin, reply);
  static const char *const requests[] = {"{\"name\":\"history\",\"session\":\"s\"}",
                                         "{\"name\":\"stream\",\"session\":\"s\"}"};
  for (size_t i = 0; i < 2; i++) {
    char *answer = ask(plugin, requests[i]);
    cr_assert(utf8_valid(span_text(answer)), "%s", answer);
    for (const char *c = answer; *c; c++) cr_assert((unsigned char)*c >= 0x20, "%s", answer);
    free(answer);
  }
  plugin_end(plugin);
}

/* Arithmetic on the wall clock must not overflow, and nothing may get lost, whatever it does. */
Test(settle, clocks_that_jump) {
  static const long long jumps[] = {INT64_MAX,     INT64_MIN,     0,        -1, INT64_MAX / 2,
                                    1700000000000, INT64_MIN / 2, INT64_MAX};
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    struct tidings_error error = new_error();
    atomic_store(&kit_now_ms, jumps[i]);
    cr_assert_eq(event(plugin, &error,
                       "{\"type\":\"notification\",\"session\":\"s\",\"source\":\"p\",\"id\":\"%"
                       "zu\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\","
                       "\"ttl_ms\":1000}}",
                       i),
                 0, "%s", error.text);
    struct got got = tool_result(plugin, "s");
    cr_assert_eq(got.code, 0, "%s", got.error.text);
    cr_assert_eq(got.count, 1, "jump %zu", i);
    expect_settle(plugin, got.delivery, TIDINGS_COMMITTED, 0);
    free(ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}"));
  }
  plugin_end(plugin);
}

/* Names are stored with the delivery, so they have a limit; what is over it is refused before
 * anything is leased. */
Test(settle, names_of_calls_and_tools_have_a_limit) {
  static char name[4097];
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_tool_result result = {
      .size = sizeof result, .session = {"s", 1}, .call_id = {name, sizeof name}};
  struct tidings_error error = new_error();
  const struct tidings_reply *reply = NULL;
  memset(name, 'c', sizeof name);
  push(plugin, "s", "one");
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), TIDINGS_E_TOO_BIG);
  cr_assert_str_eq(error.text, "result.call_id: 4097 bytes are over the limit of 4096");
  result.tool = result.call_id;
  result.call_id.len = 4096;
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), TIDINGS_E_TOO_BIG);
  cr_assert_str_eq(error.text, "result.tool: 4097 bytes are over the limit of 4096");
  result.tool.len = 4096;
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0);
  cr_assert_eq(reply->notification_count, 1);
  plugin->release(plugin, reply);
  plugin_end(plugin);
}

/* An absurd length is refused before a byte is read, because the memory after the text is not
 * ours. */
Test(settle, lengths_are_checked_before_anything_is_read) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  const struct tidings_span endless = {"s", SIZE_MAX};
  const struct tidings_span *ids[] = {&endless};
  const struct tidings_tool_result result = {.size = sizeof result, .session = endless};
  struct tidings_chat_request request = {.size = sizeof request, .session = endless};
  struct tidings_error error = new_error();
  const struct tidings_reply *reply = NULL;
  push(plugin, "s", "one");
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), TIDINGS_E_TOO_BIG);
  cr_assert(strstr(error.text, "result.session: 18446744073709551615 bytes"), "%s", error.text);
  cr_assert_eq(plugin->on_chat_request(plugin, &request, &reply, &error), TIDINGS_E_TOO_BIG);
  request.session = span_text("s");
  request.messages = ids;
  request.message_count = 1;
  cr_assert_eq(plugin->on_chat_request(plugin, &request, &reply, &error), TIDINGS_E_NOT_FOUND);
  cr_assert(strstr(error.text, "request.messages: an id of "), "%s", error.text);
  cr_assert_eq(plugin->on_event(plugin, &endless, &reply, &error), TIDINGS_E_TOO_BIG);
  plugin_end(plugin);
}

Test(settle, an_endless_path_is_refused_before_it_is_read) {
  struct tidings_open_options options = {.size = sizeof options};
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  const struct tidings_store *maintenance = tidings_entry.get_extension(TIDINGS_EXT_STORE);
  const struct tidings_store_request request = {.size = sizeof request, .from = {"x", SIZE_MAX}};
  const struct tidings_answer *answer = NULL;
  struct tidings_error error = new_error();
  struct tidings_plugin *opened = NULL;
  struct tidings_host whole = ((struct instance *)plugin)->host;
  whole.size = sizeof whole;
  options.store_dir = (struct tidings_span){"x", SIZE_MAX};
  cr_assert_eq(tidings_entry.open(&whole, &options, &opened, &error), TIDINGS_E_TOO_BIG);
  cr_assert(strstr(error.text, "options.store_dir: "), "%s", error.text);
  options.store_dir = span_text(kit_store);
  options.host_name = (struct tidings_span){"x", SIZE_MAX};
  cr_assert_eq(tidings_entry.open(&whole, &options, &opened, &error), TIDINGS_E_TOO_BIG);
  cr_assert_eq(maintenance->check(&request, &answer, &error), TIDINGS_E_TOO_BIG);
  plugin_end(plugin);
}
