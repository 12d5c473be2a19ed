/* SPDX-License-Identifier: MIT
 *
 * tests/unit/items.h: short ways to write items, and to print a plan of them.
 */
#ifndef TESTS_UNIT_ITEMS_H
#define TESTS_UNIT_ITEMS_H

#include <criterion/criterion.h>

#include "kit.h"
#include "rules/policy/plan.h"

/* An item as a test writes it. Members that are left out mean empty, info, passive, and no time
 * limit. */
struct item_spec {
  uint64_t n;
  const char *source, *name, *message, *key, *tool, *caused_by, *handle;
  int64_t time_ms, ttl_ms;
  uint8_t level, made_by;
  bool pinned, late;
};

enum { MOST_ITEMS = 64 };
struct items {
  struct item items[MOST_ITEMS];
  size_t count;
};

static inline struct tidings_span span_or_empty(const char *text) {
  return text ? span_text(text) : span_of(NULL, 0);
}

static inline void add_item(struct items *items, struct item_spec spec) {
  cr_assert_lt(items->count, MOST_ITEMS);
  struct item *item = &items->items[items->count];
  uint64_t after = 1;
  if (items->count) after += items->items[items->count - 1].n;
  *item = (struct item){
      .n = spec.n ? spec.n : after,
      .time_ms = spec.time_ms,
      .pinned = spec.pinned,
      .late = spec.late,
      .note = {.source = span_text(spec.source ? spec.source : "tool"),
               .name = span_or_empty(spec.name),
               .message = span_text(spec.message ? spec.message : "m"),
               .key = span_or_empty(spec.key),
               .tool = span_or_empty(spec.tool),
               .caused_by = span_or_empty(spec.caused_by),
               .ttl_ms = spec.ttl_ms,
               .handle = span_or_empty(spec.handle),
               .level = spec.level,
               .made_by = spec.made_by},
  };
  items->count++;
}

#define ITEM(items, ...) add_item((items), (struct item_spec){__VA_ARGS__})

/* The plan as text: "2 1 | 3:superseded>4 5:expired | 2 deferred": the lines' items; the
 * dispositions of what is not shown; what waits. */
static inline const char *planned(const struct items *items, const char *configuration,
                                  int64_t now_ms) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(configuration, &arena);
  struct plan plan;
  struct buffer text = BUFFER_EMPTY;
  cr_assert_eq(plan_delivery(items->items, items->count, &settings, now_ms, NULL, &arena, &plan),
               0);
  for (size_t i = 0; i < plan.line_count; i++)
    buffer_format(&text, "%s%llu", i ? " " : "", (unsigned long long)plan.lines[i].item->n);
  buffer_text(&text, " |");
  for (size_t i = 0; i < plan.disposition_count; i++) {
    const struct disposition *disposition = &plan.dispositions[i];
    if (disposition->outcome == OUTCOME_DELIVERED) continue;
    buffer_format(&text, " %llu:%s/%u", (unsigned long long)disposition->n,
                  outcome_name(disposition->outcome), disposition->reason);
    if (disposition->ref) buffer_format(&text, ">%llu", (unsigned long long)disposition->ref);
  }
  buffer_format(&text, " | %zu", plan.deferred);
  const char *copy = text_of(buffer_view(&text));
  buffer_free(&text);
  arena_free(&arena);
  return copy;
}

#define EXPECT_PLAN(items, configuration, now_ms, expected)                                        \
  do {                                                                                             \
    const char *got = planned(&(items), (configuration), (now_ms));                                \
    cr_expect_str_eq(got, (expected));                                                             \
  } while (0)

#endif
