/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_ledger_model.c: the ledger against a model that keeps a state for every single
 * item: thousands of random pushes, leases of random subsets, commits and rollbacks in random
 * order. After each step the head is written as a record and read again, so that the stored form is
 * compared.
 */
#include <criterion/criterion.h>

#include "kit.h"
#include "session/ledger.h"
#include "store/rows/rows.h"

enum { ITEMS = 4000, LEASES = 12, STEPS = 6000 };
enum { PENDING = 0, ENDED = UINT16_MAX }; /* else: the slot of the lease, + 1 */

struct lease {
  bool used;
  struct delivery delivery;
  struct arena arena;
};

struct model {
  struct random random;
  uint16_t state[ITEMS + 1]; /* from 1 */
  bool delivered[ITEMS + 1]; /* ENDED so */
  uint64_t last, next_delivery;
  uint64_t outcomes[OUTCOME_COUNT];
  struct lease leases[LEASES];
  struct head head;
  struct arena arena;
};

static void through_the_record(struct model *model) {
  struct db_key key = row_key(7, ROW_HEAD, 0);
  struct buffer bytes = BUFFER_EMPTY;
  struct arena arena = ARENA_EMPTY;
  struct record_reader reader;
  bool no_memory;
  head_encode(&bytes, &model->head);
  record_end(&bytes, &key);
  cr_assert(!bytes.failed);
  cr_assert(record_open(&reader, &key, buffer_view(&bytes)));
  cr_assert(head_decode(&reader, &arena, &model->head, &no_memory));
  buffer_free(&bytes);
  arena_free(&model->arena);
  model->arena = arena;
}

/* Chooses each pending item with some probability; sometimes all of them, or only the newest. */
static void lease(struct model *model, size_t slot) {
  struct lease *lease = &model->leases[slot];
  struct disposition *dispositions = arena_zalloc(&lease->arena, ITEMS, sizeof *dispositions);
  size_t count = 0, odds = 1 + random_below(&model->random, 5);
  cr_assert_not_null(dispositions);
  for (uint64_t n = 1; n <= model->last; n++) {
    if (model->state[n] != PENDING || random_below(&model->random, odds)) continue;
    uint8_t outcome = (uint8_t)(1 + random_below(&model->random, OUTCOME_COUNT - 1));
    dispositions[count++] = (struct disposition){
        .n = n, .outcome = random_below(&model->random, 3) ? OUTCOME_DELIVERED : outcome};
    model->state[n] = (uint16_t)(slot + 1);
  }
  lease->delivery = (struct delivery){.n = ++model->next_delivery};
  cr_assert_eq(ledger_ranges(dispositions, count, &lease->arena, &lease->delivery.dispositions,
                             &lease->delivery.disposition_count),
               0);
  cr_assert_eq(ledger_lease(&model->head, &lease->delivery, &model->arena), 0);
  lease->used = true;
}

static void end_lease(struct model *model, size_t slot, bool commit) {
  struct lease *lease = &model->leases[slot];
  for (uint64_t n = 1; n <= model->last; n++) {
    if (model->state[n] == slot + 1) model->state[n] = commit ? ENDED : PENDING;
  }
  for (size_t i = 0; commit && i < lease->delivery.disposition_count; i++) {
    const struct disposition_range *disposition = &lease->delivery.dispositions[i];
    for (uint64_t n = disposition->first; n <= disposition->last; n++)
      model->delivered[n] = disposition->outcome == OUTCOME_DELIVERED;
    model->outcomes[disposition->outcome] += disposition->last - disposition->first + 1;
  }
  int code = commit ? ledger_commit(&model->head, &lease->delivery, &model->arena)
                    : ledger_roll_back(&model->head, &lease->delivery, &model->arena);
  cr_assert_eq(code, 0);
  arena_free(&lease->arena);
  lease->used = false;
}

