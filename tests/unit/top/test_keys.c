/* SPDX-License-Identifier: MIT
 *
 * test_keys.c: the effects of the keys of `tidings top`, and that a chosen line stays chosen.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "kit.h"
#include "top/top_kit.h"

#define FIRST "m-0b7e44335fd2a1c0"
#define SECOND "m-5fd2a1c09b7e4433"

static void expect_event(struct top_action action, const char *type, const char *data) {
  cr_assert_eq(action.what, TOP_SEND, "%d", (int)action.what);
  cr_expect_str_eq(action.type, type);
  json_t *expected = json_of(data);
  char *got = json_dumps(action.data, 0);
  cr_expect(json_equal(action.data, expected), "%s", got);
  free(got);
  json_decref(expected);
  json_decref(action.data);
}

Test(top_keys, messages_are_changed) {
  struct top top = new_top();
  expect_event(press_all(&top, "\te!\r"), "message.edited",
               "{'id': '" FIRST "', 'content': 'Run the slow tests too.!'}");
  expect_event(press_all(&top, "J"), "message.moved", "{'id': '" FIRST "', 'before': null}");
  expect_event(press_all(&top, "jK"), "message.moved",
               "{'id': '" SECOND "', 'before': '" FIRST "'}");
  expect_event(press_all(&top, "s"), "message.redirected",
               "{'id': '" SECOND "', 'delivery': 'steer'}");
  expect_event(press_all(&top, "cy"), "message.cancelled", "{'id': '" SECOND "'}");
  take_messages(&top, "[{'id': 'a', 'delivery': 'steer'}, {'id': 'b'}, {'id': 'c'}]");
  press_all(&top, "kkkk");
  expect_event(press_all(&top, "s"), "message.redirected", "{'id': 'a', 'delivery': 'queue'}");
  expect_event(press_all(&top, "J"), "message.moved", "{'id': 'a', 'before': 'c'}");
  top_finish(&top);
}

Test(top_keys, a_cancel_is_meant) {
  struct top top = new_top();
  static const char others[] = {'n', 'c', '\r', ' ', 'q', '\x1b'};
  for (size_t i = 0; i < sizeof others; i++) {
    top.pane = PANE_ITEMS;
    cr_expect_eq(press_all(&top, "c").what, TOP_DRAW);
    cr_expect_eq(top.mode, MODE_CANCEL);
    cr_expect_eq(top_key(&top, (unsigned char)others[i]).what, TOP_DRAW);
    cr_expect_eq(top.mode, MODE_LISTS);
    cr_expect_str_eq(top.note, "The message stays.");
  }
  top_finish(&top);
}

Test(top_keys, what_cannot_be_done_is_said) {
  struct top top = new_top();
  static const char keys[] = "ecsJKx";
  for (const char *key = keys; *key; key++) {
    cr_expect_eq(top_key(&top, (unsigned char)*key).what, TOP_DRAW);
    cr_expect_eq(top.mode, MODE_LISTS);
    cr_expect(top.note[0], "%c among the sessions", *key);
  }
  top_key(&top, '\t');
  top_key(&top, 'K');
  cr_expect_str_eq(top.note, "The message is the first already.");
  top_key(&top, 'j');
  top_key(&top, 'J');
  cr_expect_str_eq(top.note, "The message is the last already.");
  top_key(&top, 'j');
  for (const char *key = "ecsJK"; *key; key++) {
    cr_expect_eq(top_key(&top, (unsigned char)*key).what, TOP_DRAW);
    cr_expect(strstr(top.note, "This is a notification."), "%c: %s", *key, top.note);
  }
  top_sent(&top, "message.moved", "it has started");
  cr_expect_str_eq(top.note, "it has started");
  top_finish(&top);
}

Test(top_keys, what_the_agent_has_is_not_changed) {
  struct top top = new_top();
  take_messages(&top, "[{'id': 'a', 'state': 'offered'}, {'id': 'b', 'state': 'leased'}, {'id': "
                      "'c', 'state': 'steering'}]");
  press_all(&top, "\tkkk");
  for (const char *key = "eJKs"; *key; key++) {
    cr_expect_eq(top_key(&top, (unsigned char)*key).what, TOP_DRAW);
    cr_expect_eq(top.mode, MODE_LISTS, "%c", *key);
    cr_expect(strstr(top.note, "The message is offered to the agent already and cannot be "), "%c",
              *key);
  }
  expect_event(press_all(&top, "cy"), "message.cancelled", "{'id': 'a'}");
  top_key(&top, 'j');
  for (const char *key = "eJKsc"; *key; key++) {
    cr_expect_eq(top_key(&top, (unsigned char)*key).what, TOP_DRAW);
    cr_expect_eq(top.mode, MODE_LISTS, "%c", *key);
    cr_expect(strstr(top.note, "The message is with the agent already and cannot be "), "%c", *key);
  }
  top_key(&top, 'j');
  cr_expect_eq(top_key(&top, 'e').what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_EDIT);
  top_finish(&top);
}

Test(top_keys, nothing_is_steered_while_no_turn_runs) {
  struct top top = new_top();
  top_choose_session(&top, "5c1d2e9a-6f0b-4d0e-9a51-77f0c3a1b2d4");
  take_messages(&top, "[{'id': 'a', 'state': 'queued', 'delivery': 'queue'}]");
  cr_expect_eq(press_all(&top, "\ts").what, TOP_DRAW);
  cr_expect_str_eq(top.note,
                   "No turn runs into which the message could go; it waits for one of its own.");
  top_finish(&top);
}

Test(top_keys, what_is_pasted_presses_nothing) {
  struct top top = new_top();
  top_key(&top, '\t');
  top_key(&top, KEY_IS_PASTE);
  cr_expect_eq(press_all(&top, "cy\rq").what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_LISTS);
  top_key(&top, KEY_IS_PASTED);
  press_all(&top, "e");
  top_key(&top, KEY_IS_PASTE);
  press_all(&top, "one\rtwo\x15\x1b\x03\x7f");
  cr_expect_eq(top.mode, MODE_EDIT);
  top_key(&top, KEY_IS_PASTED);
  expect_event(top_key(&top, '\r'), "message.edited",
               "{'id': '" FIRST "', 'content': 'Run the slow tests too.one\\ntwo'}");
  top_finish(&top);
}

Test(top_keys, the_editor) {
  static const struct {
    uint32_t keys[8];
    const char *text;
    size_t cursor;
  } edits[] = {
      {{'x'}, "né €x", 8},
      {{KEY_IS_BACKSPACE}, "né ", 4},
      {{0x7F, 0x7F, 0x7F, 'e'}, "ne", 2},
      {{KEY_IS_LEFT, KEY_IS_LEFT, KEY_IS_LEFT, 0x20AC}, "n€é €", 4},
      {{KEY_IS_HOME, KEY_IS_DELETE, KEY_IS_LEFT, KEY_IS_DELETE}, " €", 0},
      {{KEY_CONTROL('W')}, "né ", 4},
      {{KEY_CONTROL('W'), KEY_CONTROL('W'), KEY_CONTROL('W'), KEY_IS_BACKSPACE}, "", 0},
      {{KEY_IS_HOME, KEY_IS_RIGHT, KEY_CONTROL('K')}, "n", 1},
      {{KEY_IS_LEFT, KEY_CONTROL('U')}, "€", 0},
      {{KEY_CONTROL('A'), '\n', KEY_CONTROL('E'), '\t', KEY_IS_UNKNOWN, 0xD800, 0x9B},
       "\nné €\t",
       9},
  };
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    struct editor editor = {.cursor = 0};
    cr_assert_not(editor_begin(&editor, span_text("né €")));
    for (size_t j = 0; edits[i].keys[j]; j++) editor_key(&editor, edits[i].keys[j]);
    cr_expect_str_eq(text_of(buffer_view(&editor.text)), edits[i].text, "%zu", i);
    cr_expect_eq(editor.cursor, edits[i].cursor, "%zu: %zu", i, editor.cursor);
    editor_end(&editor);
  }
}

/* -- sessions that nobody needs ---------------------------------------------------------------- */

