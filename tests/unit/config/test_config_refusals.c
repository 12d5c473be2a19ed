/* SPDX-License-Identifier: MIT
 *
 * Wrong configurations, each with the sentence that refuses it.
 */
#include <criterion/criterion.h>

#include "config/config.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(config_refusals, .fini = tear_down);

#define KINDS(text) "{\"conversation\":{\"notifications\":{\"kinds\":" text "}}}"
#define TOOLS(text) "{\"conversation\":{\"tools\":" text "}}"
#define DELIVERY(text) "{\"delivery\":{" text "}}"
#define TURNS(text) "{\"turns\":{" text "}}"
#define CRITICAL(text) "{\"critical\":{" text "}}"

static const struct {
  const char *json;
  int code;
  const char *sentence;
} bad[] = {
    {"{", TIDINGS_E_INVAL,
     "configuration: not JSON: it ends where a key in double quotes was expected"},
    {"[]", TIDINGS_E_SCHEMA, "configuration: an array is not an object"},
    {"{\"colour\":1}", TIDINGS_E_SCHEMA,
     "colour: unknown key; expected one of $schema, conversation, delivery, turns, critical, "
     "alerts, limits"},
    {"{\"delivery\":[]}", TIDINGS_E_SCHEMA, "delivery: an array is not an object"},
    {"{\"delivery\":{},\"delivery\":{}}", TIDINGS_E_INVAL,
     "configuration: not JSON: the key \"delivery\" appears twice in one object"},
    {DELIVERY("\"colour\":1"), TIDINGS_E_SCHEMA,
     "delivery.colour: unknown key; expected one of preset, format, place, order, overflow, "
     "max_items, max_tokens, max_bytes, coalesce_window_ms, "
     "annihilate, fence, preamble, age_after_ms, peers"},
    {DELIVERY("\"preset\":\"rfd012\""), TIDINGS_E_SCHEMA,
     "delivery.preset: \"rfd012\" is not one of grouped, flat, xml, xml-batch, balanced, plain"},
    {DELIVERY("\"preset\":null"), TIDINGS_E_SCHEMA,
     "delivery.preset: null is not one of grouped, flat, xml, xml-batch, balanced, plain"},
    {DELIVERY("\"format\":\"html\""), TIDINGS_E_SCHEMA,
     "delivery.format: \"html\" is not one of markdown, markdown-flat, xml, xml-batch, json, "
     "system-reminder, openai, anthropic, "
     "synthetic-call, plain"},
    {DELIVERY("\"place\":\"before\""), TIDINGS_E_SCHEMA,
     "delivery.place: \"before\" is not one of prepend, append"},
    {DELIVERY("\"order\":\"oldest\""), TIDINGS_E_SCHEMA,
     "delivery.order: \"oldest\" is not one of level, time, newest"},
    {DELIVERY("\"overflow\":\"drop\""), TIDINGS_E_SCHEMA,
     "delivery.overflow: \"drop\" is not one of defer, drop_oldest, drop_lowest"},
    {DELIVERY("\"max_items\":-1"), TIDINGS_E_SCHEMA,
     "delivery.max_items: -1 is not an integer from 0 to 1000000"},
    {DELIVERY("\"max_items\":\"3\""), TIDINGS_E_SCHEMA,
     "delivery.max_items: \"3\" is not an integer from 0 to 1000000"},
    {DELIVERY("\"max_tokens\":-1"), TIDINGS_E_SCHEMA,
     "delivery.max_tokens: -1 is not an integer from 0 to 10000000"},
    {DELIVERY("\"max_bytes\":100000001"), TIDINGS_E_SCHEMA,
     "delivery.max_bytes: 100000001 is not an integer from 0 to 100000000"},
    {DELIVERY("\"max_bytes\":\"10 kB\""), TIDINGS_E_SCHEMA,
     "delivery.max_bytes: \"10 kB\" is not an integer from 0 to 100000000"},
    {DELIVERY("\"coalesce_window_ms\":86400001"), TIDINGS_E_SCHEMA,
     "delivery.coalesce_window_ms: 86400001 is not an integer from 0 to 86400000"},
    {DELIVERY("\"annihilate\":0"), TIDINGS_E_SCHEMA, "delivery.annihilate: 0 is not true or false"},
    {DELIVERY("\"fence\":true"), TIDINGS_E_SCHEMA,
     "delivery.fence: true is not one of none, nonce"},
    {DELIVERY("\"preamble\":\"once\""), TIDINGS_E_SCHEMA,
     "delivery.preamble: \"once\" is not one of always, first, never"},
    {DELIVERY("\"preamble\":false"), TIDINGS_E_SCHEMA,
     "delivery.preamble: false is not one of always, first, never"},
    {DELIVERY("\"age_after_ms\":86400001"), TIDINGS_E_SCHEMA,
     "delivery.age_after_ms: 86400001 is not an integer from 0 to 86400000"},
    {DELIVERY("\"age_after_ms\":-1"), TIDINGS_E_SCHEMA,
     "delivery.age_after_ms: -1 is not an integer from 0 to 86400000"},
    {TURNS("\"discipline\":\"parallel\""), TIDINGS_E_SCHEMA,
     "turns.discipline: \"parallel\" is not one of serial, coalescing"},
    {TURNS("\"discipline\":0"), TIDINGS_E_SCHEMA,
     "turns.discipline: 0 is not one of serial, coalescing"},
    {TURNS("\"settle_delay_ms\":3600001"), TIDINGS_E_SCHEMA,
     "turns.settle_delay_ms: 3600001 is not an integer from 0 to 3600000"},
    {TURNS("\"settle_delay_ms\":-1"), TIDINGS_E_SCHEMA,
     "turns.settle_delay_ms: -1 is not an integer from 0 to 3600000"},
    {TURNS("\"settle_delay_ms\":\"1s\""), TIDINGS_E_SCHEMA,
     "turns.settle_delay_ms: \"1s\" is not an integer from 0 to 3600000"},
    {TURNS("\"restart\":\"wait\""), TIDINGS_E_SCHEMA,
     "turns.restart: \"wait\" is not one of drain, hold"},
    {TURNS("\"restart\":true"), TIDINGS_E_SCHEMA, "turns.restart: true is not one of drain, hold"},
    {TURNS("\"default_delivery\":\"now\""), TIDINGS_E_SCHEMA,
     "turns.default_delivery: \"now\" is not one of queue, steer"},
    {TURNS("\"max_auto_turns\":1000001"), TIDINGS_E_SCHEMA,
     "turns.max_auto_turns: 1000001 is not an integer from 0 to 1000000"},
    {TURNS("\"max_auto_turns\":0.5"), TIDINGS_E_SCHEMA,
     "turns.max_auto_turns: 0.5 is not an integer from 0 to 1000000"},
    {TURNS("\"max_auto_turns\":null"), TIDINGS_E_SCHEMA,
     "turns.max_auto_turns: null is not an integer from 0 to 1000000"},
    {"{\"turns\":{\"x\":9}}", TIDINGS_E_SCHEMA,
     "turns.x: unknown key; expected one of discipline, settle_delay_ms, restart, max_auto_turns, "
     "default_delivery"},
    {"{\"turns\":5}", TIDINGS_E_SCHEMA, "turns: 5 is not an object"},
    {"{\"alerts\":true}", TIDINGS_E_SCHEMA, "alerts: true is not an object"},
    {"{\"alerts\":{\"idle\":1}}", TIDINGS_E_SCHEMA, "alerts.idle: 1 is not true or false"},
    {"{\"alerts\":{\"error\":true}}", TIDINGS_E_SCHEMA,
     "alerts.error: unknown key; expected one of idle, waiting, critical, "
     "delivered"},
    {CRITICAL("\"force\":1"), TIDINGS_E_SCHEMA, "critical.force: 1 is not true or false"},
    {CRITICAL("\"max_aborts\":65"), TIDINGS_E_SCHEMA,
     "critical.max_aborts: 65 is not an integer from 0 to 64"},
    {CRITICAL("\"max_aborts\":\"3\""), TIDINGS_E_SCHEMA,
     "critical.max_aborts: \"3\" is not an integer from 0 to 64"},
    {CRITICAL("\"abort_window_ms\":86400001"), TIDINGS_E_SCHEMA,
     "critical.abort_window_ms: 86400001 is not an integer from 0 to 86400000"},
    {CRITICAL("\"abort_window_ms\":true"), TIDINGS_E_SCHEMA,
     "critical.abort_window_ms: true is not an integer from 0 to 86400000"},
    {CRITICAL("\"x\":1"), TIDINGS_E_SCHEMA,
     "critical.x: unknown key; expected one of force, max_aborts, abort_window_ms"},
    {"{\"critical\":null}", TIDINGS_E_SCHEMA, "critical: null is not an object"},
    {"{\"limits\":{\"event_bytes\":1023}}", TIDINGS_E_SCHEMA,
     "limits.event_bytes: 1023 is not an integer from 1024 to 1048576"},
    {"{\"limits\":{\"message_bytes\":262145}}", TIDINGS_E_SCHEMA,
     "limits.message_bytes: 262145 is not an integer from 64 to 262144"},
    {"{\"limits\":{\"pending_per_session\":0}}", TIDINGS_E_SCHEMA,
     "limits.pending_per_session: 0 is not an integer from 1 to 1000000"},
    {"{\"limits\":{\"dedup_window_ms\":2592000001}}", TIDINGS_E_SCHEMA,
     "limits.dedup_window_ms: 2592000001 is not an integer from 0 to 2592000000"},
    {"{\"limits\":{\"depth\":3}}", TIDINGS_E_SCHEMA,
     "limits.depth: unknown key; expected one of event_bytes, message_bytes, pending_per_session, "
     "dedup_window_ms, source_per_minute"},
    {"{\"limits\":{\"source_per_minute\":-1}}", TIDINGS_E_SCHEMA,
     "limits.source_per_minute: -1 is not an integer from 0 to 1000000"},
    {"{\"conversation\":{\"model\":1}}", TIDINGS_E_SCHEMA,
     "conversation.model: unknown key; expected one of notifications, tools"},
    {"{\"conversation\":{\"notifications\":{\"enabled\":true}}}", TIDINGS_E_SCHEMA,
     "conversation.notifications.enabled: unknown key; expected one of enable, kinds"},
    {"{\"conversation\":{\"notifications\":{\"enable\":\"no\"}}}", TIDINGS_E_SCHEMA,
     "conversation.notifications.enable: \"no\" is not true or false"},
    {KINDS("[]"), TIDINGS_E_SCHEMA, "conversation.notifications.kinds: an array is not an object"},
    {KINDS("{\"mcp\":5}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.mcp: 5 is not true, false or \"critical\""},
    {KINDS("{\"mcp\":\"error\"}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.mcp: \"error\" is not true, false or \"critical\""},
    {KINDS("{\"mcp\":{\"enable\":1}}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.mcp.enable: 1 is not true, false or \"critical\""},
    {KINDS("{\"mcp\":{\"a\":{}}}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.mcp.a: an object is not true, false or \"critical\""},
    {KINDS("{\"mcp\":{\"\":true}}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.mcp.\"\": a name is empty"},
    {KINDS("{\"tool.stopped\":1}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.\"tool.stopped\": 1 is not true, false or \"critical\""},
    {KINDS("{\"tool.stopped\":{\"a\":true}}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.\"tool.stopped\": an object is not true, false or "
     "\"critical\", as "
     "\"source.name\" must be"},
    {KINDS("{\"tool.\":true}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.\"tool.\": a source or name is empty; expected "
     "\"source.name\", or a source"},
    {KINDS("{\".x\":true}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.\".x\": a source or name is empty; expected "
     "\"source.name\", or a source"},
    {KINDS("{\"\":{}}"), TIDINGS_E_SCHEMA,
     "conversation.notifications.kinds.\"\": a source is empty"},
    {TOOLS("{\"git\":true}"), TIDINGS_E_SCHEMA, "conversation.tools.git: true is not an object"},
    {TOOLS("{\"\":{}}"), TIDINGS_E_SCHEMA, "conversation.tools.\"\": a tool's name is empty"},
    {TOOLS("{\"git\":{\"notifications\":[true]}}"), TIDINGS_E_SCHEMA,
     "conversation.tools.git.notifications: an array is not an object"},
    {TOOLS("{\"git\":{\"notifications\":{\"x\":1}}}"), TIDINGS_E_SCHEMA,
     "conversation.tools.git.notifications.x: 1 is not true, false or \"critical\""},
    {TOOLS("{\"git\":{\"notifications\":{\"\":true}}}"), TIDINGS_E_SCHEMA,
     "conversation.tools.git.notifications.\"\": a name is empty"},
};

Test(config_refusals, refuses_in_precise_words_and_writes_nothing) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct settings settings = {.max_items = 77};
    struct tidings_error error = new_error();
    cr_expect_eq(config_parse(span_text(bad[i].json), &arena, &settings, &error), bad[i].code,
                 "%s: %s", bad[i].json, error.text);
    cr_expect_str_eq(error.text, bad[i].sentence);
    cr_expect_eq(settings.max_items, 77, "%s: the result was written", bad[i].json);
  }
}

Test(config_refusals, has_a_size_limit) {
  static char text[1048577];
  memset(text, ' ', sizeof text);
  memcpy(text, "{}", 2);
  struct settings settings;
  struct tidings_error error = new_error();
  cr_expect_eq(config_parse(span_of(text, sizeof text - 1), &arena, &settings, &error), 0, "%s",
               error.text);
  cr_expect_eq(config_parse(span_of(text, sizeof text), &arena, &settings, &error),
               TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "configuration: 1048577 bytes are over the limit of 1048576");
}
