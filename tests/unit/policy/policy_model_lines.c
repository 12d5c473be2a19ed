/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_lines.c: see policy_model_lines.h.
 */
#include "policy_model_lines.h"

#include <stdlib.h>

/* -- coalesce ---------------------------------------------------------------------------------- */

static bool contains(const struct tidings_span *texts, size_t count, struct tidings_span text) {
  for (size_t i = 0; i < count; i++) {
    if (span_equal(texts[i], text)) return true;
  }
  return false;
}

static size_t times_said(const struct items *items, const struct model_line *line,
                         struct tidings_span message, bool files) {
  size_t times = 0;
  for (size_t i = 0; i < line->count; i++) {
    const struct item *item = &items->items[line->items[i]];
    times += !(files && item->facts.path_count) && span_equal(item->note.message, message);
  }
  return times;
}

static void say(const struct items *items, const struct model_line *line,
                struct tidings_span message, bool files, struct buffer *out) {
  size_t times = times_said(items, line, message, files);
  buffer_span(out, message);
  if (times > 1) buffer_format(out, " (%zu times)", times);
}

static void list_files(const struct tidings_span *paths, size_t count, size_t limit,
                       struct buffer *out) {
  buffer_text(out, "Multiple files modified: ");
  for (size_t i = 0; i < count; i++) {
    if (i && out->len + paths[i].len > limit) {
      buffer_format(out, "… (%zu more files)", count - i);
      return;
    }
    if (i) buffer_text(out, ", ");
    buffer_span(out, paths[i]);
  }
}

static void model_words(struct model *model, const struct items *items,
                        const struct settings *settings, struct model_line *line) {
  struct tidings_span paths[MOST_ITEMS * 3], said[MOST_ITEMS];
  size_t path_count = 0, said_count = 0;
  struct buffer out = BUFFER_EMPTY;
  bool listed = false, full = false;
  for (size_t i = 0; i < line->count; i++) {
    const struct facts *facts = &items->items[line->items[i]].facts;
    for (size_t p = 0; p < facts->path_count; p++) {
      if (!contains(paths, path_count, facts->paths[p])) paths[path_count++] = facts->paths[p];
    }
  }
  bool same =
      times_said(items, line, items->items[line->items[0]].note.message, false) == line->count;
  bool files = path_count > 1 && !same;
  size_t more = 0;
  for (size_t i = 0; i < line->count; i++) {
    const struct item *item = &items->items[line->items[i]];
    bool is_file = files && item->facts.path_count;
    if (is_file ? listed : contains(said, said_count, item->note.message)) continue;
    struct tidings_span next = is_file ? paths[0] : item->note.message;
    if (!full && out.len && out.len + next.len > settings->message_bytes) {
      full = true;
      if (is_file) {
        buffer_format(&out, "; … (%zu files)", path_count);
        break;
      }
    }
    if (full) {
      if (is_file) continue;
      said[said_count++] = item->note.message;
      more++;
      continue;
    }
    if (out.len) buffer_text(&out, "; ");
    if (is_file) {
      list_files(paths, path_count, settings->message_bytes, &out);
      listed = true;
    } else {
      say(items, line, item->note.message, files, &out);
      said[said_count++] = item->note.message;
    }
  }
  if (more) buffer_format(&out, "; … (%zu more)", more);
  cr_assert_eq(arena_copy(model->arena, buffer_view(&out), &line->message), 0);
  buffer_free(&out);
}

static bool same_kind(const struct item *a, const struct item *b) {
  return span_equal(a->note.source, b->note.source) && span_equal(a->note.name, b->note.name);
}

static void join(const struct model *model, const struct items *items, struct model_line *line,
                 size_t i) {
  if (model->places[i] < line->place) line->place = model->places[i];
  if (items->items[i].note.level > line->level) line->level = items->items[i].note.level;
  if (items->items[i].pinned) line->pinned = true;
  line->newest = items->items[i].n;
  line->items[line->count++] = i;
}