Test(top_keys, a_session_that_does_not_run_is_closed_after_a_question) {
  struct top top = new_top();
  cr_expect_eq(press_all(&top, "D").what, TOP_DRAW);
  cr_expect_str_eq(top.note, "This session runs: only its agent can close it.");
  top_key(&top, 'j');
  cr_expect_eq(press_all(&top, "Dn").what, TOP_DRAW);
  cr_expect_str_eq(top.note, "The session stays.");
  top_key(&top, KEY_CONTROL('d'));
  cr_assert_eq(top.mode, MODE_CLOSE, "as in k9s");
  cr_expect(
      strstr(screen_of(&top, 24, 80),
             "Close 5c1d2e9a-6f0b-4d0e-9a51-77f0c, where 12345 notifications and 0 messages") ||
          strstr(screen_of(&top, 24, 80), "where 12345 notifications and 0 messages wait? y/n"),
      "%s", screen_of(&top, 24, 80));
  cr_expect_eq(top_key(&top, 'y').what, TOP_CLOSE);
  top_sent(&top, "session.closed", NULL);
  cr_expect_str_eq(top.note, "The session is closed.");
  press_all(&top, "D");
  top_take_sessions(&top,
                    json_of("{'total': 1, 'sessions': [{'session': 'newer', 'alive': false}]}"));
  cr_expect_eq(top.mode, MODE_LISTS, "the question was about another one");
  top_finish(&top);
}

