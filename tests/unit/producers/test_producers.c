/* SPDX-License-Identifier: MIT
 *
 * The notification of each report: kind, level, words, what it takes back, what is remembered.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "common/utf8.h"
#include "event/event.h"
#include "kit.h"
#include "rules/producers/calls.h"
#include "rules/producers/edits.h"
#include "rules/producers/producers.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(producers, .fini = tear_down);

static struct produced produced_by(const char *type, const char *data, struct memory *memory) {
  struct settings settings = settings_from("", &arena);
  struct buffer json = BUFFER_EMPTY;
  struct event event;
  struct produced produced;
  struct tidings_error error = new_error();
  buffer_format(&json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":%s}", type, data);
  cr_assert_eq(event_parse(buffer_view(&json), &settings, &arena, &event, &error), 0, "%s",
               error.text);
  cr_assert_eq(produce(&event, &settings, memory, &arena, &produced), 0);
  *memory = produced.memory;
  buffer_free(&json);
  return produced;
}

/* "source.name|level|message", or "" for silence. */
static const char *news_of(const char *type, const char *data) {
  struct memory memory = {0};
  struct produced produced = produced_by(type, data, &memory);
  struct buffer text = BUFFER_EMPTY;
  const struct notification *note = &produced.note;
  if (!produced.has_note) return "";
  buffer_format(&text, "%.*s.%.*s|%s|%.*s", SPAN_FORMAT(note->source), SPAN_FORMAT(note->name),
                level_name(note->level), SPAN_FORMAT(note->message));
  const char *copy = text_of(buffer_view(&text));
  buffer_free(&text);
  return copy;
}

