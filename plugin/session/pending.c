/* SPDX-License-Identifier: MIT
 */
#include "session/pending.h"

#include "common/error.h"
#include "rules/policy/backlog.h"
#include "store/outlines.h"

enum {
  MANY = 1024,             /* fewer items are all read */
  SPARE_REACH = 16,        /* lines beyond those that are needed */
  BYTES_OF_A_LINE = 40,    /* a short line; without a cap, tells how many lines have room */
  REACH_WITHOUT_ROOM = 128 /* if only tokens are limited */
};

static int no_memory_for_pending(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for what is pending");
}

/* -- what is noted ----------------------------------------------------------------------------- */

static int find_ranges(struct op *op, uint64_t last, struct pending *pending) {
  const struct head *head = &op->head;
  uint64_t first = head->watermark ? head->watermark : 1;
  struct backlog_range *ranges = arena_array(&op->arena, head->taken_count + 1, sizeof *ranges);
  if (!ranges) return -1;
  for (size_t i = 0; i <= head->taken_count; i++) {
    uint64_t after = i < head->taken_count ? head->taken[i].first : last + 1;
    if (after > last + 1) after = last + 1;
    if (first < after) {
      ranges[pending->range_count++] = (struct backlog_range){first, after - 1};
      pending->count += (size_t)(after - first);
    }
    if (i < head->taken_count) first = head->taken[i].last + 1;
  }
  pending->ranges = ranges;
  return 0;
}

static int note_outline(void *context, const struct outline *outline) {
  return backlog_add(context, outline) ? TIDINGS_E_NOMEM : 0;
}

/* Notes what was pushed since this process last looked. */
static int note_new(struct op *op, const struct pending *pending, struct tidings_error *error) {
  struct backlog *backlog = op->known->backlog;
  if (backlog_reserve(backlog, pending->count)) return TIDINGS_E_NOMEM;
  return outline_live(op->txn, op->session, &op->head, backlog_newest(backlog) + 1, note_outline,
                      backlog, error);
}

static void forget_notes(struct op *op) {
  backlog_free(op->known->backlog);
  op->known->backlog = NULL;
}

/* Rows never change, but a store may be restored from a backup while its host lives. */
static int check_notes(struct op *op, uint64_t last, struct tidings_error *error) {
  struct backlog *backlog = op->known->backlog;
  uint64_t newest = backlog ? backlog_newest(backlog) : 0;
  struct item item;
  if (!newest) return 0;
  int code = newest <= last ? item_get(op->txn, op->session, newest, NULL, &item, error)
                            : TIDINGS_E_NOT_FOUND;
  if (code == TIDINGS_E_NOT_FOUND || (!code && !backlog_knows(backlog, &item))) {
    forget_notes(op);
    return 0;
  }
  return code;
}

static int note_pending(struct op *op, uint64_t last, struct pending *pending,
                        struct tidings_error *error) {
  struct session *known = op->known;
  int code = check_notes(op, last, error);
  if (code) return code;
  if (!known->backlog) known->backlog = backlog_make();
  if (!known->backlog) return no_memory_for_pending(error);
  backlog_forget_below(known->backlog, op->head.watermark);
  code = note_new(op, pending, error);
  if (code) forget_notes(op);
  pending->noted = !code;
  return code == TIDINGS_E_NOMEM ? no_memory_for_pending(error) : code;
}

int pending_look(struct op *op, uint64_t last, bool as_rows, struct pending *ret_pending,
                 struct tidings_error *error) {
  struct pending pending = {.count = 0};
  int code = 0;
  if (find_ranges(op, last, &pending)) return no_memory_for_pending(error);
  if (pending.count >= MANY && as_rows) code = note_pending(op, last, &pending, error);
  else {
    forget_notes(op);
    code = item_pending(op->txn, op->session, &op->head, &op->arena, &pending.items, &pending.count,
                        error);
  }
  if (!code) *ret_pending = pending;
  return code;
}

