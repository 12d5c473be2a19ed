/* SPDX-License-Identifier: MIT
 *
 * test_compose.c: the result of hostkit_compose for every role and place.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"

#define MOST 8

static const char *const roles[] = {"carrier", "block", "developer", "user", "tool"};

struct given {
  uint32_t role;
  uint32_t place;
  const char *text;
};

/* Writes a line: "role:text" for each message, "*" before the carrier. */
static void describe(const struct hostkit_outgoing *outgoing, char *line, size_t size) {
  size_t used = 0;
  line[0] = '\0';
  for (size_t i = 0; i < outgoing->part_count; i++) {
    const struct hostkit_part *message = outgoing->parts[i];
    cr_expect_eq(strlen(message->text), message->text_len);
    cr_expect_eq(message->is_carrier, i == outgoing->carrier);
    used += (size_t)snprintf(line + used, size - used, "%s%s%s:%s", i ? " | " : "",
                             message->is_carrier ? "*" : "", roles[message->voice], message->text);
  }
}

static int32_t compose(const struct given *given, size_t count,
                       struct hostkit_outgoing **ret_outgoing, struct tidings_error *error) {
  struct tidings_part messages[MOST];
  const struct tidings_part *list[MOST];
  for (size_t i = 0; i < count; i++) {
    messages[i] = (struct tidings_part){.size = sizeof messages[i],
                                        .voice = given[i].role,
                                        .place = given[i].place,
                                        .text = kit_span(given[i].text)};
    if (given[i].role == TIDINGS_VOICE_TOOL) {
      messages[i].call_id = kit_span("notif_1");
      messages[i].tool = kit_span("_system_notification");
    }
    list[i] = &messages[i];
  }
  struct tidings_reply reply = {.size = sizeof reply, .parts = list, .part_count = count};
  struct tidings_span content = kit_span("ok");
  return hostkit_compose(&content, &reply, ret_outgoing, error);
}

