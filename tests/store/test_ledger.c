/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_ledger.c: the arithmetic on a head's ranges, case by case.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "kit.h"
#include "session/ledger.h"

/* Writes a letter for each item from item 1: p pending, e ended, a to d leased by delivery 1 to 4.
 */
static const char *show(const struct head *head, uint64_t last) {
  static char text[64];
  uint64_t first = head->watermark ? head->watermark : 1;
  for (uint64_t n = 1; n <= last; n++) text[n - 1] = n < first ? 'e' : 'p';
  for (size_t i = 0; i < head->taken_count; i++) {
    for (uint64_t n = head->taken[i].first; n <= head->taken[i].last; n++)
      text[n - 1] = "eabcd"[head->taken[i].delivery];
  }
  text[last] = '\0';
  return text;
}

static struct delivery taking(uint64_t n, const struct disposition_range *dispositions,
                              size_t count) {
  return (struct delivery){.n = n, .dispositions = dispositions, .disposition_count = count};
}

enum what { LEASE, COMMIT, ROLL_BACK };
struct step {
  enum what what;
  uint64_t delivery;
  uint64_t first, last, first2, last2; /* of a lease; the second range may be none */
  const char *expected;                /* eight items */
  uint64_t watermark;
  size_t ranges, leases;
};

static void play(const struct step *steps, size_t count) {
  struct arena arena = ARENA_EMPTY;
  struct head head = {.watermark = 1};
  struct disposition_range dispositions[5][2];
  size_t disposition_counts[5] = {0};
  for (size_t i = 0; i < count; i++) {
    const struct step *step = &steps[i];
    uint64_t d = step->delivery;
    if (step->what == LEASE) {
      dispositions[d][0] = (struct disposition_range){
          .first = step->first, .last = step->last, .outcome = OUTCOME_DELIVERED};
      dispositions[d][1] = (struct disposition_range){
          .first = step->first2, .last = step->last2, .outcome = OUTCOME_FILTERED};
      disposition_counts[d] = step->first2 ? 2 : 1;
    }
    struct delivery delivery = taking(d, dispositions[d], disposition_counts[d]);
    int code = step->what == LEASE    ? ledger_lease(&head, &delivery, &arena)
               : step->what == COMMIT ? ledger_commit(&head, &delivery, &arena)
                                      : ledger_roll_back(&head, &delivery, &arena);
    cr_assert_eq(code, 0);
    cr_assert_str_eq(show(&head, 8), step->expected, "step %zu: %s, expected %s", i, show(&head, 8),
                     step->expected);
    cr_assert_eq(head.watermark, step->watermark, "step %zu: watermark %llu", i,
                 (unsigned long long)head.watermark);
    cr_assert_eq(head.taken_count, step->ranges, "step %zu: %zu ranges", i, head.taken_count);
    cr_assert_eq(head.leased_count, step->leases, "step %zu: %zu leases", i, head.leased_count);
  }
  arena_free(&arena);
}
#define PLAY(...)                                                                                  \
  play((const struct step[]){__VA_ARGS__},                                                         \
       sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

Test(ledger, everything_leased_and_committed) {
  PLAY({LEASE, 1, 1, 8, 0, 0, "aaaaaaaa", 1, 1, 1}, {COMMIT, 1, 0, 0, 0, 0, "eeeeeeee", 9, 0, 0});
}

Test(ledger, a_rollback_restores) {
  PLAY({LEASE, 1, 1, 8, 0, 0, "aaaaaaaa", 1, 1, 1},
       {ROLL_BACK, 1, 0, 0, 0, 0, "pppppppp", 1, 0, 0});
}

Test(ledger, a_cap_leaves_the_middle) {
  PLAY({LEASE, 1, 1, 2, 6, 7, "aapppaap", 1, 2, 1}, {COMMIT, 1, 0, 0, 0, 0, "eepppeep", 3, 1, 0},
       {LEASE, 2, 3, 5, 8, 8, "eebbbeeb", 3, 3, 1}, {COMMIT, 2, 0, 0, 0, 0, "eeeeeeee", 9, 0, 0});
}

Test(ledger, leases_end_in_any_order) {
  PLAY({LEASE, 1, 1, 3, 0, 0, "aaappppp", 1, 1, 1}, {LEASE, 2, 4, 5, 0, 0, "aaabbppp", 1, 2, 2},
       {LEASE, 3, 6, 8, 0, 0, "aaabbccc", 1, 3, 3}, {COMMIT, 2, 0, 0, 0, 0, "aaaeeccc", 1, 3, 2},
       {COMMIT, 3, 0, 0, 0, 0, "aaaeeeee", 1, 2, 1}, {COMMIT, 1, 0, 0, 0, 0, "eeeeeeee", 9, 0, 0});
}

Test(ledger, a_rollback_between_two_commits_holds_the_watermark) {
  PLAY({LEASE, 1, 1, 3, 0, 0, "aaappppp", 1, 1, 1}, {LEASE, 2, 4, 8, 0, 0, "aaabbbbb", 1, 2, 2},
       {COMMIT, 2, 0, 0, 0, 0, "aaaeeeee", 1, 2, 1},
       {ROLL_BACK, 1, 0, 0, 0, 0, "pppeeeee", 1, 1, 0}, {LEASE, 3, 2, 3, 0, 0, "pcceeeee", 1, 2, 1},
       {COMMIT, 3, 0, 0, 0, 0, "peeeeeee", 1, 1, 0}, {LEASE, 4, 1, 1, 0, 0, "deeeeeee", 1, 2, 1},
       {COMMIT, 4, 0, 0, 0, 0, "eeeeeeee", 9, 0, 0});
}

Test(ledger, a_delivery_of_nothing_changes_nothing) {
  struct arena arena = ARENA_EMPTY;
  struct head head = {.watermark = 1};
  struct delivery empty = taking(1, NULL, 0);
  cr_assert_eq(ledger_lease(&head, &empty, &arena), 0);
  cr_assert_eq(head.leased_count, 1);
  cr_assert_eq(ledger_commit(&head, &empty, &arena), 0);
  cr_assert_eq(head.leased_count, 0);
  cr_assert_eq(head.watermark, 1);
  cr_assert_eq(ledger_pending(&head, 4), 4);
  arena_free(&arena);
}

Test(ledger, a_session_never_heard_of_has_nothing) {
  struct head head = {0};
  cr_assert_eq(ledger_pending(&head, 0), 0);
  cr_assert_eq(ledger_pending(&head, 3), 3);
  cr_assert_eq(ledger_leased(&head), 0);
}

Test(ledger, outcomes_are_counted_when_they_are_final) {
  struct arena arena = ARENA_EMPTY;
  struct head head = {.watermark = 1};
  const struct disposition_range dispositions[] = {
      {.first = 1, .last = 3, .outcome = OUTCOME_DELIVERED},
      {.first = 4, .last = 4, .outcome = OUTCOME_SUPERSEDED},
      {.first = 6, .last = 9, .outcome = OUTCOME_DELIVERED}};
  struct delivery delivery = taking(1, dispositions, 3);
  cr_assert_eq(ledger_lease(&head, &delivery, &arena), 0);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 0);
  cr_assert_eq(ledger_roll_back(&head, &delivery, &arena), 0);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 0);
  cr_assert_eq(ledger_lease(&head, &delivery, &arena), 0);
  cr_assert_eq(ledger_commit(&head, &delivery, &arena), 0);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 7);
  cr_assert_eq(head.outcomes[OUTCOME_SUPERSEDED], 1);
  arena_free(&arena);
}