/* -- a plan ------------------------------------------------------------------------------------ */

static size_t first_reach(const struct op *op, uint64_t room) {
  if (op->settings->max_items) return op->settings->max_items + (size_t)SPARE_REACH;
  if (room) return (size_t)(room / BYTES_OF_A_LINE) + SPARE_REACH;
  return op->settings->max_tokens ? REACH_WITHOUT_ROOM : SIZE_MAX;
}

static int read_all(struct op *op, struct pending *pending, struct tidings_error *error) {
  return item_pending(op->txn, op->session, &op->head, &op->arena, &pending->items, &pending->count,
                      error);
}

/* *ret_items NULL: the store does not have the items that the notes name. */
static int read_chosen(struct op *op, const struct backlog_choice *choice, struct item **ret_items,
                       struct tidings_error *error) {
  struct item *items = arena_array(&op->arena, choice->count, sizeof *items);
  int code = 0;
  if (!items) return no_memory_for_pending(error);
  for (size_t i = 0; !code && i < choice->count; i++) {
    code = item_get(op->txn, op->session, choice->items[i], NULL, &items[i], error);
    if (code == TIDINGS_E_NOT_FOUND || (!code && !backlog_knows(op->known->backlog, &items[i]))) {
      *ret_items = NULL;
      return 0;
    }
  }
  if (!code) *ret_items = items;
  return code;
}

static bool any_late(const struct op *op, const struct item *items, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (items[i].late && item_is_due(&items[i], op->now_ms)) return true;
  return false;
}

/* *ret_falls_short: the plan needs more items; then *reach is SIZE_MAX if it needs all. */
static int plan_some(struct op *op, const struct planned_carrier *carrier,
                     const struct pending *pending, size_t *reach, bool *ret_falls_short,
                     struct plan *ret_plan, struct tidings_error *error) {
  const struct backlog_wanted wanted = {.pending = pending->ranges,
                                        .pending_count = pending->range_count,
                                        .settings = op->settings,
                                        .now_ms = op->now_ms,
                                        .pinned = carrier->pinned,
                                        .reach = *reach};
  struct backlog_choice choice;
  struct item *items = NULL;
  if (backlog_choose(op->known->backlog, &wanted, &op->arena, &choice))
    return no_memory_for_pending(error);
  if (choice.all) *reach = SIZE_MAX;
  if (choice.all) return 0;
  if (choice.noted != pending->count) {
    forget_notes(op);
    return 0;
  }
  int code = read_chosen(op, &choice, &items, error);
  if (code) return code;
  if (!items) {
    forget_notes(op);
    return 0;
  }
  if (choice.times_mixed && any_late(op, items, choice.count)) {
    *reach = SIZE_MAX;
    return 0;
  }
  struct planned_carrier partly = *carrier;
  partly.rest = &choice.rest;
  code = planning_make(op, &partly, items, choice.count, ret_plan, error);
  if (code) return code;
  *ret_falls_short = ret_plan->falls_short;
  return 0;
}

int pending_plan(struct op *op, const struct planned_carrier *carrier, struct pending *pending,
                 struct plan *ret_plan, struct tidings_error *error) {
  size_t reach = first_reach(op, carrier->room);
  int code = 0;
  while (pending->noted && op->known->backlog && reach != SIZE_MAX) {
    bool falls_short = true;
    code = plan_some(op, carrier, pending, &reach, &falls_short, ret_plan, error);
    if (code || !falls_short) return code;
    if (reach != SIZE_MAX) reach *= 4;
  }
  if (!pending->items) code = read_all(op, pending, error);
  if (code) return code;
  return planning_make(op, carrier, pending->items, pending->count, ret_plan, error);
}

/* -- some of it -------------------------------------------------------------------------------- */

struct specials {
  const struct head *head;
  struct arena *arena;
  uint64_t *numbers;
  size_t count, capacity;
};