static void assert_sends(const struct given *given, size_t count, const char *expected) {
  char line[512];
  struct hostkit_outgoing *outgoing = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_assert_eq(compose(given, count, &outgoing, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_eq(outgoing->size, sizeof *outgoing);
  describe(outgoing, line, sizeof line);
  cr_expect_str_eq(line, expected);
  hostkit_outgoing_free(outgoing);
}

Test(compose, each_role_and_place) {
  static const struct {
    struct given given;
    const char *expected; /* NULL: a combination without a meaning */
  } cases[] = {
      {{TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_PREPEND, "x "}, "*carrier:x ok"},
      {{TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_APPEND, " x"}, "*carrier:ok x"},
      {{TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_BEFORE, "x"}, NULL},
      {{TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_AFTER, "x"}, NULL},
      {{TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_PAIR, "x"}, NULL},
      {{TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_PREPEND, "x"}, "block:x | *carrier:ok"},
      {{TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_APPEND, "x"}, "*carrier:ok | block:x"},
      {{TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_BEFORE, "x"}, "block:x | *carrier:ok"},
      {{TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_AFTER, "x"}, "*carrier:ok | block:x"},
      {{TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_PAIR, "x"}, NULL},
      {{TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_PREPEND, "x"}, NULL},
      {{TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_APPEND, "x"}, NULL},
      {{TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_BEFORE, "x"}, "developer:x | *carrier:ok"},
      {{TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_AFTER, "x"}, "*carrier:ok | developer:x"},
      {{TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_PAIR, "x"}, NULL},
      {{TIDINGS_VOICE_USER, TIDINGS_PLACE_PREPEND, "x"}, NULL},
      {{TIDINGS_VOICE_USER, TIDINGS_PLACE_BEFORE, "x"}, "user:x | *carrier:ok"},
      {{TIDINGS_VOICE_USER, TIDINGS_PLACE_AFTER, "x"}, "*carrier:ok | user:x"},
      {{TIDINGS_VOICE_TOOL, TIDINGS_PLACE_PAIR, "x"}, "*carrier:ok | tool:x"},
      {{TIDINGS_VOICE_TOOL, TIDINGS_PLACE_AFTER, "x"}, NULL},
      {{5, TIDINGS_PLACE_AFTER, "x"}, NULL},
      {{TIDINGS_VOICE_USER, 5, "x"}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct hostkit_outgoing *outgoing = NULL;
    struct tidings_error error = {.size = sizeof error};
    if (cases[i].expected) {
      assert_sends(&cases[i].given, 1, cases[i].expected);
    } else {
      cr_expect_eq(compose(&cases[i].given, 1, &outgoing, &error), TIDINGS_E_INVAL, "case %zu", i);
      cr_expect_not_null(strstr(error.text, "a combination that this host does not know"),
                         "case %zu: %s", i, error.text);
    }
  }
}

Test(compose, the_replys_order_is_the_reading_order) {
  static const struct given given[] = {
      {TIDINGS_VOICE_TOOL, TIDINGS_PLACE_PAIR, "t"},
      {TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_PREPEND, "1 "},
      {TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_BEFORE, "b"},
      {TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_BEFORE, "d"},
      {TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_PREPEND, "2 "},
      {TIDINGS_VOICE_USER, TIDINGS_PLACE_AFTER, "u"},
      {TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_APPEND, " 3"},
      {TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_AFTER, "a"},
  };
  assert_sends(given, 8, "developer:d | block:b | *carrier:1 2 ok 3 | block:a | user:u | tool:t");
}

Test(compose, nothing_to_add) {
  struct tidings_span empty = {0};
  struct hostkit_outgoing *outgoing = NULL;
  cr_assert_eq(hostkit_compose(&empty, NULL, &outgoing, NULL), TIDINGS_OK);
  cr_expect_eq(outgoing->part_count, 1);
  cr_expect_eq(outgoing->carrier, 0);
  cr_expect_str_eq(outgoing->parts[0]->text, "");
  hostkit_outgoing_free(outgoing);
  assert_sends(NULL, 0, "*carrier:ok");
}

Test(compose, a_pair_has_its_call) {
  static const struct given given = {TIDINGS_VOICE_TOOL, TIDINGS_PLACE_PAIR, "x"};
  struct hostkit_outgoing *outgoing = NULL;
  cr_assert_eq(compose(&given, 1, &outgoing, NULL), TIDINGS_OK);
  cr_expect_null(outgoing->parts[0]->call_id);
  cr_expect_null(outgoing->parts[0]->tool);
  cr_expect_str_eq(outgoing->parts[1]->call_id, "notif_1");
  cr_expect_str_eq(outgoing->parts[1]->tool, "_system_notification");
  hostkit_outgoing_free(outgoing);
}

Test(compose, a_carrier_with_a_nul_in_it) {
  struct tidings_span content = {.ptr = "a\0b", .len = 3};
  struct hostkit_outgoing *outgoing = NULL;
  cr_assert_eq(hostkit_compose(&content, NULL, &outgoing, NULL), TIDINGS_OK);
  cr_expect_eq(outgoing->parts[0]->text_len, 3);
  cr_expect_arr_eq(outgoing->parts[0]->text, "a\0b", 4);
  hostkit_outgoing_free(outgoing);
}

Test(compose, null_pointers) {
  struct tidings_span content = {.ptr = NULL, .len = 3};
  struct hostkit_outgoing *outgoing = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hostkit_compose(&content, NULL, &outgoing, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "content is a null pointer");
  cr_expect_eq(hostkit_compose(NULL, NULL, &outgoing, NULL), TIDINGS_E_INVAL);
  content = kit_span("ok");
  cr_expect_eq(hostkit_compose(&content, NULL, NULL, NULL), TIDINGS_E_INVAL);
  cr_expect_null(outgoing);
}
