/* SPDX-License-Identifier: MIT
 */
#include "session/ledger.h"

int ledger_ranges(const struct disposition *dispositions, size_t count, struct arena *arena,
                  const struct disposition_range **ret_ranges, size_t *ret_count) {
  struct disposition_range *ranges = arena_array(arena, count, sizeof *ranges);
  size_t used = 0;
  if (!ranges) return -1;
  for (size_t i = 0; i < count; i++) {
    const struct disposition *disposition = &dispositions[i];
    struct disposition_range *before = used ? &ranges[used - 1] : NULL;
    if (before && before->last + 1 == disposition->n && before->outcome == disposition->outcome &&
        before->reason == disposition->reason && before->ref == disposition->ref) {
      before->last = disposition->n;
    } else {
      ranges[used++] = (struct disposition_range){.first = disposition->n,
                                                  .last = disposition->n,
                                                  .ref = disposition->ref,
                                                  .outcome = disposition->outcome,
                                                  .reason = disposition->reason};
    }
  }
  *ret_ranges = ranges;
  *ret_count = used;
  return 0;
}

/* Appends a range, joined to the one before it if both are the same delivery's. */
static void add_range(struct taken *taken, size_t *count, struct taken range) {
  struct taken *before = *count ? &taken[*count - 1] : NULL;
  if (before && before->last + 1 == range.first && before->delivery == range.delivery)
    before->last = range.last;
  else taken[(*count)++] = range;
}

/* When the session's oldest items are committed, the watermark rises past them, and they need no
 * range any more. */
static void raise_watermark(struct head *head, struct taken *taken) {
  size_t passed = 0;
  if (!head->watermark) head->watermark = 1;
  if (head->taken_count && !taken[0].delivery && taken[0].first <= head->watermark) {
    head->watermark = taken[0].last + 1;
    passed = 1;
  }
  head->taken = taken + passed;
  head->taken_count -= passed;
}

int ledger_lease(struct head *head, const struct delivery *delivery, struct arena *arena) {
  struct taken *taken =
      arena_zalloc(arena, head->taken_count + delivery->disposition_count, sizeof *taken);
  uint64_t *leased = arena_zalloc(arena, head->leased_count + 1, sizeof *leased);
  size_t count = 0, old = 0;
  if (!taken || !leased) return -1;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    while (old < head->taken_count && head->taken[old].first < disposition->first)
      add_range(taken, &count, head->taken[old++]);
    add_range(taken, &count, (struct taken){disposition->first, disposition->last, delivery->n});
  }
  while (old < head->taken_count) add_range(taken, &count, head->taken[old++]);
  if (head->leased_count) memcpy(leased, head->leased, head->leased_count * sizeof *leased);
  leased[head->leased_count] = delivery->n;
  head->taken = taken;
  head->taken_count = count;
  head->leased = leased;
  head->leased_count++;
  return 0;
}

int ledger_join(struct head *head, const struct delivery *joining, struct arena *arena) {
  size_t count = head->leased_count;
  if (ledger_lease(head, joining, arena)) return -1;
  head->leased_count = count; /* the delivery is in the list already */
  return 0;
}

/* The index of the delivery in a list by n; `count`: it is not there. */
static size_t find_delivery(const struct delivery *deliveries, size_t count, uint64_t n) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (deliveries[middle].n < n) low = middle + 1;
    else high = middle;
  }
  return low < count && deliveries[low].n == n ? low : count;
}

static void count_outcomes(struct head *head, const struct delivery *delivery) {
  for (size_t i = 0; i < delivery->disposition_count; i++)
    head->outcomes[delivery->dispositions[i].outcome] +=
        delivery->dispositions[i].last - delivery->dispositions[i].first + 1;
}