Test(top_keys, idle_sessions_are_closed_together) {
  struct top top = new_top();
  cr_expect_eq(press_all(&top, "Z").what, TOP_DRAW);
  cr_expect_str_eq(top.note, "Every session runs, or something waits in it.");
  top_take_sessions(
      &top, json_of("{'total': 7, 'sessions': [{'session': 'runs', 'alive': true},"
                    "{'session': 'old', 'alive': false}, {'session': 'older', 'alive': false},"
                    "{'session': 'pending', 'alive': false, 'pending': 1},"
                    "{'session': 'queued', 'alive': false, 'queued': 1},"
                    "{'session': 'leased', 'alive': false, 'leased': 1}, {'session': 'box:ci', "
                    "'alive': false}]}"));
  cr_expect_eq(top_idle_count(&top), 2);
  cr_expect_eq(press_all(&top, "Z").what, TOP_DRAW);
  cr_expect(strstr(screen_of(&top, 24, 80),
                   " Close 2 sessions that nobody runs, with nothing that waits? y/n"));
  cr_expect_eq(top_key(&top, 'q').what, TOP_DRAW, "no key but y is yes");
  cr_expect_str_eq(top.note, "The sessions stay.");
  cr_expect_eq(press_all(&top, "Zy").what, TOP_CLEAR);
  top_cleared(&top, 2, NULL);
  cr_expect_str_eq(top.note, "2 sessions are closed.");
  top_finish(&top);
}

Test(top_keys, habits_of_htop_less_and_k9s) {
  struct top top = new_top();
  top_key(&top, 'G');
  cr_expect_eq(top.session_row, 1);
  top_key(&top, 'g');
  cr_expect_eq(top.session_row, 0);
  top_key(&top, KEY_CONTROL('f'));
  cr_expect_eq(top.session_row, 1);
  top_key(&top, KEY_CONTROL('b'));
  cr_expect_eq(top.session_row, 0);
  top_key(&top, KEY_IS_SEARCH);
  cr_expect_eq(top.mode, MODE_FILTER);
  top_key(&top, KEY_IS_ESCAPE);
  top_key(&top, KEY_IS_SORT);
  cr_expect_eq(top.order, TOP_BY_NAME);
  top_key(&top, KEY_IS_HELP);
  cr_expect_eq(top.mode, MODE_HELP);
  top_key(&top, KEY_IS_HELP);
  cr_expect_eq(top.mode, MODE_LISTS);
  take_messages(&top, "[{'id': 'a', 'content': 'x'}]");
  cr_expect_eq(press_all(&top, "\td").what, TOP_ASK_EXPLANATION);
  top_key(&top, 'd');
  cr_expect_eq(top_key(&top, KEY_IS_QUIT).what, TOP_QUIT);
  top_finish(&top);
}

