/* SPDX-License-Identifier: MIT
 *
 * rules/policy/members.c: the items of a line that stands for several: which of them say the same,
 * and which files they name. render/coalesced.c writes the text.
 */
#include "render/coalesced.h"
#include "rules/policy/steps.h"

/* An item that is one of the listed files says nothing by its own text. */
static int list_members(const struct work *work, const struct line *line,
                        struct coalesced *coalesced) {
  const struct item **items = arena_array(work->arena, line->count, sizeof *items);
  size_t *leaders = arena_array(work->arena, line->count, sizeof *leaders);
  size_t *times = arena_zalloc(work->arena, line->count, sizeof *times);
  struct tidings_span *messages = arena_zalloc(work->arena, line->count, sizeof *messages);
  size_t count = 0;
  if (!items || !leaders || !times || !messages) return -1;
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    bool is_file = coalesced->path_count && work->items[i].facts.path_count;
    if (!is_file) messages[count] = work->items[i].note.message;
    items[count++] = &work->items[i];
  }
  if (policy_group_equal(messages, count, work->arena, leaders)) return -1;
  for (size_t m = 0; m < count; m++) times[leaders[m]]++;
  coalesced->items = items;
  coalesced->leaders = leaders;
  coalesced->times = times;
  coalesced->count = count;
  return 0;
}

/* The different paths of all members, in the order in which they were first named. One path alone
 * is not listed. */
static int list_paths(const struct work *work, const struct line *line,
                      struct coalesced *coalesced) {
  size_t count = 0, different = 0, first = first_of(work, line);
  for (size_t i = first; i != NO_ITEM; i = work->next[i]) count += work->items[i].facts.path_count;
  struct tidings_span *paths = arena_array(work->arena, count, sizeof *paths);
  size_t *leaders = arena_array(work->arena, count, sizeof *leaders);
  if (!paths || !leaders) return -1;
  count = 0;
  for (size_t i = first; i != NO_ITEM; i = work->next[i]) {
    const struct facts *facts = &work->items[i].facts;
    for (size_t p = 0; p < facts->path_count; p++) paths[count++] = facts->paths[p];
  }
  if (policy_group_equal(paths, count, work->arena, leaders)) return -1;
  for (size_t p = 0; p < count; p++) {
    if (leaders[p] == p) paths[different++] = paths[p];
  }
  coalesced->paths = paths;
  coalesced->path_count = different > 1 ? different : 0;
  return 0;
}

static bool all_say_the_same(const struct work *work, const struct line *line) {
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    if (!span_equal(work->items[i].note.message, line->item->note.message)) return false;
  }
  return true;
}

int policy_write_common(const struct work *work, struct line *line) {
  static const size_t first = 0;
  const size_t times = line->count;
  struct coalesced coalesced = {
      .items = &line->item, .leaders = &first, .times = &times, .count = 1};
  struct buffer text = BUFFER_EMPTY;
  if (!all_say_the_same(work, line) &&
      (list_paths(work, line, &coalesced) || list_members(work, line, &coalesced)))
    return -1;
  render_coalesced(&coalesced, work->settings->message_bytes, &text);
  int code = text.failed || arena_copy(work->arena, buffer_view(&text), &line->message) ? -1 : 0;
  buffer_free(&text);
  return code;
}