static void model_coalesce(struct model *model, const struct items *items,
                           const struct settings *settings) {
  bool used[MOST_ITEMS] = {false};
  for (size_t i = 0; i < items->count; i++) {
    if (model->fates[i].outcome != OUTCOME_NONE || used[i]) continue;
    struct model_line *line = &model->lines[model->shown++];
    *line = (struct model_line){.place = UINT64_MAX, .message = items->items[i].note.message};
    join(model, items, line, i);
    for (size_t j = i + 1; settings->coalesce_window_ms && j < items->count; j++) {
      if (model->fates[j].outcome != OUTCOME_NONE || !same_kind(&items->items[i], &items->items[j]))
        continue;
      if (llabs((long long)(items->items[j].time_ms - items->items[i].time_ms)) >
          (long long)settings->coalesce_window_ms)
        break;
      join(model, items, line, j);
      used[j] = true;
    }
    if (line->count > 1) model_words(model, items, settings, line);
  }
}

/* -- rank -------------------------------------------------------------------------------------- */

static bool goes_before(const struct settings *settings, const struct model_line *a,
                        const struct model_line *b) {
  if (settings->order == ORDER_LEVEL && a->level != b->level) return a->level > b->level;
  return settings->order == ORDER_NEWEST ? a->place > b->place : a->place < b->place;
}

static void model_rank(struct model *model, const struct settings *settings) {
  for (size_t i = 1; i < model->shown; i++) {
    for (size_t at = i; at && goes_before(settings, &model->lines[at], &model->lines[at - 1]);
         at--) {
      struct model_line line = model->lines[at];
      model->lines[at] = model->lines[at - 1];
      model->lines[at - 1] = line;
    }
  }
}

/* -- cap --------------------------------------------------------------------------------------- */

static bool critical(const struct model_line *line) {
  return line->level == TIDINGS_LEVEL_CRITICAL;
}

static struct tidings_span source_of(const struct items *items, const struct model_line *line) {
  return items->items[line->items[0]].note.source;
}

/* How many lines of the same source have their turn before line `at`. */
static size_t turn_of(const struct model *model, const struct items *items, size_t at) {
  size_t turn = 0;
  const struct model_line *line = &model->lines[at];
  for (size_t other = 0; other < model->shown; other++) {
    const struct model_line *rival = &model->lines[other];
    if (!span_equal(source_of(items, line), source_of(items, rival))) continue;
    turn += critical(line) == critical(rival) ? other < at : critical(rival);
  }
  return turn;
}

static bool has_turn_before(const struct model *model, const struct items *items, size_t a,
                            size_t b) {
  if (model->lines[a].pinned != model->lines[b].pinned) return model->lines[a].pinned;
  if (critical(&model->lines[a]) != critical(&model->lines[b])) return critical(&model->lines[a]);
  size_t turn_a = turn_of(model, items, a), turn_b = turn_of(model, items, b);
  return turn_a != turn_b ? turn_a < turn_b : a < b;
}

/* Should line b be left out rather than line a? */
static bool outranks(const struct model *model, const struct items *items, uint8_t overflow,
                     size_t a, size_t b) {
  const struct model_line *one = &model->lines[a], *other = &model->lines[b];
  if (overflow != OVERFLOW_DEFER && one->pinned != other->pinned) return one->pinned;
  if (overflow == OVERFLOW_DROP_OLDEST) return one->newest > other->newest;
  if (overflow == OVERFLOW_DROP_LOWEST)
    return one->level != other->level ? one->level > other->level : one->newest > other->newest;
  return has_turn_before(model, items, a, b);
}

static void drop(struct model *model, const struct model_line *line, uint8_t overflow) {
  for (size_t i = 0; i < line->count; i++) {
    struct fate *fate = &model->fates[line->items[i]];
    fate->outcome = OUTCOME_DROPPED;
    fate->reason = overflow == OVERFLOW_DROP_OLDEST ? REASON_CAP_OLDEST : REASON_CAP_LOWEST;
  }
}