Test(producers, say_the_documented_words) {
  static const struct {
    const char *type, *data, *news;
  } cases[] = {
      {"handle.state", "{\"handle\":\"h_3\",\"tool\":\"cargo_check\",\"state\":\"stopped\"}",
       "tool.stopped|info|Tool `cargo_check` (handle `h_3`) has stopped with result available."},
      {"handle.state", "{\"handle\":\"h_1\",\"tool\":\"git\",\"state\":\"waiting\"}",
       "tool.waiting|warning|Tool `git` (handle `h_1`) is waiting for input."},
      {"handle.state",
       "{\"handle\":\"h_3\",\"tool\":\"cargo_check\",\"state\":\"failed\",\"exit_code\":101}",
       "tool.failed|error|Tool `cargo_check` (handle `h_3`) failed with exit code 101."},
      {"handle.state",
       "{\"handle\":\"h_3\",\"tool\":\"cargo_check\",\"state\":\"failed\",\"level\":\"critical\"}",
       "tool.failed|critical|Tool `cargo_check` (handle `h_3`) failed."},
      {"handle.state", "{\"handle\":\"h_3\",\"tool\":\"x\",\"state\":\"running\"}", ""},
      {"handle.state", "{\"handle\":\"h_3\",\"tool\":\"t\",\"state\":\"failed\",\"exit_code\":0}",
       "tool.failed|error|Tool `t` (handle `h_3`) failed with exit code 0."},
      {"handle.state",
       "{\"handle\":\"h\",\"tool\":\"ssh\",\"state\":\"waiting\",\"content\":\"a\\r\\u001b["
       "1mb\\n\"}",
       "tool.waiting|warning|Tool `ssh` (handle `h`) is waiting for input.\nThe last lines:\n  b"},
      {"handle.state",
       "{\"handle\":\"h\",\"tool\":\"t\",\"state\":\"stopped\",\"content\":\" \\n\"}",
       "tool.stopped|info|Tool `t` (handle `h`) has stopped with result available."},
      {"handle.polled", "{\"handle\":\"h_3\"}", ""},
      {"mcp.state", "{\"server\":\"github\",\"state\":\"connected\"}", ""},
      {"mcp.state", "{\"server\":\"github\",\"state\":\"disconnected\"}",
       "mcp.disconnected|error|MCP server `github` has disconnected."},
      {"mcp.state", "{\"server\":\"github\",\"state\":\"reconnected\"}",
       "mcp.reconnected|info|MCP server `github` has reconnected."},
      {"mcp.state", "{\"server\":\"github\",\"state\":\"unresponsive\"}",
       "mcp.unresponsive|warning|MCP server `github` is not responding."},
      {"mcp.state", "{\"server\":\"github\",\"state\":\"disconnected\",\"level\":\"info\"}",
       "mcp.disconnected|info|MCP server `github` has disconnected."},
      {"file.changed", "{\"path\":\"src/lib.rs\"}",
       "file.changed|info|`src/lib.rs` was modified externally."},
      {"file.changed", "{\"path\":\"a\",\"change\":\"created\"}",
       "file.changed|info|`a` was created externally."},
      {"file.changed", "{\"paths\":[\"a\"],\"change\":\"deleted\"}",
       "file.changed|info|`a` was deleted externally."},
      {"file.changed", "{\"path\":\"a\",\"change\":\"renamed\"}",
       "file.changed|info|`a` was renamed externally."},
      {"file.changed", "{\"paths\":[\"a\",\"b\"]}",
       "file.changed|info|Multiple files modified: a, b"},
      {"file.changed", "{\"paths\":[\"a\",\"b\"],\"change\":\"deleted\"}",
       "file.changed|info|Multiple files deleted: a, b"},
      {"config.changed", "{\"summary\":\"model is now x\"}",
       "config.reloaded|info|Configuration reloaded: model is now x"},
      {"rate.limited", "{\"retry_after_ms\":12000}",
       "rate.limited|warning|Rate limited; retry after 12 s."},
      {"rate.limited", "{\"retry_after_ms\":12001,\"provider\":\"p\"}",
       "rate.limited|warning|Rate limited by p; retry after 13 s."},
      {"rate.limited", "{\"retry_after_ms\":9223372036854775807}",
       "rate.limited|warning|Rate limited; retry after 9223372036854776 s."},
      {"subagent.finished", "{\"slug\":\"research\",\"summary\":\"Found three.\"}",
       "subagent.finished|info|[Subagent 'research' finished]\nFound three."},
      {"subagent.finished", "{\"slug\":\"research\",\"summary\":\"\"}",
       "subagent.finished|info|[Subagent 'research' finished]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect_str_eq(news_of(cases[i].type, cases[i].data), cases[i].news);
}

Test(producers, say_how_a_command_ended) {
  static const struct {
    const char *type, *data, *news;
  } cases[] = {
      {"run.finished", "{\"command\":\"make\",\"handle\":\"h\"}",
       "run.finished|info|Command `make` (handle `h`) finished."},
      {"run.failed", "{\"command\":\"make\",\"handle\":\"h\"}",
       "run.failed|error|Command `make` (handle `h`) failed."},
      {"run.failed",
       "{\"command\":\"npm test\",\"handle\":\"npm-1\",\"tool\":\"npm\",\"exit_code\":3,"
       "\"duration_ms\":12345,\"log\":\"/l/npm-1.log\",\"tail\":\"one\\n\\n\\ttwo\\n\"}",
       "run.failed|error|Command `npm test` (handle `npm-1`) failed with exit code 3 after 12.3 s. "
       "Log: `/l/npm-1.log`\nThe last lines:\n  one\n\n  \ttwo"},
      {"run.failed",
       "{\"command\":\"x\",\"handle\":\"h\",\"tool\":\"the tests\",\"signal\":\"SIGSEGV\","
       "\"duration_ms\":0,\"log\":\"/l\",\"log_error\":\"No space\",\"tail\":\"\"}",
       "run.failed|error|Command `x` (`the tests`, handle `h`) was killed by SIGSEGV after 0.0 s. "
       "Log: `/l` (incomplete: No space)\nIt printed nothing."},
      {"run.failed",
       "{\"command\":\"x\",\"handle\":\"h\",\"lost\":true,\"duration_ms\":3000,\"log\":\"/l\"}",
       "run.failed|error|Command `x` (handle `h`) was lost track of after 3.0 s. What ran it has "
       "ended; whether it still runs is not known. Log: `/l`"},
      {"run.failed", "{\"command\":\"x\",\"handle\":\"h\",\"lost\":false}",
       "run.failed|error|Command `x` (handle `h`) failed."},
      {"run.finished",
       "{\"command\":\"a\\nb\\u001b[1mc\",\"handle\":\"h\",\"exit_code\":0,"
       "\"duration_ms\":184000,\"log\":\"/a\\nb\",\"level\":\"critical\"}",
       "run.finished|critical|Command `a bc` (handle `h`) finished with exit code 0 after 3 min "
       "4 s. Log: `/a b`"},
      {"run.finished", "{\"command\":\"c\",\"handle\":\"h\",\"tail\":\"\\u001b[2J\\n\"}",
       "run.finished|info|Command `c` (handle `h`) finished."},
      {"run.finished", "{\"command\":\"c\",\"handle\":\"h\",\"duration_ms\":7384000}",
       "run.finished|info|Command `c` (handle `h`) finished after 2 h 3 min."},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect_str_eq(news_of(cases[i].type, cases[i].data), cases[i].news);
}

/* Returns the last `lines` lines of a command's output, each of `width` characters, as the model
 * reads them. */
static struct tidings_span message_of_lines(size_t lines, size_t width) {
  struct memory memory = {0};
  struct buffer data = BUFFER_EMPTY;
  buffer_text(&data, "{\"command\":\"c\",\"handle\":\"h\",\"tail\":\"");
  for (size_t i = 0; i < lines; i++) buffer_format(&data, "%0*zu\\n", (int)width, i);
  buffer_text(&data, "\"}");
  buffer_byte(&data, '\0');
  struct produced produced = produced_by("run.failed", data.bytes, &memory);
  buffer_free(&data);
  return produced.note.message;
}

static bool ends_with(struct tidings_span text, const char *end) {
  size_t len = strlen(end);
  return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

Test(producers, keep_the_newest_of_the_last_lines) {
  static const char head[] = "Command `c` (handle `h`) failed.\nThe last lines:";
  struct tidings_span message = message_of_lines(100, 2);
  cr_expect_eq(message.len, sizeof head - 1 + (size_t)20 * 5);
  cr_expect(memcmp(message.ptr, head, sizeof head - 1) == 0 && ends_with(message, "\n  99"));
  message = message_of_lines(20, 200);
  cr_expect_eq(message.len, sizeof head - 1 + (size_t)9 * 203, "%zu", message.len);
  cr_expect(ends_with(message, "19"));
  message = message_of_lines(1, 5000);
  cr_expect_eq(message.len, sizeof head - 1 + 2000 + strlen("…"), "%zu", message.len);
  cr_expect(memcmp(message.ptr + sizeof head - 1, "\n  …0", strlen("\n  …0")) == 0);
}

/* `limits.message_bytes` takes the oldest lines first; the first line is cut only if it is alone.
 */
Test(producers, a_small_limit_keeps_the_first_line) {
  static const char data[] = "{\"type\":\"run.failed\",\"session\":\"s\",\"data\":{\"command\":"
                             "\"c\",\"handle\":\"h\",\"tail\":\"one\\ntwo\\nthree\\nfour\"}}";
  for (uint32_t most = 64; most < 120; most++) {
    struct settings settings = settings_from("", &arena);
    struct memory memory = {0};
    struct event event;
    struct produced produced;
    struct tidings_error error = new_error();
    settings.message_bytes = most;
    cr_assert_eq(event_parse(span_text(data), &settings, &arena, &event, &error), 0);
    cr_assert_eq(produce(&event, &settings, &memory, &arena, &produced), 0);
    struct tidings_span message = produced.note.message;
    cr_expect(memcmp(message.ptr, "Command `c` (handle `h`) failed.\n", 33) == 0);
    cr_expect(message.len <= most && ends_with(message, "our"), "%u: %.*s", (unsigned)most,
              SPAN_FORMAT(message));
  }
}

Test(producers, keep_what_policy_and_hosts_ask_for) {
  struct memory memory = {0};
  struct produced produced = produced_by(
      "handle.state", "{\"handle\":\"h_3\",\"tool\":\"git\",\"state\":\"stopped\"}", &memory);
  cr_expect(span_is(produced.note.handle, "h_3") && span_is(produced.note.tool, "git"));
  cr_expect(
      span_is(produced.note.data, "{\"handle\":\"h_3\",\"tool\":\"git\",\"state\":\"stopped\"}"));
  cr_expect_eq(produced.withdraw_handle.len, 0);
  produced = produced_by("file.changed", "{\"path\":\"a\",\"caused_by\":\"call_1\"}", &memory);
  cr_expect(span_is(produced.note.caused_by, "call_1"));
  produced = produced_by("subagent.finished", "{\"slug\":\"x\",\"summary\":\"y\"}", &memory);
  cr_expect_eq(produced.note.activation, ACTIVATION_IDLE);
}

Test(producers, a_poll_and_running_take_news_back) {
  struct memory memory = {0};
  struct produced produced = produced_by("handle.polled", "{\"handle\":\"h_3\"}", &memory);
  cr_expect(span_is(produced.withdraw_handle, "h_3") && produced.withdraw_reason == REASON_POLLED);
  produced = produced_by("handle.state",
                         "{\"handle\":\"h_3\",\"tool\":\"x\",\"state\":\"running\"}", &memory);
  cr_expect(span_is(produced.withdraw_handle, "h_3") && produced.withdraw_reason == REASON_RUNNING);
}

Test(producers, a_summary_is_cut_by_characters) {
  struct memory memory = {0};
  struct buffer data = BUFFER_EMPTY;
  buffer_text(&data, "{\"slug\":\"s\",\"summary\":\"");
  for (int i = 0; i < 501; i++) buffer_text(&data, i % 2 ? "é" : "😀");
  buffer_text(&data, "\"}");
  buffer_byte(&data, '\0');
  struct produced produced = produced_by("subagent.finished", data.bytes, &memory);
  size_t head = strlen("[Subagent 's' finished]\n");
  struct tidings_span summary =
      span_of(produced.note.message.ptr + head, produced.note.message.len - head);
  static const char mark[] = "… (4 more bytes)"; /* of one character */
  cr_expect_eq(summary.len, 250 * 2 + 250 * 4 + sizeof mark - 1);
  cr_expect(utf8_valid(summary));
  cr_expect_eq(utf8_characters(summary, 500), 250 * 2 + 250 * 4);
  cr_expect_eq(memcmp(summary.ptr + 250 * 2 + 250 * 4, mark, sizeof mark - 1), 0);
  buffer_free(&data);
}

Test(producers, a_long_message_is_cut_and_says_so) {
  struct memory memory = {0};
  struct buffer data = BUFFER_EMPTY;
  buffer_text(&data, "{\"summary\":\"");
  for (int i = 0; i < 20000; i++) buffer_byte(&data, 'x');
  buffer_text(&data, "\"}");
  buffer_byte(&data, '\0');
  struct produced produced = produced_by("config.changed", data.bytes, &memory);
  cr_expect_eq(produced.note.message.len, 16384 + strlen("… (3640 more bytes)"), "%zu",
               produced.note.message.len);
  buffer_free(&data);
}

/* -- the budget -------------------------------------------------------------------------------- */

static const char *usage(struct memory *memory, int64_t used, int64_t limit) {
  char data[96];
  (void)snprintf(data, sizeof data, "{\"used\":%lld,\"limit\":%lld}", (long long)used,
                 (long long)limit);
  struct produced produced = produced_by("budget.usage", data, memory);
  if (!produced.has_note) return "";
  return text_of(produced.note.message);
}

Test(producers, thresholds_speak_once_and_again_after_a_fall) {
  struct memory memory = {0};
  cr_expect_str_eq(usage(&memory, 149999, 200000), "");
  cr_expect_str_eq(usage(&memory, 150000, 200000), "Token budget: 75% used (150000 of 200000).");
  cr_expect_str_eq(usage(&memory, 179999, 200000), "");
  cr_expect_str_eq(usage(&memory, 180000, 200000), "Token budget: 90% used (180000 of 200000).");
  cr_expect_str_eq(usage(&memory, 185000, 200000), "");
  cr_expect_str_eq(usage(&memory, 170000, 200000), "");
  cr_expect_str_eq(usage(&memory, 181000, 200000), "Token budget: 90% used (181000 of 200000).");
  cr_expect_str_eq(usage(&memory, 210000, 200000), "Token budget: 105% used (210000 of 200000).");
  cr_expect_str_eq(usage(&memory, 0, 200000), "");
  cr_expect_str_eq(usage(&memory, 199999, 200000), "Token budget: 99% used (199999 of 200000).");
}

Test(producers, thresholds_at_the_edges_of_numbers) {
  struct memory memory = {0};
  cr_expect_str_eq(usage(&memory, 0, 1), "");
  cr_expect_str_eq(usage(&memory, 1, 1), "Token budget: 100% used (1 of 1).");
  memory.budget_percent = 0;
  cr_expect_str_eq(usage(&memory, 2, 3), "");
  cr_expect_str_eq(usage(&memory, INT64_MAX, INT64_MAX),
                   "Token budget: 100% used (9223372036854775807 of 9223372036854775807).");
  memory.budget_percent = 0;
  cr_expect_str_eq(usage(&memory, 6917529027641081855, INT64_MAX), "");
  cr_expect_str_eq(usage(&memory, 6917529027641081856, INT64_MAX),
                   "Token budget: 75% used (6917529027641081856 of 9223372036854775807).");
  cr_expect_str_eq(usage(&memory, INT64_MAX, 3),
                   "Token budget: 307445734561825860233% used (9223372036854775807 of 3).");
}

Test(producers, the_last_threshold_is_an_error) {
  struct memory memory = {0};
  struct produced produced = produced_by("budget.usage", "{\"used\":90,\"limit\":100}", &memory);
  cr_expect_eq(produced.note.level, TIDINGS_LEVEL_WARNING);
  produced = produced_by("budget.usage", "{\"used\":95,\"limit\":100}", &memory);
  cr_expect_eq(produced.note.level, TIDINGS_LEVEL_ERROR);
  cr_expect(span_is(produced.note.source, "budget") && span_is(produced.note.name, "threshold"));
}

/* -- calls ------------------------------------------------------------------------------------- */

static struct event event_of(const char *json) {
  struct settings settings = settings_from("", &arena);
  struct tidings_error error = new_error();
  struct event event;
  cr_assert_eq(event_parse(span_text(json), &settings, &arena, &event, &error), 0, "%s",
               error.text);
  return event;
}

static bool calls_after(struct memory *memory, const char *type, const char *data, int64_t now_ms) {
  char json[256];
  (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":%s}", type, data);
  struct tidings_span text;
  cr_assert_eq(arena_copy(&arena, span_text(json), &text), 0);
  struct event event = event_of(text_of(text));
  return calls_take(memory, &event, now_ms);
}

/* The tool that ran when `paths` changed at `time`, "" for none. */
static const char *ran(const struct memory *memory, const char *time, const char *data,
                       int64_t now_ms) {
  char json[256];
  (void)snprintf(json, sizeof json,
                 "{\"type\":\"file.changed\",\"session\":\"s\",\"time\":%s,\"data\":%s}", time,
                 data);
  struct event event = event_of(json);
  return text_of(calls_during(memory, &event, now_ms, true));
}

#define ONE "{\"path\":\"a\"}"
#define TWO "{\"paths\":[\"a\",\"b\"]}"

Test(producers, a_change_belongs_to_the_call_that_ran) {
  struct memory memory = {0};
  cr_expect(calls_after(&memory, "tools.started", "{\"tool\":\"Bash\",\"call_id\":\"1\"}", 1000));
  cr_expect_str_eq(ran(&memory, "null", ONE, 999), "");
  cr_expect_str_eq(ran(&memory, "null", ONE, 1000), "Bash");
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:00.999Z\"", ONE, 5000), "");
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:01Z\"", TWO, 5000), "Bash");
  cr_expect_not(calls_after(&memory, "stream.started", "null", 1500));
  cr_expect_not(calls_after(&memory, "tools.finished", "{\"call_id\":\"2\"}", 1500));
  cr_expect(calls_after(&memory, "tools.finished", "{\"call_id\":\"1\"}", 2000));
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T01:00:02.0004+01:00\"", ONE, 5000), "Bash");
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:02.001Z\"", ONE, 5000), "");
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:01Z\"", TWO, 5000), "",
                   "some may have changed later");
  cr_expect_not(calls_after(&memory, "turn.finished", "null", 3000), "none runs");
}

