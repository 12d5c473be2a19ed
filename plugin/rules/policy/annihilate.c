/* SPDX-License-Identifier: MIT
 *
 * rules/policy/annihilate.c: removes two reports that cancel each other out before either was
 * shown: an MCP server that disconnected and reconnected, a file that was created and deleted, a
 * rate limit whose time is over. (plan_withdrawal does this for a handle that waited and
 * continues.) A critical notification cancels out with a critical one only.
 */
#include "rules/policy/steps.h"

static bool is_mcp(const struct item *item, const char *name) {
  return item->note.made_by == MADE_BY_MCP_STATE && span_is(item->note.name, name) &&
         item->facts.server.len;
}

/* -- MCP servers ------------------------------------------------------------------------------- */

/* The pending items about a server since it was last known to work. */
struct outage {
  size_t newest; /* the array `before` leads to the others */
  size_t loss;   /* the newest report that it has disconnected */
  bool mixed;    /* some are critical, some are not */
  bool critical;
};

static void note_outage(const struct work *work, struct outage *outage, size_t i, size_t *before) {
  bool critical = notification_is_critical(&work->items[i].note);
  before[i] = outage->newest;
  if (outage->newest == NO_ITEM) outage->critical = critical;
  else outage->mixed = outage->mixed || outage->critical != critical;
  outage->newest = i;
  if (is_mcp(&work->items[i], "disconnected")) outage->loss = i;
}

/* A server that was never reported as disconnected may have been unresponsive all the time. */
static void end_outage(struct work *work, struct outage *outage, size_t i, const size_t *before) {
  bool critical = notification_is_critical(&work->items[i].note);
  size_t loss = outage->loss;
  if (loss != NO_ITEM && !outage->mixed && outage->critical == critical) {
    end_item(work, i, OUTCOME_ANNIHILATED, REASON_OPPOSITE, work->items[loss].n);
    for (size_t at = outage->newest; at != NO_ITEM; at = before[at])
      end_item(work, at, OUTCOME_ANNIHILATED, REASON_OPPOSITE, work->items[i].n);
  }
  *outage = (struct outage){.newest = NO_ITEM, .loss = NO_ITEM};
}

static int annihilate_servers(struct work *work) {
  struct tidings_span *servers = arena_zalloc(work->arena, work->item_count, sizeof *servers);
  size_t *leaders = arena_zalloc(work->arena, work->item_count, sizeof *leaders);
  size_t *before = arena_zalloc(work->arena, work->item_count, sizeof *before);
  struct outage *outages = arena_zalloc(work->arena, work->item_count, sizeof *outages);
  if (!servers || !leaders || !before || !outages) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    servers[i] = work->items[i].facts.server;
    outages[i] = (struct outage){.newest = NO_ITEM, .loss = NO_ITEM};
  }
  if (policy_group_equal(servers, work->item_count, work->arena, leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    struct outage *outage = &outages[leaders[i]];
    if (!is_left(work, i)) continue;
    if (is_mcp(item, "disconnected") || is_mcp(item, "unresponsive"))
      note_outage(work, outage, i, before);
    else if (is_mcp(item, "reconnected")) end_outage(work, outage, i, before);
  }
  return 0;
}

/* -- rate limits ------------------------------------------------------------------------------- */

static bool is_over(const struct item *item, int64_t now_ms) {
  int64_t end_ms;
  if (item->note.made_by != MADE_BY_RATE_LIMITED || notification_is_critical(&item->note))
    return false;
  return item->facts.retry_after_ms > 0 &&
         !__builtin_add_overflow(item->time_ms, item->facts.retry_after_ms, &end_ms) &&
         now_ms >= end_ms;
}

int policy_annihilate(struct work *work) {
  bool any_return = false, any_file = false;
  struct trace alone = {.count = 0};
  if (!work->settings->annihilate) return 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) continue;
    if (is_over(&work->items[i], work->now_ms))
      end_item(work, i, OUTCOME_ANNIHILATED, REASON_OVER, 0);
    any_return = any_return || is_mcp(&work->items[i], "reconnected");
    any_file = any_file || is_file_change(&work->items[i]);
  }
  if (any_return && annihilate_servers(work)) return -1;
  if (!any_file) return 0;
  if (policy_trace_files(work, NULL, &alone)) return -1;
  policy_end_undone(work, &alone);
  return 0;
}
