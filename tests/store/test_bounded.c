/* SPDX-License-Identifier: MIT
 *
 * The cap bounds the memory of a delivery, however much text waits, and recovery needs little for
 * each lease: the linker sends the plugin's calls of malloc here (see CMakeLists.txt). A reply has
 * its own copies of texts.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

TestSuite(bounded, .init = kit_begin, .fini = kit_end);

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
/* Visible, because a linker of musl programs also hands the calls of shared libraries to them. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);
#pragma GCC visibility pop

static long long live, most; /* bytes */

static void *taken(void *memory) {
  if (memory) live += (long long)malloc_usable_size(memory);
  if (live > most) most = live;
  return memory;
}

void *__wrap_malloc(size_t size) { return taken(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return taken(__real_calloc(count, size)); }
void *__wrap_realloc(void *old, size_t size) {
  long long before = old ? (long long)malloc_usable_size(old) : 0;
  void *memory = __real_realloc(old, size);
  if (memory) live -= before;
  return taken(memory);
}
void __wrap_free(void *memory) {
  if (memory) live -= (long long)malloc_usable_size(memory);
  __real_free(memory);
}

enum { PENDING = 400, TEXT_BYTES = 12000, DATA_BYTES = 12000, CAP = 4, BOUND = 1 << 20 };

static void push_much(struct tidings_plugin *plugin) {
  static char text[TEXT_BYTES + 1], filler[DATA_BYTES + 1];
  struct tidings_error error = new_error();
  memset(text, 'x', TEXT_BYTES);
  memset(filler, 'y', DATA_BYTES);
  for (int i = 0; i < PENDING; i++) {
    int code = event(plugin, &error,
                     "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"k%d.n\","
                     "\"message\":\"%d%s\",\"data\":{\"path\":\"%"
                     "d\",\"z\":\"%s\"}}}",
                     i % 20, i, text, i, filler);
    cr_assert_eq(code, 0, "%s", error.text);
  }
}

static const struct tidings_reply *deliver_one(struct tidings_plugin *plugin) {
  const struct tidings_tool_result result = {
      .size = sizeof result, .session = span_text("s"), .call_id = span_text("c")};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = new_error();
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert_not_null(reply);
  return reply;
}

static void expect_bounded(struct tidings_plugin *plugin, const char *delivery, size_t lines) {
  struct tidings_error error = new_error();
  char request[256];
  (void)snprintf(request, sizeof request, "{\"name\":\"configure\",\"config\":{\"delivery\":%s}}",
                 delivery);
  free(ask(plugin, request));
  long long before = most = live;
  const struct tidings_reply *reply = deliver_one(plugin);
  cr_expect_eq(reply->notification_count, lines, "%s: %u lines", delivery,
               (unsigned)reply->notification_count);
  cr_expect_lt(most - before, BOUND, "%s: %lld bytes at once", delivery, most - before);
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  cr_assert_eq(settle_as(plugin, id, TIDINGS_ROLLED_BACK, &error), 0, "%s", error.text);
}

Test(bounded, memory_by_the_cap) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  push_much(plugin);
  expect_bounded(plugin, "{\"max_items\":4}", 4);
  expect_bounded(plugin, "{\"max_items\":4,\"order\":\"newest\"}", 4);
  expect_bounded(plugin, "{\"max_items\":4,\"coalesce_window_ms\":60000}", 4);
  expect_bounded(plugin, "{\"max_items\":4,\"overflow\":\"drop_oldest\",\"annihilate\":true}", 4);
  expect_bounded(plugin, "{\"max_tokens\":3200}", 1);
  expect_bounded(plugin, "{\"preset\":\"balanced\",\"coalesce_window_ms\":0,\"max_tokens\":0}", 10);
  plugin_end(plugin);
}

enum { LEASES = 500, RECOVERY_BOUND = 3 << 20 };

/* Each lease has the newest state of a key of its own, so all of them are compared. */
Test(bounded, memory_of_a_recovery_of_many_leases) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  for (int i = 0; i < LEASES; i++) {
    cr_assert_eq(event(plugin, &error,
                       "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"k.n\","
                       "\"message\":\"m\",\"key\":\"%d\"}}",
                       i),
                 0, "%s", error.text);
    plugin->release(plugin, deliver_one(plugin));
  }
  long long before = most = live;
  cr_assert_eq(
      event(plugin, &error,
            "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[]}}"),
      0, "%s", error.text);
  cr_expect_lt(most - before, RECOVERY_BOUND, "%lld bytes at once", most - before);
  cr_expect_eq(pending_in(store_of(plugin), "s"), LEASES);
  plugin_end(plugin);
}

static struct range { uintptr_t begin, end; } map; /* of the data file */

static void find_map(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1024];
  map = (struct range){0, 0};
  cr_assert_not_null(maps);
  while (fgets(line, sizeof line, maps)) {
    char *end;
    if (!strstr(line, "data.mdb")) continue;
    map.begin = strtoul(line, &end, 16);
    cr_assert_eq(*end, '-', "%s", line);
    map.end = strtoul(end + 1, NULL, 16);
  }
  (void)fclose(maps);
  cr_assert_neq(map.begin, 0, "the data file is not mapped");
}

static bool is_in_the_map(struct tidings_span text) {
  uintptr_t at = (uintptr_t)text.ptr;
  return text.len && at >= map.begin && at < map.end;
}

/* The store's pages are overwritten while the host still reads its reply. */
Test(bounded, a_reply_has_text_of_its_own) {
  static const char *const configurations[] = {
      "{}", "{\"delivery\":{\"coalesce_window_ms\":60000}}", "{\"delivery\":{\"max_tokens\":60}}",
      "{\"delivery\":{\"format\":\"synthetic-call\"}}"};
  for (size_t c = 0; c < sizeof configurations / sizeof *configurations; c++) {
    struct tidings_plugin *plugin =
        plugin_at(kit_store, (struct plugin_words){.configuration = configurations[c]});
    struct tidings_error error = new_error();
    for (int i = 0; i < 3; i++)
      cr_assert_eq(event(plugin, &error,
                         "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"k.n\","
                         "\"level\":\"error\",\"message\":\"one line\\nand "
                         "%d more of a text that is long enough to be cut at its first "
                         "line\",\"data\":{\"path\":\"p%d\"}}}",
                         i, i),
                   0, "%s", error.text);
    find_map();
    const struct tidings_reply *reply = deliver_one(plugin);
    for (uint32_t i = 0; i < reply->notification_count; i++) {
      const struct tidings_notification *note = reply->notifications[i];
      cr_expect(note->kind_source.len && !is_in_the_map(note->kind_source) &&
                    !is_in_the_map(note->kind_name),
                "%s", configurations[c]);
      cr_expect_eq(note->data.len > 0, note->count == 1,
                   "of several items there is no data to show");
      cr_expect(note->text.len && !is_in_the_map(note->text) && !is_in_the_map(note->data), "%s",
                configurations[c]);
    }
    for (uint32_t i = 0; i < reply->part_count; i++)
      cr_expect(!is_in_the_map(reply->parts[i]->text), "%s", configurations[c]);
    uint64_t id = reply->delivery_id;
    plugin->release(plugin, reply);
    cr_assert_eq(settle_as(plugin, id, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
    plugin_end(plugin);
  }
}