Test(producers, a_host_that_is_gone_runs_nothing) {
  struct memory memory = {0};
  struct event event = event_of("{\"type\":\"file.changed\",\"session\":\"s\",\"data\":" ONE "}");
  cr_expect(calls_after(&memory, "tools.started", "{\"tool\":\"Bash\",\"call_id\":\"1\"}", 1000));
  cr_expect(!calls_during(&memory, &event, 2000, false).len);
  cr_expect(calls_after(&memory, "session.resumed", "null", 3000));
  cr_expect(!calls_during(&memory, &event, 4000, true).len);
}

Test(producers, the_newest_calls_are_remembered) {
  struct memory memory = {0};
  char data[64];
  cr_expect(calls_after(&memory, "tools.started", "{\"tool\":\"long\",\"call_id\":\"l\"}", 500));
  for (int i = 0; i < 2 * MEMORY_CALLS; i++) {
    (void)snprintf(data, sizeof data, "{\"tool\":\"t%d\",\"call_id\":\"%d\"}", i, i);
    cr_expect(calls_after(&memory, "tools.started", data, 1000 + 10 * i));
    cr_expect(calls_after(&memory, "tools.finished", data, 1005 + 10 * i));
  }
  cr_assert_eq(memory.call_count, MEMORY_CALLS);
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:01.310Z\"", ONE, 5000), "t31");
  cr_expect_str_eq(ran(&memory, "\"1970-01-01T00:00:01.003Z\"", ONE, 5000), "long");
}

