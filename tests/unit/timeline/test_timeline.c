/* SPDX-License-Identifier: MIT
 *
 * test_timeline.c: what `tidings timeline` puts into its page, and into a trace, from an answer of
 * the query `timeline`.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/timeline/timeline.h"

/* clang-format off */
static const char answer[] =
    "{'session': 's', 'time': '2026-01-02T00:00:10.000Z', 'end': '2.1.2',"
    " 'attachment': {'pid': 7, 'alive': true, 'epoch': 2, 'since': '2026-01-02T00:00:01.000Z',"
    "                'cwd': '/srv', 'host': 'jp'},"
    " 'items': [{'id': '1', 'time': '2026-01-02T00:00:02.000Z', 'level': 'error',"
    "            'kind': {'source': 'ci', 'name': 'failed'}, 'message': '</script><b>one',"
    "            'outcome': 'delivered', 'delivery': '1', 'taken_at': '2026-01-02T00:00:03.250Z',"
    "            'text': 'Pushed. It was shown.'},"
    "           {'id': '2', 'time': '2026-01-02T00:00:02.500Z', 'level': 'error',"
    "            'kind': {'source': 'ci', 'name': 'failed'}, 'message': 'two',"
    "            'outcome': 'pending', 'text': 'Pushed. It was shown.'}],"
    " 'deliveries': [{'id': '1', 'outcome': 'committed', 'carrier': 'tool_result', 'tool': 'Bash',"
    "                 'call_id': '<!--', 'time': '2026-01-02T00:00:03.250Z', 'epoch': 1,"
    "                 'settled_at': '2026-01-02T00:00:04.000Z', 'settled_by': 'host',"
    "                 'messages': [{'text': 'two'}]}],"
    " 'transitions': [{'time': '2026-01-02T00:00:03.000Z', 'event': 'turn.started',"
    "                  'from': 'idle', 'to': 'busy', 'messages': [{'id': 'm', 'state': 'fired'}]},"
    "                 {'time': '2026-01-02T00:00:05.000Z', 'event': 'turn.finished',"
    "                  'from': 'busy', 'to': 'idle', 'messages': []}]}";
/* clang-format on */

enum { START_S = 1767312000 };

static json_t *made(void (*make)(const json_t *, struct buffer *), struct buffer *text) {
  char *quoted = strdup(answer);
  for (char *at = quoted; *at; at++)
    if (*at == '\'') *at = '"';
  json_t *given = json_loads(quoted, 0, NULL);
  free(quoted);
  cr_assert(given);
  make(given, text);
  cr_assert_not(text->failed);
  json_t *value = json_loadb(text->bytes, text->len, 0, NULL);
  cr_assert(value, "it is JSON");
  json_decref(given);
  return value;
}

static const char *string_of(const json_t *data, const char *column, size_t i) {
  const json_t *number = json_array_get(json_object_get(json_object_get(data, "items"), column), i);
  const json_t *text =
      json_array_get(json_object_get(data, "strings"), (size_t)json_integer_value(number));
  return json_string_value(text);
}

Test(timeline_data, no_tag_can_begin_in_it) {
  struct buffer text = BUFFER_EMPTY;
  json_t *data = made(timeline_data, &text);
  cr_assert_not(memchr(text.bytes, '<', text.len));
  cr_assert_str_eq(string_of(data, "message", 0), "</script><b>one");
  cr_assert_str_eq(json_string_value(json_object_get(
                       json_array_get(json_object_get(data, "deliveries"), 0), "call_id")),
                   "<!--");
  json_decref(data);
  buffer_free(&text);
}

