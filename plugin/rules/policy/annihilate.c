/* SPDX-License-Identifier: MIT
 *
 * rules/policy/annihilate.c: an MCP server that went and came back while nobody was told is no
 * news: every pending loss of it ends with the first return behind.
 */
#include "rules/policy/steps.h"

static bool is_mcp(const struct item *item, const char *name) {
  return span_is(item->note.source, "mcp") && span_is(item->note.name, name) &&
         item->facts.server.len;
}

/* Ends the losses from `loss` backwards, and the return. */
static void annihilate(struct work *work, size_t loss, const size_t *before, size_t came_back) {
  end_item(work, came_back, OUTCOME_ANNIHILATED, REASON_OPPOSITE, work->items[loss].n);
  for (; loss != NO_ITEM; loss = before[loss])
    end_item(work, loss, OUTCOME_ANNIHILATED, REASON_OPPOSITE, work->items[came_back].n);
}

static bool any_return(const struct work *work) {
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && is_mcp(&work->items[i], "reconnected")) return true;
  }
  return false;
}

int policy_annihilate(struct work *work) {
  struct arena *arena = work->arena;
  if (!work->settings->annihilate || !any_return(work)) return 0;
  struct tidings_span *servers = arena_zalloc(arena, work->item_count, sizeof *servers);
  size_t *leaders = arena_zalloc(arena, work->item_count, sizeof *leaders);
  size_t *lost =
      arena_zalloc(arena, work->item_count,
                   sizeof *lost); /* of a server's leader: its newest loss that is left */
  size_t *before =
      arena_zalloc(arena, work->item_count, sizeof *before); /* of a loss: the one before it */
  if (!servers || !leaders || !lost || !before) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    servers[i] = work->items[i].facts.server;
    lost[i] = NO_ITEM;
  }
  if (policy_group_equal(servers, work->item_count, arena, leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    size_t *newest = &lost[leaders[i]];
    if (!is_left(work, i)) continue;
    if (is_mcp(&work->items[i], "disconnected")) {
      before[i] = *newest;
      *newest = i;
    } else if (is_mcp(&work->items[i], "reconnected") && *newest != NO_ITEM) {
      annihilate(work, *newest, before, i);
      *newest = NO_ITEM;
    }
  }
  return 0;
}