Test(producers, the_calls_of_a_dead_host_are_orphaned) {
  struct memory memory = {0}, shared = {0}, none = {0};
  struct event event = event_of("{\"type\":\"file.changed\",\"session\":\"s\",\"data\":" ONE "}");
  cr_expect_not(calls_orphan(&memory, &none));
  cr_expect(calls_after(&memory, "tools.started", "{\"tool\":\"a\",\"call_id\":\"1\"}", 1000));
  cr_expect(calls_after(&memory, "tools.started", "{\"tool\":\"b\",\"call_id\":\"2\"}", 1001));
  cr_expect(calls_after(&memory, "tools.finished", "{\"call_id\":\"1\"}", 1002));
  cr_expect(calls_after(&shared, "tools.started", "{\"tool\":\"b\",\"call_id\":\"2\"}", 1001));
  cr_expect(calls_after(&shared, "tools.started", "{\"tool\":\"c\",\"call_id\":\"3\"}", 1003));
  cr_expect(calls_orphan(&memory, &shared));
  cr_assert_eq(memory.call_count, 2);
  cr_expect(span_is(memory.calls[0].call_id, "2") && memory.calls[0].orphaned);
  cr_expect(span_is(memory.calls[1].call_id, "3") && memory.calls[1].orphaned);
  cr_expect(!calls_during(&memory, &event, 2000, true).len);
  cr_expect_not(calls_after(&memory, "turn.finished", "null", 3000), "they are over");
  cr_expect_not(calls_orphan(&memory, &none), "nor do they run again");
}