static void keep_lines(struct model *model, const bool *kept, uint8_t overflow) {
  size_t shown = 0;
  for (size_t a = 0; a < model->shown; a++) {
    if (kept[a]) model->lines[shown++] = model->lines[a];
    else if (overflow == OVERFLOW_DEFER) model->deferred += model->lines[a].count;
    else drop(model, &model->lines[a], overflow);
  }
  model->shown = shown;
}

static void model_cap(struct model *model, const struct items *items,
                      const struct settings *settings) {
  bool kept[MOST_ITEMS];
  for (size_t a = 0; a < model->shown; a++) {
    size_t better = 0;
    for (size_t b = 0; b < model->shown; b++)
      better += b != a && outranks(model, items, settings->overflow, b, a);
    kept[a] = !settings->max_items || better < settings->max_items;
  }
  keep_lines(model, kept, settings->overflow);
}

/* -- tokens ------------------------------------------------------------------------------------ */

static uint64_t cost(struct tidings_span message) {
  return message.len / 4 + (message.len % 4 ? 1 : 0);
}

/* Characters in these tests are single bytes, save the ellipsis that stands behind a cut. */
static size_t whole_characters(struct tidings_span message, size_t kept) {
  while (kept && kept < message.len && (message.ptr[kept] & 0xC0) == 0x80) kept--;
  return kept;
}

static struct tidings_span cut_at(struct model *model, struct tidings_span message, size_t kept) {
  struct buffer out = BUFFER_EMPTY;
  struct tidings_span copy;
  kept = whole_characters(message, kept);
  buffer_append(&out, message.ptr, kept);
  buffer_format(&out, "… (%zu more bytes)", message.len - kept);
  cr_assert_eq(arena_copy(model->arena, buffer_view(&out), &copy), 0);
  buffer_free(&out);
  return copy;
}

/* What is shown of a message with so much room; nothing: it waits. */
static bool squeeze(struct model *model, struct model_line *line, bool first, uint64_t room,
                    uint64_t budget) {
  const char *feed = memchr(line->message.ptr, '\n', line->message.len);
  size_t first_line = feed ? (size_t)(feed - line->message.ptr) : 0;
  if (cost(line->message) <= room) return true;
  if (first_line) {
    struct tidings_span cut = cut_at(model, line->message, first_line);
    if (cost(cut) <= room) {
      line->message = cut;
      line->shortened = true;
      return true;
    }
  }
  if (!first) return false;
  if (line->message.len <= 64) return true;
  struct tidings_span whole = line->message;
  for (size_t kept = feed ? first_line : whole.len / 2;; kept /= 2) {
    line->message = cut_at(model, whole, kept);
    line->shortened = true;
    size_t shown = whole_characters(whole, kept);
    if (shown / 2 < 32 || cost(line->message) <= budget) return true;
    kept = shown;
  }
}

static void model_tokens(struct model *model, const struct items *items,
                         const struct settings *settings) {
  bool kept[MOST_ITEMS] = {false}, done[MOST_ITEMS] = {false};
  uint64_t room = settings->max_tokens;
  if (!room) return;
  for (size_t turn = 0; turn < model->shown; turn++) {
    size_t next = MOST_ITEMS;
    for (size_t a = 0; a < model->shown; a++) {
      if (!done[a] && (next == MOST_ITEMS || has_turn_before(model, items, a, next))) next = a;
    }
    if (next == MOST_ITEMS) break;
    done[next] = true;
    if (!squeeze(model, &model->lines[next], turn == 0, room, settings->max_tokens)) break;
    uint64_t used = cost(model->lines[next].message);
    room = used < room ? room - used : 0;
    kept[next] = true;
  }
  keep_lines(model, kept, OVERFLOW_DEFER);
}

void model_lines(struct model *model, const struct items *items, const struct settings *settings) {
  model_coalesce(model, items, settings);
  model_rank(model, settings);
  model_cap(model, items, settings);
  model_tokens(model, items, settings);
}
