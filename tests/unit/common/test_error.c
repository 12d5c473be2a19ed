/* SPDX-License-Identifier: MIT
 *
 * Sentences about what went wrong, into memory of any size.
 */
#include <criterion/criterion.h>

#include "common/error.h"
#include "common/utf8.h"
#include "kit.h"
#include "values/notification.h"

Test(error, says_code_and_sentence) {
  struct tidings_error error = new_error();
  cr_expect_eq(fail(&error, TIDINGS_E_SCHEMA, "%s: %d is not %s", "data.level", 5, "a string"),
               TIDINGS_E_SCHEMA);
  cr_expect_eq(error.code, TIDINGS_E_SCHEMA);
  cr_expect_str_eq(error.text, "data.level: 5 is not a string");
}

Test(error, needs_no_memory_of_the_callers) {
  cr_expect_eq(fail(NULL, TIDINGS_E_FULL, "full"), TIDINGS_E_FULL);
}

Test(error, writes_no_further_than_the_callers_size) {
  for (uint32_t size = 0; size <= sizeof(struct tidings_error); size++) {
    struct tidings_error error;
    memset(&error, 0x55, sizeof error);
    error.size = size;
    cr_expect_eq(
        fail(&error, TIDINGS_E_STORE, "%s", "the disk is full — really full, and nobody can help"),
        TIDINGS_E_STORE);
    const unsigned char *bytes = (const unsigned char *)&error;
    for (size_t i = size > 4 ? size : 4; i < sizeof error; i++)
      cr_assert_eq(bytes[i], 0x55, "size %u: byte %zu was written", size, i);
    if (size <= offsetof(struct tidings_error, text)) continue;
    size_t room = size - offsetof(struct tidings_error, text);
    size_t len = strnlen(error.text, room);
    cr_assert_lt(len, room, "size %u: no NUL", size);
    cr_assert(utf8_valid(span_of(error.text, len)), "size %u: %s", size, error.text);
  }
}

Test(error, cuts_a_long_sentence_visibly) {
  char long_text[4000];
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  struct tidings_error error = new_error();
  (void)fail(&error, TIDINGS_E_INVAL, "%s", long_text);
  size_t len = strlen(error.text);
  cr_expect_eq(len, sizeof error.text - 1);
  cr_expect_str_eq(error.text + len - 3, "…");
}

Test(error, shows_control_characters_and_broken_bytes) {
  struct tidings_error error = new_error();
  (void)fail(&error, TIDINGS_E_INVAL,
             "a\x1B[31mb\nc\xFF"
             "d");
  cr_expect_str_eq(error.text, "a{U+001B}[31mb{U+000A}c{0xFF}d");
}

Test(quote, is_short_and_harmless) {
  static const struct {
    const char *from, *quoted;
  } cases[] = {
      {"", "\"\""},
      {"urgent", "\"urgent\""},
      {"a\"b\\c", "\"a\\\"b\\\\c\""},
      {"a\tb\xE2\x80\xAE", "\"a{U+0009}b{U+202E}\""},
      {"\xFE", "\"{0xFE}\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect_str_eq(quote(span_text(cases[i].from)).text, cases[i].quoted);
}

Test(quote, keeps_80_bytes_and_says_that_there_was_more) {
  char text[200];
  memset(text, 'x', sizeof text);
  cr_expect_eq(strlen(quote(span_of(text, 80)).text), 82);
  struct quoted cut = quote(span_of(text, 81));
  cr_expect_eq(strlen(cut.text), 82 + 3);
  cr_expect_str_eq(cut.text + 81, "…\"");
}

Test(quote, never_overflows_and_stays_utf8) {
  struct random random = {1};
  for (int round = 0; round < 20000; round++) {
    char bytes[300];
    size_t len = random_below(&random, sizeof bytes);
    static const char awkward[] = {'\x1B', '\x01', '"', '\\', '\xFF'};
    for (size_t i = 0; i < len; i++) {
      uint64_t any = random_next(&random);
      if (round % 2) memcpy(&bytes[i], &any, 1);
      else bytes[i] = awkward[any % sizeof awkward];
    }
    struct quoted quoted = quote(span_of(bytes, len));
    size_t quoted_len = strnlen(quoted.text, sizeof quoted.text);
    cr_assert_lt(quoted_len, sizeof quoted.text);
    cr_assert(utf8_valid(span_of(quoted.text, quoted_len)));
    cr_assert(quoted.text[0] == '"' && quoted.text[quoted_len - 1] == '"');
  }
}

Test(names, of_levels_and_outcomes) {
  cr_expect_str_eq(level_name(TIDINGS_LEVEL_INFO), "info");
  cr_expect_str_eq(level_name(TIDINGS_LEVEL_CRITICAL), "critical");
  cr_expect_str_eq(level_name(4), "?");
  cr_expect_str_eq(outcome_name(OUTCOME_DELIVERED), "delivered");
  cr_expect_str_eq(outcome_name(OUTCOME_SUPERSEDED), "superseded");
  cr_expect_str_eq(outcome_name(OUTCOME_CLOSED), "closed");
  cr_expect_str_eq(outcome_name(OUTCOME_COUNT), "?");
}

Test(error, a_success_writes_nothing) {
  struct tidings_error own = {.size = sizeof own}, theirs = {.size = sizeof theirs, .code = 7};
  fail(&own, TIDINGS_E_NOT_FOUND, "a step failed");
  strcpy(theirs.text, "as it was");
  cr_expect_eq(fail_as(&theirs, 0, &own), 0);
  cr_expect_eq(theirs.code, 7);
  cr_expect_str_eq(theirs.text, "as it was");
}

Test(error, a_failure_passes_code_and_text_on) {
  struct tidings_error own = {.size = sizeof own}, theirs = {.size = sizeof theirs};
  fail(&own, TIDINGS_E_NOT_FOUND, "no \x01 such \xff item");
  cr_expect_eq(fail_as(&theirs, TIDINGS_E_NOT_FOUND, &own), TIDINGS_E_NOT_FOUND);
  cr_expect_eq(theirs.code, TIDINGS_E_NOT_FOUND);
  cr_expect_str_eq(theirs.text, own.text);
}

Test(error, passes_on_only_what_a_short_struct_has_room_for) {
  struct tidings_error own = {.size = sizeof own};
  struct tidings_error theirs = {.size = offsetof(struct tidings_error, text) + 4};
  memset(theirs.text, '#', sizeof theirs.text);
  fail(&own, TIDINGS_E_INVAL, "a long sentence");
  cr_expect_eq(fail_as(&theirs, TIDINGS_E_INVAL, &own), TIDINGS_E_INVAL);
  cr_expect_eq(theirs.text[3], '\0');
  cr_expect_eq(theirs.text[4], '#');
  cr_expect_eq(fail_as(NULL, TIDINGS_E_INVAL, &own), TIDINGS_E_INVAL);
}
