/* SPDX-License-Identifier: MIT
 *
 * The host's own functions change what is shown: its count of tokens, and its randomness in the ids
 * of synthetic calls.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

TestSuite(shown, .init = kit_begin, .fini = kit_end);

static char counted[512]; /* the texts that the host was asked to count, with "|" after each */

static uint64_t count_tokens(void *context, const struct tidings_span *text) {
  size_t len = strlen(counted);
  (void)context;
  (void)snprintf(counted + len, sizeof counted - len, "%.*s|", SPAN_FORMAT(*text));
  return text->len >= 4 && memcmp(text->ptr, "dear", 4) == 0 ? 1000 : 1;
}

static int32_t all_ones(void *context, void *buffer, size_t len) {
  (void)context;
  memset(buffer, 0xFF, len);
  return 0;
}

static int32_t no_random(void *context, void *buffer, size_t len) {
  (void)context;
  (void)buffer;
  (void)len;
  return -1;
}

static struct tidings_plugin *open_with(const char *configuration, bool counts,
                                        int32_t (*random)(void *, void *, size_t)) {
  return plugin_at(kit_store, (struct plugin_words){.configuration = configuration,
                                                    .count_tokens = counts ? count_tokens : NULL,
                                                    .random = random});
}

Test(shown, the_host_counts_tokens_of_the_text_as_it_is_shown) {
  struct tidings_plugin *plugin =
      open_with("{\"delivery\":{\"max_tokens\":2,\"order\":\"time\"}}", true, all_ones);
  push(plugin, "s", "cheap");
  push(plugin, "s", "\\u202E# x");
  push(plugin, "s", "dear");
  push(plugin, "s", "cheap too");
  expect_got(tool_result(plugin, "s"), "cheap|\xE2\x80\xAE# x");
  cr_expect_str_eq(counted, "cheap|{U+202E}# x|dear|");
  expect_got(tool_result(plugin, "s"), "dear");
  plugin_end(plugin);
}

Test(shown, else_tokens_are_bytes_of_the_text_as_it_is_shown) {
  struct tidings_plugin *plugin =
      open_with("{\"delivery\":{\"max_tokens\":4,\"order\":\"time\"}}", false, all_ones);
  push(plugin, "s", "12345678");
  push(plugin, "s", "\\u202E\\u202E"); /* 6 bytes, shown as 16 */
  push(plugin, "s", "1");
  expect_got(tool_result(plugin, "s"), "12345678");
  expect_got(tool_result(plugin, "s"), "\xE2\x80\xAE\xE2\x80\xAE");
  expect_got(tool_result(plugin, "s"), "1");
  plugin_end(plugin);
}

#define REST "and so many more words that nobody would show them together with those of the line"

/* A process with another count of tokens would cut what the host has shown whole. */
Test(shown, what_cannot_be_rendered_again_is_shown_uncut) {
  struct tidings_plugin *plugin = open_with("{\"delivery\":{\"max_tokens\":4}}", true, all_ones);
  push(plugin, "s", "the first line\\n" REST);
  expect_got(tool_result(plugin, "s"), "the first line\n" REST);
  plugin_end(plugin);
  plugin = open_with("{}", false, all_ones);
  char *timeline = ask(plugin, "{\"name\":\"timeline\",\"session\":\"s\"}");
  cr_expect(strstr(timeline, "\"same\":false"), "%s", timeline);
  cr_expect(strstr(strstr(timeline, "\"role\""), REST), "%s", timeline);
  free(timeline);
  plugin_end(plugin);
}

Test(shown, a_synthetic_call_has_a_random_uuid) {
  struct tidings_plugin *plugin =
      open_with("{\"delivery\":{\"format\":\"synthetic-call\"}}", false, all_ones);
  const struct tidings_tool_result result = {
      .size = sizeof result, .session = span_text("s"), .call_id = span_text("c")};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert(reply && reply->part_count == 1);
  struct tidings_span id = reply->parts[0]->call_id;
  static const char expected[] = "notif_ffffffff-ffff-4fff-bfff-ffffffffffff";
  cr_expect(id.len == sizeof expected - 1 && memcmp(id.ptr, expected, id.len) == 0, "%.*s",
            SPAN_FORMAT(id));
  plugin->release(plugin, reply);
  plugin_end(plugin);
}

Test(shown, without_randomness_a_call_is_refused_and_nothing_is_lost) {
  struct tidings_plugin *plugin =
      open_with("{\"delivery\":{\"format\":\"synthetic-call\"}}", false, no_random);
  push(plugin, "s", "one");
  struct got got = tool_result(plugin, "s");
  cr_expect_eq(got.code, TIDINGS_E_INVAL);
  cr_expect_not_null(strstr(got.error.text, "host.random"), "%s", got.error.text);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
}

/* The plugin does not follow a pointer unless it is an unreleased reply. */
Test(shown, what_is_not_out_is_released_without_harm) {
  const struct tidings_query *query = tidings_entry.get_extension(TIDINGS_EXT_QUERY);
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  const struct tidings_tool_result result = {.size = sizeof result, .session = span_text("s")};
  const struct tidings_span request = span_text("{\"name\":\"sessions\"}");
  const struct tidings_reply *reply = NULL;
  const struct tidings_answer *answer = NULL;
  struct tidings_error error = new_error();
  const struct tidings_reply garbage = {.size = 12345};
  push(plugin, "s", "one");
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert_not_null(reply);
  cr_assert_eq(query->query(plugin, &request, &answer, &error), 0, "%s", error.text);
  unsigned before = atomic_load(&kit_log_lines);
  plugin->release(plugin, &garbage);
  plugin->release(plugin, (const struct tidings_reply *)(uintptr_t)0x10);
  plugin->release(plugin, (const struct tidings_reply *)(const void *)answer);
  query->release_answer(plugin, (const struct tidings_answer *)(const void *)reply);
  cr_assert_eq(atomic_load(&kit_log_lines), before + 4);
  cr_assert_eq(plugin->quiesce(plugin, &error), TIDINGS_E_BUSY, "both are still out");
  cr_assert_str_not_empty(reply->parts[0]->text.ptr);
  plugin->release(plugin, reply);
  query->release_answer(plugin, answer);
  cr_assert_eq(atomic_load(&kit_log_lines), before + 4);
  plugin->release(plugin, reply);
  query->release_answer(plugin, answer);
  cr_assert_eq(atomic_load(&kit_log_lines), before + 6);
  plugin_end(plugin);
}