/* -- files that the assistant has edited ------------------------------------------------------- */

static void edit(struct memory *memory, const char *paths) {
  char data[128];
  (void)snprintf(data, sizeof data, "{\"paths\":[%s],\"caused_by\":\"c\"}", paths);
  (void)produced_by("file.changed", data, memory);
}

/* The message of a change of these files. */
static const char *said_of(const struct memory *memory, const char *paths, const char *change) {
  struct settings settings = settings_from("", &arena);
  struct produced produced;
  char json[256];
  (void)snprintf(json, sizeof json,
                 "{\"type\":\"file.changed\",\"session\":\"s\",\"data\":{\"paths\":[%s],\"change\":"
                 "\"%s\"}}",
                 paths, change);
  struct event event = event_of(json);
  cr_assert_eq(edits_mark(memory, &event.report, &arena), 0);
  cr_assert_eq(produce(&event, &settings, memory, &arena, &produced), 0);
  cr_expect_not(produce_changes_memory(memory, &produced.memory));
  return text_of(produced.note.message);
}

Test(producers, a_file_that_was_edited_has_to_be_read_again) {
  struct memory memory = {0};
  cr_expect_str_eq(said_of(&memory, "\"a\"", "modified"), "`a` was modified externally.");
  edit(&memory, "\"a\",\"b\"");
  cr_expect_str_eq(said_of(&memory, "\"a\"", "modified"),
                   "`a` was modified externally since your edit; read it again.");
  cr_expect_str_eq(said_of(&memory, "\"b\"", "deleted"),
                   "`b` was deleted externally since your edit.");
  cr_expect_str_eq(said_of(&memory, "\"x\"", "modified"), "`x` was modified externally.");
  cr_expect_str_eq(said_of(&memory, "\"x\",\"b\",\"y\"", "renamed"),
                   "Multiple files renamed: x, b (since your edit; read it again), y");
}

Test(producers, the_newest_edits_are_remembered) {
  struct memory memory = {0};
  char path[16];
  for (int i = 0; i < MEMORY_EDITS + 1; i++) {
    (void)snprintf(path, sizeof path, "\"%d\"", i);
    edit(&memory, path);
    edit(&memory, path);
  }
  cr_expect_eq(memory.edits.len, MEMORY_EDITS * EDIT_KEY_BYTES);
  cr_expect_str_eq(said_of(&memory, "\"0\"", "modified"), "`0` was modified externally.");
  cr_expect_str_eq(said_of(&memory, "\"1\"", "modified"),
                   "`1` was modified externally since your edit; read it again.");
}