/* -- what happens meanwhile -------------------------------------------------------------------- */

Test(top_keys, what_is_chosen_stays_chosen) {
  struct top top = new_top();
  press_all(&top, "\tj");
  cr_expect_str_eq(top.item, SECOND);
  take_messages(&top, "[{'id': 'new'}, {'id': '" SECOND "'}, {'id': '" FIRST "'}]");
  cr_expect_str_eq(top.item, SECOND);
  cr_expect_eq(top.item_row, 1);
  take_messages(&top, "[{'id': 'new'}, {'id': '" FIRST "'}]");
  cr_expect_str_eq(top.item, FIRST, "what is there instead: %s", top.item);
  take_messages(&top, "[]");
  cr_expect_str_eq(top.item, "4294967298");
  cr_expect_not(top.item_is_message);
  top_take_sessions(
      &top, json_of("{'total': 2, 'sessions': [{'session': 'newer'}, {'session': 'parser'}]}"));
  cr_expect_str_eq(top.session, "parser");
  cr_expect_eq(top.session_row, 1);
  cr_expect(top.queue, "it is the same session");
  top_take_sessions(&top, json_of("{'total': 1, 'sessions': [{'session': 'newer'}]}"));
  cr_expect_str_eq(top.session, "newer");
  cr_expect_null(top.queue, "nothing is known of it yet");
  top_finish(&top);
}

Test(top_keys, another_session_is_asked_about) {
  struct top top = new_top();
  cr_expect_eq(press_all(&top, "j").what, TOP_ASK_ITEMS);
  cr_expect_null(top.queue);
  cr_expect_eq(press_all(&top, "j").what, TOP_DRAW, "it is the last");
  cr_expect_eq(press_all(&top, "k").what, TOP_ASK_ITEMS);
  cr_expect_eq(press_all(&top, "q").what, TOP_QUIT);
  top_finish(&top);
}

/* Edited words do not go to another message. */
Test(top_keys, a_message_that_is_gone_is_edited_no_more) {
  struct top top = new_top();
  press_all(&top, "\te");
  take_messages(&top, "[{'id': '" SECOND "'}]");
  cr_expect_eq(press_all(&top, "cyqJ").what, TOP_DRAW);
  top_key(&top, KEY_IS_PASTE);
  cr_expect_eq(press_all(&top, "\rcy\r").what, TOP_DRAW);
  top_key(&top, KEY_IS_PASTED);
  take_messages(&top, "[{'id': 'another'}]");
  const char *screen = screen_of(&top, 24, 80);
  cr_expect(strstr(screen, "Not in the queue any more: Run the slow tests too."), "%s", screen);
  cr_expect_eq(press_all(&top, "cy\r").what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_LISTS);
  cr_expect_str_eq(top.note, "Nothing was sent.");
  expect_event(press_all(&top, "cy"), "message.cancelled", "{'id': 'another'}");
  top_finish(&top);
}

Test(top_keys, a_question_goes_to_no_other_message) {
  struct top top = new_top();
  press_all(&top, "\te\x1b"
                  "c");
  take_messages(&top, "[{'id': 'another'}]");
  cr_expect_eq(press_all(&top, "ycyq").what, TOP_DRAW);
  const char *screen = screen_of(&top, 24, 80);
  cr_expect(strstr(screen, "The message is not in the queue any more."), "%s", screen);
  cr_expect_eq(press_all(&top, "\x1b").what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_LISTS);
  press_all(&top, "e");
  top_take_sessions(&top, json_of("{'total': 1, 'sessions': [{'session': 'newer'}]}"));
  cr_expect_eq(press_all(&top, "q").what, TOP_DRAW, "the session is gone, and the message");
  top_finish(&top);
}

Test(top_keys, a_story_goes_on_when_its_notification_is_gone) {
  struct top top = new_top();
  press_all(&top, "\tjjx");
  cr_expect_str_eq(top.item, "4294967297");
  top_take_items(&top, json_of("{'count': 0, 'messages': []}"),
                 json_of("{'count': 0, 'items': []}"));
  cr_expect_eq(top.mode, MODE_EXPLAIN);
  cr_expect_str_eq(top.item, "4294967297", "its explanation is asked again");
  cr_expect(strstr(screen_of(&top, 24, 80), "CI run 4812 failed on main."));
  press_all(&top, "q");
  cr_expect_str_eq(top.item, "");
  top_finish(&top);
}