Test(ledger, ranges_join_only_equal_neighbours) {
  struct arena arena = ARENA_EMPTY;
  const struct disposition dispositions[] = {
      {.n = 1, .outcome = OUTCOME_DELIVERED, .reason = REASON_SHOWN},
      {.n = 2, .outcome = OUTCOME_DELIVERED, .reason = REASON_SHOWN},
      {.n = 4, .outcome = OUTCOME_DELIVERED, .reason = REASON_SHOWN}, /* a gap */
      {.n = 5, .outcome = OUTCOME_FILTERED, .reason = REASON_KIND},   /* another outcome */
      {.n = 6, .outcome = OUTCOME_FILTERED, .reason = REASON_SOURCE}, /* another reason */
      {.n = 7,
       .ref = 9,
       .outcome = OUTCOME_SUPERSEDED,
       .reason = REASON_NEWER_KEY}, /* another ref */
      {.n = 8, .ref = 10, .outcome = OUTCOME_SUPERSEDED, .reason = REASON_NEWER_KEY},
  };
  const struct disposition_range *ranges;
  size_t count;
  cr_assert_eq(ledger_ranges(dispositions, sizeof dispositions / sizeof *dispositions, &arena,
                             &ranges, &count),
               0);
  cr_assert_eq(count, 6);
  cr_assert_eq(ranges[0].first, 1);
  cr_assert_eq(ranges[0].last, 2);
  cr_assert_eq(ranges[1].first, 4);
  cr_assert_eq(ranges[4].ref, 9);
  cr_assert_eq(ranges[5].ref, 10);
  cr_assert_eq(ledger_ranges(NULL, 0, &arena, &ranges, &count), 0);
  cr_assert_eq(count, 0);
  arena_free(&arena);
}