static int note_special(void *context, const struct outline *outline) {
  struct specials *specials = context;
  if (outline->sort != OUTLINE_SPECIAL || !head_has_pending(specials->head, outline->n)) return 0;
  if (specials->count == specials->capacity) {
    uint64_t *larger = arena_enlarge(specials->arena, specials->numbers, &specials->capacity,
                                     sizeof *specials->numbers);
    if (!larger) return TIDINGS_E_NOMEM;
    specials->numbers = larger;
  }
  specials->numbers[specials->count++] = outline->n;
  return 0;
}

int pending_specials(struct op *op, struct item **ret_items, size_t *ret_count,
                     struct tidings_error *error) {
  struct specials specials = {.head = &op->head, .arena = &op->arena};
  size_t count = 0;
  int code = outline_live(op->txn, op->session, &op->head, 0, note_special, &specials, error);
  struct item *items = code ? NULL : arena_array(&op->arena, specials.count, sizeof *items);
  if (code == TIDINGS_E_NOMEM || (!code && !items)) return no_memory_for_pending(error);
  for (size_t i = 0; !code && i < specials.count; i++) {
    code = item_get(op->txn, op->session, specials.numbers[i], &op->arena, &items[count], error);
    if (code == TIDINGS_E_NOT_FOUND) code = 0; /* the item is gone, its outline is not */
    else count++;
  }
  if (code) return code;
  *ret_items = items;
  *ret_count = count;
  return 0;
}

struct ringing {
  const struct head *head;
  bool any;
};

static int note_ring(void *context, const struct outline *outline) {
  struct ringing *ringing = context;
  if (outline->rings && head_has_pending(ringing->head, outline->n)) ringing->any = true;
  return 0;
}

int pending_rings(struct op *op, bool *ret_any, struct tidings_error *error) {
  struct ringing ringing = {.head = &op->head};
  int code = outline_live(op->txn, op->session, &op->head, 0, note_ring, &ringing, error);
  if (!code) *ret_any = ringing.any;
  return code;
}

/* -- what is for later ------------------------------------------------------------------------- */

int64_t pending_first_due_ms(const struct op *op, const struct item *items, size_t count) {
  int64_t first_ms = 0;
  for (size_t i = 0; i < count; i++) {
    const struct notification *note = &items[i].note;
    bool waits = notification_rings(note) && !item_is_due(&items[i], op->now_ms);
    if (waits && (!first_ms || note->due_ms < first_ms)) first_ms = note->due_ms;
  }
  return first_ms;
}

/* Copies the items that the plan does not end. Both are by n. */
static int leave_out_ended(struct op *op, const struct plan *plan, struct item **items,
                           size_t *count) {
  struct item *left = arena_array(&op->arena, *count, sizeof *left);
  size_t kept = 0;
  if (!left) return -1;
  for (size_t i = 0, d = 0; i < *count; i++) {
    while (d < plan->disposition_count && plan->dispositions[d].n < (*items)[i].n) d++;
    bool ends = d < plan->disposition_count && plan->dispositions[d].n == (*items)[i].n;
    if (!ends) left[kept++] = (*items)[i];
  }
  *items = left;
  *count = kept;
  return 0;
}

/* If not all items were read, the notes say whether any of them is for later. */
int pending_next_ms(struct op *op, const struct pending *pending, const struct plan *plan,
                    int64_t *ret_ms, struct tidings_error *error) {
  const struct backlog *backlog = op->known->backlog;
  struct item *items = pending->items;
  size_t count = items ? pending->count : 0;
  if (!items && (!backlog || backlog_has_later(backlog, op->now_ms))) {
    int code = pending_specials(op, &items, &count, error);
    if (code) return code;
  }
  *ret_ms = pending_first_due_ms(op, items, count);
  if (!*ret_ms || !plan->disposition_count) return 0;
  if (leave_out_ended(op, plan, &items, &count)) return no_memory_for_pending(error);
  *ret_ms = pending_first_due_ms(op, items, count);
  return 0;
}