Test(timeline_data, items_are_columns) {
  struct buffer text = BUFFER_EMPTY;
  json_t *data = made(timeline_data, &text);
  const json_t *items = json_object_get(data, "items");
  cr_assert_eq(json_integer_value(json_array_get(json_object_get(items, "time"), 1)),
               (json_int_t)START_S * 1000 + 2500);
  cr_assert_eq(json_integer_value(json_array_get(json_object_get(items, "taken_at"), 0)),
               (json_int_t)START_S * 1000 + 3250);
  cr_assert_eq(json_integer_value(json_array_get(json_object_get(items, "taken_at"), 1)), 0);
  cr_assert_str_eq(string_of(data, "source", 1), "ci");
  cr_assert_str_eq(string_of(data, "outcome", 1), "pending");
  cr_assert_str_eq(string_of(data, "delivery", 0), "1");
  cr_assert_str_eq(string_of(data, "delivery", 1), "");
  json_decref(data);
  buffer_free(&text);
}

Test(timeline_data, each_text_stands_once) {
  struct buffer text = BUFFER_EMPTY;
  json_t *data = made(timeline_data, &text), *string = NULL;
  size_t i = 0, pushed = 0, two = 0;
  json_array_foreach(json_object_get(data, "strings"), i, string) {
    pushed += strcmp(json_string_value(string), "Pushed.") == 0;
    two += strcmp(json_string_value(string), "two") == 0;
  }
  cr_assert_eq(pushed, 1);
  cr_assert_eq(two, 1);
  cr_assert_str_eq(string_of(data, "text", 0), "Pushed.");
  cr_assert_str_eq(string_of(data, "text", 1), " It was shown.");
  json_decref(data);
  buffer_free(&text);
}

Test(timeline_data, what_is_no_time_counts_as_none) {
  cr_assert_eq(timeline_ms(""), 0);
  cr_assert_eq(timeline_ms("yesterday"), 0);
  cr_assert_eq(timeline_ms("2026-01-02T00:00:00.250Z"), (int64_t)START_S * 1000 + 250);
}

/* The events of a trace with that phase. */
static size_t count_phase(const json_t *trace, const char *phase) {
  const json_t *event = NULL;
  size_t i = 0, count = 0;
  json_array_foreach(json_object_get(trace, "traceEvents"), i, event) count +=
      strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0;
  return count;
}

static const json_t *find_event(const json_t *trace, const char *phase, const char *name) {
  const json_t *event = NULL;
  size_t i = 0;
  json_array_foreach(
      json_object_get(trace, "traceEvents"), i,
      event) if (strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
                 strcmp(json_string_value(json_object_get(event, "name")), name) == 0) return event;
  return NULL;
}

Test(timeline_trace, has_what_happened) {
  struct buffer text = BUFFER_EMPTY;
  json_t *trace = made(timeline_trace, &text);
  cr_assert_eq(count_phase(trace, "b"), 2);
  cr_assert_eq(count_phase(trace, "e"), 2);
  const json_t *ended = find_event(trace, "e", "ci.failed (delivered)");
  cr_assert(ended);
  cr_assert_eq(json_integer_value(json_object_get(ended, "ts")),
               ((json_int_t)START_S * 1000 + 3250) * 1000);
  const json_t *pending = find_event(trace, "e", "ci.failed (pending)");
  cr_assert_eq(json_integer_value(json_object_get(pending, "ts")),
               (json_int_t)(START_S + 10) * 1000000);
  const json_t *turn = find_event(trace, "X", "busy");
  cr_assert_eq(json_integer_value(json_object_get(turn, "dur")), 2000000);
  const json_t *carrier = find_event(trace, "X", "tool_result");
  cr_assert_eq(json_integer_value(json_object_get(carrier, "dur")), 750000);
  cr_assert_eq(count_phase(trace, "C"), 3, "two pushes and one carrier change what is pending");
  json_decref(trace);
  buffer_free(&text);
}

Test(timeline_trace, has_each_attachment) {
  struct buffer text = BUFFER_EMPTY;
  json_t *trace = made(timeline_trace, &text);
  const json_t *event = NULL;
  size_t i = 0, attached = 0;
  json_array_foreach(json_object_get(trace, "traceEvents"), i, event) attached +=
      strcmp(json_string_value(json_object_get(event, "name")), "attached") == 0;
  cr_assert_eq(attached, 2, "the delivery's, which was of an earlier one, and the newest");
  json_decref(trace);
  buffer_free(&text);
}
