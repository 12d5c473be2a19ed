/* SPDX-License-Identifier: MIT
 *
 * test_tail.c: `tidings tail` prints everything new in each answer once.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tail/lines.h"
#include "command/json_value.h"

#define ITEM_1 "{'id': '1', 'time': 'T01', 'message': 'one', 'outcome': 'pending'}"
#define ITEM_1_LEASED "{'id': '1', 'time': 'T01', 'outcome': 'leased', 'delivery': '7'}"
#define ITEM_1_SHOWN "{'id': '1', 'time': 'T01', 'outcome': 'delivered', 'delivery': '7'}"
#define ITEM_2 "{'id': '2', 'time': 'T05', 'outcome': 'pending'}"
#define LEASED "{'id': '7', 'time': 'T03', 'outcome': 'leased', 'carrier': 'tool_result'}"
#define SETTLED                                                                                    \
  "{'id': '7', 'time': 'T03', 'outcome': 'committed', 'settled_at': 'T04', 'settled_by': 'host'}"
#define ROLLED_BACK "{'id': '7', 'time': 'T03', 'outcome': 'rolled_back', 'settled_at': 'T04'}"
#define REWOUND                                                                                    \
  "{'id': '7', 'time': 'T03', 'outcome': 'rewound', 'settled_at': 'T04', 'settled_by': 'host', "   \
  "'rewound_at': 'T06'}"
#define BACK                                                                                       \
  "{'id': '7', 'time': 'T03', 'outcome': 'committed', 'settled_at': 'T08', 'settled_by': "         \
  "'resume'}"
#define TURN "{'time': 'T02', 'event': 'turn.started', 'from': 'idle', 'to': 'busy'}"

/* Checks that an answer with these lists has these new things, such as "push 1, turn". */
static void expect_new(struct tail *tail, const char *items, const char *deliveries,
                       const char *transitions, const char *expected) {
  char text[2048], found[512] = "";
  (void)snprintf(text, sizeof text,
                 "{'items': [%s], 'deliveries': [%s], 'transitions': [%s], 'end': '1.2.3.4'}",
                 items, deliveries, transitions);
  for (char *at = text; *at; at++)
    if (*at == '\'') *at = '"';
  json_t *answer = json_loads(text, 0, NULL), *event = NULL;
  cr_assert(answer, "%s", text);
  json_t *events = tail_take(tail, answer);
  cr_assert(events);
  size_t i = 0;
  json_array_foreach(events, i, event) {
    size_t len = strlen(found);
    (void)snprintf(found + len, sizeof found - len, "%s%s %s", i ? ", " : "",
                   json_value_text(event, "event"), json_value_text(event, "id"));
  }
  cr_assert_str_eq(found, expected);
  cr_assert_str_eq(tail->end, "1.2.3.4");
  json_decref(events);
  json_decref(answer);
}

Test(tail_lines, all_is_in_order_of_time) {
  struct tail tail = {.last_push = 0};
  expect_new(&tail, ITEM_1_SHOWN "," ITEM_2, SETTLED, TURN,
             "push 1, turn , delivery 7, settled 7, outcome 1, push 2");
  tail_finish(&tail);
}

Test(tail_lines, nothing_comes_twice) {
  struct tail tail = {.last_push = 0};
  expect_new(&tail, ITEM_1, "", "", "push 1");
  expect_new(&tail, ITEM_1_LEASED, LEASED, "", "delivery 7");
  expect_new(&tail, ITEM_1_LEASED "," ITEM_2, LEASED, TURN, "turn , push 2");
  expect_new(&tail, ITEM_1_SHOWN, SETTLED, "", "settled 7, outcome 1");
  expect_new(&tail, ITEM_1_SHOWN, SETTLED, "", "");
  expect_new(&tail, "", "", "", "");
  tail_finish(&tail);
}

Test(tail_lines, what_was_rolled_back_has_no_outcome) {
  struct tail tail = {.last_push = 0};
  expect_new(&tail, ITEM_1_LEASED, LEASED, "", "push 1, delivery 7");
  expect_new(&tail, ITEM_1, ROLLED_BACK, "", "settled 7");
  tail_finish(&tail);
}

Test(tail_lines, what_is_taken_back_is_a_line_once) {
  struct tail tail = {.last_push = 0};
  expect_new(&tail, ITEM_1_SHOWN, SETTLED, "", "push 1, delivery 7, settled 7, outcome 1");
  expect_new(&tail, "", "", "", "");
  expect_new(&tail, ITEM_1, REWOUND, "", "rewound 7");
  expect_new(&tail, ITEM_1, REWOUND, "", "");
  expect_new(&tail, "", "", "", "");
  expect_new(&tail, ITEM_1_SHOWN, BACK, "", "settled 7, outcome 1");
  expect_new(&tail, ITEM_1_SHOWN, BACK, "", "");
  tail_finish(&tail);
}

Test(tail_lines, what_was_taken_back_before_was_committed_first) {
  struct tail tail = {.last_push = 0};
  expect_new(&tail, ITEM_1, REWOUND, "", "push 1, delivery 7, settled 7, rewound 7");
  tail_finish(&tail);
  expect_new(&tail, ITEM_1_LEASED, LEASED, "", "push 1, delivery 7");
  expect_new(&tail, ITEM_1, REWOUND, "", "settled 7, rewound 7");
  tail_finish(&tail);
}

Test(tail_lines, an_event_has_its_members) {
  struct tail tail = {.last_push = 0};
  json_t *answer = json_loads("{\"items\": [{\"id\": \"1\", \"time\": \"T\", \"message\": \"m\", "
                              "\"handle\": \"h\", \"text\": \"long\"}]}",
                              0, NULL);
  json_t *events = tail_take(&tail, answer);
  char *line = json_dumps(json_array_get(events, 0), JSON_COMPACT | JSON_SORT_KEYS);
  cr_assert_str_eq(
      line, "{\"event\":\"push\",\"handle\":\"h\",\"id\":\"1\",\"message\":\"m\",\"time\":\"T\"}");
  free(line);
  json_decref(events);
  json_decref(answer);
  tail_finish(&tail);
}