/* Chooses some or all of the delivered items, as when a transcript loses its carriers. */
static void give_back(struct model *model) {
  static uint64_t numbers[ITEMS];
  size_t count = 0, odds = 1 + random_below(&model->random, 4);
  uint64_t first = random_below(&model->random, 2) ? 1 : 1 + random_below(&model->random, ITEMS);
  for (uint64_t n = first; n <= model->last; n++) {
    if (model->state[n] != ENDED || !model->delivered[n] || random_below(&model->random, odds))
      continue;
    numbers[count++] = n;
    model->state[n] = PENDING;
  }
  model->outcomes[OUTCOME_DELIVERED] -= count;
  cr_assert_eq(ledger_return(&model->head, numbers, count, &model->arena), 0);
  for (size_t i = 0; i < count; i++) cr_assert(ledger_is_pending(&model->head, numbers[i]));
}

static void compare(const struct model *model, size_t step) {
  const struct head *head = &model->head;
  uint64_t pending = 0, leased = 0, oldest = model->last + 1, leases = 0;
  size_t at = 0;
  for (uint64_t n = 1; n <= model->last; n++) {
    uint16_t state = model->state[n];
    if (state == PENDING) pending++;
    else if (state != ENDED) leased++;
    if (state != ENDED && oldest > n) oldest = n;
    while (at < head->taken_count && head->taken[at].last < n) at++;
    bool taken = at < head->taken_count && head->taken[at].first <= n;
    uint64_t by = taken ? head->taken[at].delivery : 0;
    bool ended = n < head->watermark || (taken && !by);
    cr_assert_eq(ended, state == ENDED, "step %zu item %llu", step, (unsigned long long)n);
    uint64_t expected =
        state == PENDING || state == ENDED ? 0 : model->leases[state - 1].delivery.n;
    cr_assert_eq(by, expected, "step %zu item %llu is leased by %llu", step, (unsigned long long)n,
                 (unsigned long long)by);
  }
  cr_assert_eq(ledger_pending(head, model->last), pending, "step %zu", step);
  cr_assert_eq(ledger_leased(head), leased, "step %zu", step);
  cr_assert_eq(head->watermark, oldest, "step %zu: watermark %llu, oldest %llu", step,
               (unsigned long long)head->watermark, (unsigned long long)oldest);
  for (size_t i = 0; i < LEASES; i++) leases += model->leases[i].used;
  cr_assert_eq(head->leased_count, leases);
  for (size_t i = 1; i < head->leased_count; i++)
    cr_assert_lt(head->leased[i - 1], head->leased[i]);
  for (size_t i = 0; i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i], *before = i ? taken - 1 : NULL;
    cr_assert_leq(taken->first, taken->last);
    cr_assert_geq(taken->first, head->watermark);
    cr_assert_leq(taken->last, model->last);
    if (before)
      cr_assert(before->last < taken->first &&
                !(before->last + 1 == taken->first && before->delivery == taken->delivery));
  }
  cr_assert_eq(memcmp(head->outcomes, model->outcomes, sizeof model->outcomes), 0);
}

static void run(uint64_t seed) {
  static struct model model;
  memset(&model, 0, sizeof model);
  model.random.state = seed;
  model.head.watermark = 1;
  for (size_t step = 0; step < STEPS && model.last + 8 < ITEMS; step++) {
    size_t slot = random_below(&model.random, LEASES), what = random_below(&model.random, 10);
    if (!random_below(&model.random, 40)) give_back(&model);
    else if (what < 2) model.last += 1 + random_below(&model.random, 6);
    else if (!model.leases[slot].used) lease(&model, slot);
    else end_lease(&model, slot, what < 7);
    through_the_record(&model);
    compare(&model, step);
  }
  for (size_t slot = 0; slot < LEASES; slot++) {
    if (model.leases[slot].used) end_lease(&model, slot, true);
  }
  arena_free(&model.arena);
}

Test(ledger_model, random_walks_agree) {
  for (uint64_t seed = 1; seed <= 4; seed++) run(seed);
}