int ledger_end(struct head *head, const struct delivery *deliveries, const bool *commits,
               size_t count, struct arena *arena) {
  struct taken *taken = arena_zalloc(arena, head->taken_count, sizeof *taken);
  uint64_t *leased = arena_zalloc(arena, head->leased_count, sizeof *leased);
  size_t taken_count = 0, leased_count = 0, committed = 0;
  if (!taken || !leased) return -1;
  for (size_t i = 0; i < head->leased_count; i++)
    if (find_delivery(deliveries, count, head->leased[i]) == count)
      leased[leased_count++] = head->leased[i];
  for (size_t i = 0; i < head->taken_count; i++) {
    struct taken range = head->taken[i];
    size_t at = range.delivery ? find_delivery(deliveries, count, range.delivery) : count;
    if (at < count && !commits[at]) continue;
    if (at < count) range.delivery = 0;
    add_range(taken, &taken_count, range);
  }
  for (size_t i = 0; i < count; i++) {
    if (commits[i]) count_outcomes(head, &deliveries[i]);
    else if (head->preamble == deliveries[i].n) head->preamble = 0;
    committed += commits[i];
  }
  head->leased = leased;
  head->leased_count = leased_count;
  head->taken = taken;
  head->taken_count = taken_count;
  if (committed) raise_watermark(head, taken);
  return 0;
}

int ledger_commit(struct head *head, const struct delivery *delivery, struct arena *arena) {
  return ledger_end(head, delivery, &(const bool){true}, 1, arena);
}

int ledger_roll_back(struct head *head, const struct delivery *delivery, struct arena *arena) {
  return ledger_end(head, delivery, &(const bool){false}, 1, arena);
}

/* Adds the range without the numbers that are pending again; *n points to the first of these. */
static void add_without(struct taken *taken, size_t *count, struct taken range, const uint64_t **n,
                        const uint64_t *end) {
  for (; *n < end && **n <= range.last; (*n)++) {
    if (**n > range.first)
      add_range(taken, count, (struct taken){range.first, **n - 1, range.delivery});
    range.first = **n + 1;
  }
  if (range.first <= range.last) add_range(taken, count, range);
}

/* When items below the watermark are pending again, the watermark falls to the first of them, and
 * the ended items in between need a range again. */
int ledger_return(struct head *head, const uint64_t *n, size_t count, struct arena *arena) {
  struct taken *taken = arena_zalloc(arena, head->taken_count + 1 + count, sizeof *taken);
  size_t used = 0;
  if (!taken) return -1;
  if (!count) return 0;
  const uint64_t *end = n + count;
  uint64_t watermark = head->watermark ? head->watermark : 1;
  uint64_t delivered = head->outcomes[OUTCOME_DELIVERED];
  head->outcomes[OUTCOME_DELIVERED] -= count < delivered ? count : delivered;
  if (*n < watermark) {
    head->watermark = *n;
    add_without(taken, &used, (struct taken){*n, watermark - 1, 0}, &n, end);
  }
  for (size_t i = 0; i < head->taken_count; i++) add_without(taken, &used, head->taken[i], &n, end);
  head->taken = taken;
  head->taken_count = used;
  return 0;
}

bool ledger_is_pending(const struct head *head, uint64_t n) {
  if (n < head->watermark) return false;
  for (size_t i = 0; i < head->taken_count; i++) {
    if (head->taken[i].first <= n && n <= head->taken[i].last) return false;
  }
  return true;
}

uint64_t ledger_leased(const struct head *head) {
  uint64_t leased = 0;
  for (size_t i = 0; i < head->taken_count; i++) {
    if (head->taken[i].delivery) leased += head->taken[i].last - head->taken[i].first + 1;
  }
  return leased;
}

uint64_t ledger_pending(const struct head *head, uint64_t last) {
  uint64_t first = head->watermark ? head->watermark : 1;
  uint64_t pending = last >= first ? last - first + 1 : 0;
  for (size_t i = 0; i < head->taken_count; i++)
    pending -= head->taken[i].last - head->taken[i].first + 1;
  return pending;
}
