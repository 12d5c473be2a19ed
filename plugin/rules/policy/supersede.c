/* SPDX-License-Identifier: MIT
 *
 * rules/policy/supersede.c: of the items with the same key the newest stays, and stands where the
 * oldest stood.
 */
#include "rules/policy/steps.h"

int policy_supersede(struct work *work) {
  struct arena *arena = work->arena;
  size_t keyed = 0;
  for (size_t i = 0; i < work->item_count; i++)
    keyed += is_left(work, i) && work->items[i].note.key.len > 0;
  if (keyed < 2) return 0;

  struct tidings_span *keys = arena_zalloc(arena, keyed, sizeof *keys);
  size_t *items = arena_zalloc(arena, keyed, sizeof *items); /* the item of each key */
  size_t *leaders = arena_zalloc(arena, keyed, sizeof *leaders),
         *newest = arena_zalloc(arena, keyed, sizeof *newest);
  if (!keys || !items || !leaders || !newest) return -1;
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i) || !work->items[i].note.key.len) continue;
    keys[count] = work->items[i].note.key;
    items[count++] = i;
  }
  if (policy_group_equal(keys, count, arena, leaders)) return -1;
  for (size_t k = 0; k < count; k++) newest[leaders[k]] = items[k];
  for (size_t k = 0; k < count; k++) {
    size_t stays = newest[leaders[k]];
    if (items[k] == stays) {
      work->places[stays] = work->items[items[leaders[k]]].n;
    } else {
      end_item(work, items[k], OUTCOME_SUPERSEDED, REASON_NEWER_KEY, work->items[stays].n);
    }
  }
  return 0;
}
