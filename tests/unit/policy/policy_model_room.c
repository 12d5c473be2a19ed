/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_room.c: chooses the lines that have room. It answers each question
 * by rendering the whole block as a host gets it.
 */
#include "policy_model_lines.h"

uint64_t model_block_bytes(const struct items *items, const struct render_input *frame,
                           const struct model_line *const *lines, size_t count, size_t waiting) {
  static struct tidings_span ids[MOST_ITEMS];
  struct arena arena = ARENA_EMPTY;
  struct line rendered[MOST_ITEMS];
  const struct rendered *parts;
  struct render_input input = *frame;
  size_t part_count;
  uint64_t bytes = 0;
  for (size_t l = 0; l < count; l++)
    rendered[l] = (struct line){.item = &items->items[lines[l]->items[0]],
                                .message = lines[l]->message,
                                .time_ms = lines[l]->time_ms,
                                .count = (uint32_t)lines[l]->count,
                                .level = lines[l]->level};
  input.lines = rendered;
  input.line_count = count;
  input.deferred = waiting;
  input.call_ids = ids;
  cr_assert_eq(render_messages(&input, &arena, &parts, &part_count), 0);
  for (size_t p = 0; p < part_count; p++) bytes += parts[p].text.len;
  arena_free(&arena);
  return bytes;
}

static bool fits_alone(const struct model *model, const struct items *items,
                       const struct room *room, const struct model_line *line, uint64_t bytes) {
  size_t waiting = model->deferred + model->shown - 1;
  return model_block_bytes(items, room->frame, &line, 1, waiting) <= bytes;
}

/* Do the lines in `in` fit together, in their order? */
static bool fit_together(const struct model *model, const struct items *items,
                         const struct room *room, const bool *in, uint64_t bytes) {
  const struct model_line *lines[MOST_ITEMS];
  size_t count = 0;
  for (size_t l = 0; l < model->shown; l++) {
    if (in[l]) lines[count++] = &model->lines[l];
  }
  size_t waiting = model->deferred + model->shown - count;
  return model_block_bytes(items, room->frame, lines, count, waiting) <= bytes;
}

static void step_aside(struct model *model, const struct model_line *line) {
  model->too_large++;
  model->is_too_large[line->items[0]] = true;
  if (line->newest > model->too_large_newest) model->too_large_newest = line->newest;
}

static bool can_be_shown(struct model *model, const struct items *items, const struct room *room,
                         const struct model_line *line) {
  struct model_line least = *line;
  if (line->file_count) {
    model_write_list(model, &least, 1);
  } else {
    least.message = model_cut(model, items, line, model_least(items, line));
    if (least.message.len >= line->message.len) least.message = line->message;
  }
  return fits_alone(model, items, room, line, room->bytes) ||
         fits_alone(model, items, room, &least, room->bytes);
}

void model_set_aside(struct model *model, const struct items *items, const struct room *room) {
  bool all[MOST_ITEMS], kept[MOST_ITEMS];
  memset(all, true, sizeof all);
  if (fit_together(model, items, room, all, room->bytes)) return;
  for (size_t l = 0; l < model->shown; l++) {
    kept[l] = can_be_shown(model, items, room, &model->lines[l]);
    if (!kept[l]) step_aside(model, &model->lines[l]);
  }
  model_keep_lines(model, kept, OVERFLOW_DEFER);
}

/* Shortens a line to the longest cut that fits. False: no cut does. */
static bool model_shorten(struct model *model, const struct items *items, const struct room *room,
                          struct model_line *line, uint64_t bytes) {
  struct model_line cut = *line;
  if (bytes < room->bytes && fits_alone(model, items, room, line, room->bytes))
    return false; /* it is whole in an empty reply */
  for (size_t listed = line->file_count ? line->listed : 0; listed > 1;) {
    model_write_list(model, &cut, --listed);
    if (!fits_alone(model, items, room, &cut, bytes)) continue;
    *line = cut;
    return true;
  }
  for (size_t kept = line->file_count ? 0 : line->message.len; kept-- > model_least(items, line);) {
    cut.message = model_cut(model, items, line, kept);
    cut.shortened = true;
    if (cut.message.len >= line->message.len || !fits_alone(model, items, room, &cut, bytes))
      continue;
    *line = cut;
    return true;
  }
  return false;
}

void model_fit(struct model *model, const struct items *items, const struct room *room) {
  bool kept[MOST_ITEMS], done[MOST_ITEMS] = {false};
  uint64_t bytes = room->taken < room->bytes ? room->bytes - room->taken : 0;
  size_t count = 0;
  memset(kept, true, sizeof kept);
  if (!model->shown || fit_together(model, items, room, kept, bytes)) return;
  memset(kept, false, sizeof kept);
  for (size_t turn = 0; turn < model->shown; turn++) {
    size_t next = MOST_ITEMS;
    for (size_t l = 0; l < model->shown; l++) {
      if (!done[l] && (next == MOST_ITEMS || model_has_turn_before(model, items, l, next)))
        next = l;
    }
    if (next == MOST_ITEMS) break;
    done[next] = kept[next] = true;
    if (fit_together(model, items, room, kept, bytes) ||
        (!count && model_shorten(model, items, room, &model->lines[next], bytes))) {
      count++;
      continue;
    }
    kept[next] = false;
    if (count || bytes < room->bytes) break;
    step_aside(model, &model->lines[next]);
  }
  model_keep_lines(model, kept, OVERFLOW_DEFER);
}