/* Each key may choose another session. Then `top` asks about that session. */
static void type_filter(struct top *top, const char *keys) {
  for (; *keys; keys++) {
    enum top_do what = top_key(top, (unsigned char)*keys).what;
    cr_assert(what == TOP_DRAW || what == TOP_ASK_ITEMS);
  }
}

Test(top_keys, a_filter_lists_only_what_has_the_words) {
  struct top top = new_top();
  type_filter(&top, "/LEX");
  cr_expect_eq(top.mode, MODE_FILTER);
  cr_expect_eq(top_session_count(&top), 1);
  cr_expect_str_eq(json_value_text(top_session(&top), "cwd"), "/srv/lexer");
  type_filter(&top, "\r");
  cr_expect_eq(top.mode, MODE_LISTS);
  cr_expect(strstr(screen_of(&top, 24, 80), " /LEX"), "the filter is seen");
  type_filter(&top, "/zzz");
  cr_expect_eq(top_session_count(&top), 0);
  cr_expect(strstr(screen_of(&top, 24, 80), "No session has these words"));
  type_filter(&top, "\x1b");
  cr_expect_eq(top_session_count(&top), 2);
  top_finish(&top);
}

Test(top_keys, a_filter_of_what_waits_takes_kinds_and_texts) {
  struct top top = new_top();
  press_all(&top, "\t/ci.failed");
  cr_expect_eq(top_item_count(&top), 0, "source and name are matched one by one");
  press_all(&top, "\x1b/CI run\r");
  cr_expect_eq(top_item_count(&top), 1);
  cr_expect_eq(top_message_count(&top), 0);
  take_messages(&top,
                "[{'id': 'a', 'content': 'The ci run is red.'}, {'id': 'b', 'content': 'x'}]");
  cr_expect_eq(top_message_count(&top), 1, "it stays when answers come");
  top_finish(&top);
}

/* Presses `o`. press_all does not do that, because it allows no key that asks. */
static void press_orders(struct top *top, size_t times) {
  while (times--) (void)top_key(top, 'o');
}

Test(top_keys, the_order_of_the_sessions) {
  static const struct {
    size_t presses;
    const char *first;
  } orders[] = {{1, "5c1d2e9a"}, {2, "5c1d2e9a"}, {3, "parser"}, {4, "parser"}};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    struct top top = new_top();
    press_orders(&top, orders[i].presses);
    const json_t *list = json_object_get(top.sessions, "sessions");
    const char *first = json_value_text(json_array_get(list, 0), "session");
    cr_expect_eq(strncmp(first, orders[i].first, strlen(orders[i].first)), 0, "%zu: %s", i, first);
    cr_expect_str_eq(top.session, "parser", "what is chosen stays chosen");
    top_finish(&top);
  }
}

Test(top_keys, what_is_new_is_sent) {
  struct top top = new_top();
  expect_event(press_all(&top, "nGo on.\r"), "message.submitted", "{'content': 'Go on.'}");
  expect_event(press_all(&top, "pred\r"), "notification",
               "{'kind': 'cli.note', 'level': 'info', 'message': 'red'}");
  cr_expect_eq(press_all(&top, "n\r").what, TOP_DRAW);
  cr_expect_str_eq(top.note, "Nothing was sent.");
  cr_expect_eq(press_all(&top, "nx\x1b").what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_LISTS);
  top_finish(&top);
}

Test(top_keys, a_preview_is_asked_for) {
  struct top top = new_top();
  cr_expect_eq(press_all(&top, "v").what, TOP_ASK_PREVIEW);
  top.words = strdup("[error ci] CI run 4812 failed.");
  cr_expect(strstr(screen_of(&top, 24, 80), "    [error ci] CI run 4812 failed."));
  cr_expect_eq(press_all(&top, "v").what, TOP_DRAW);
  cr_expect_eq(top.mode, MODE_LISTS);
  top_finish(&top);
}
