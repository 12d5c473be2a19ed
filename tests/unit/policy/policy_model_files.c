/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_files.c: what several reports of files come to, as the
 * documentation says it: path by path, from the first report to the last.
 */
#include <stdio.h>

#include "policy_model.h"
#include "values/event.h"

/* One path, from report to report. */
struct history {
  struct report_of_path {
    size_t item, path;
  } reports[MOST_ITEMS];
  size_t count;
  bool alone; /* each of them names no other file */
};

static const struct facts *facts_of(const struct items *items, size_t i) {
  return &items->items[i].facts;
}

static struct history history_of(const struct model *model, const struct items *items,
                                 const size_t *windows, size_t like, struct tidings_span path) {
  struct history history = {.alone = true};
  for (size_t i = 0; i < items->count; i++) {
    if (model->dispositions[i].outcome != OUTCOME_NONE || !model_is_file(&items->items[i]))
      continue;
    if (windows && windows[i] != windows[like]) continue;
    for (size_t p = 0; p < facts_of(items, i)->path_count; p++) {
      if (!span_equal(facts_of(items, i)->paths[p], path)) continue;
      history.reports[history.count++] = (struct report_of_path){i, p};
      history.alone = history.alone && facts_of(items, i)->path_count == 1;
    }
  }
  return history;
}

/* From the creation at `from` to the deletion at `to`. */
static void mark_undone(struct model *model, const struct history *history, size_t from,
                        size_t to) {
  size_t created = history->reports[from].item, deleted = history->reports[to].item;
  for (size_t r = from; r <= to; r++)
    model->undone[history->reports[r].item][history->reports[r].path] =
        (r == to ? created : deleted) + 1;
}

static void undo_path(struct model *model, const struct items *items, const struct history *history,
                      bool needs_alone) {
  size_t begin = 0;
  bool alone = true;
  for (size_t r = 0; r < history->count; r++) {
    size_t first = history->reports[begin].item, now = history->reports[r].item;
    alone = alone && facts_of(items, now)->path_count == 1;
    if (facts_of(items, first)->change != FILE_CREATED ||
        facts_of(items, now)->change != FILE_DELETED || (needs_alone && !alone))
      continue;
    mark_undone(model, history, begin, r);
    begin = r + 1;
    alone = true;
  }
}

void model_undo(struct model *model, const struct items *items, const size_t *windows) {
  memset(model->undone, 0, sizeof model->undone);
  for (size_t i = 0; i < items->count; i++) {
    if (model->dispositions[i].outcome != OUTCOME_NONE || !model_is_file(&items->items[i]))
      continue;
    for (size_t p = 0; p < facts_of(items, i)->path_count; p++) {
      struct history history = history_of(model, items, windows, i, facts_of(items, i)->paths[p]);
      undo_path(model, items, &history, !windows);
    }
  }
  for (size_t i = 0; i < items->count; i++) {
    size_t last = facts_of(items, i)->path_count;
    bool all = last && model_is_file(&items->items[i]);
    for (size_t p = 0; all && p < last; p++) all = model->undone[i][p] > 0;
    if (!all) continue;
    model->dispositions[i].outcome = OUTCOME_ANNIHILATED;
    model->dispositions[i].reason = REASON_OPPOSITE;
    model->dispositions[i].ref = items->items[model->undone[i][last - 1] - 1].n;
  }
}

bool model_is_undone(const struct model *model, const struct items *items,
                     const struct model_line *line) {
  for (size_t m = 0; m < line->count; m++) {
    for (size_t p = 0; p < facts_of(items, line->items[m])->path_count; p++) {
      if (model->undone[line->items[m]][p]) return true;
    }
  }
  return false;
}

/* -- lists ------------------------------------------------------------------------------------- */

/* What the reports of this line that count say about a path; -1: none names it. */
static int change_of(const struct model *model, const struct items *items,
                     const struct model_line *line, struct tidings_span path) {
  int change = -1;
  for (size_t m = 0; m < line->count; m++) {
    const struct facts *facts = facts_of(items, line->items[m]);
    for (size_t p = 0; p < facts->path_count; p++) {
      if (model->undone[line->items[m]][p] || !span_equal(facts->paths[p], path)) continue;
      if (change != FILE_CREATED || facts->change != FILE_MODIFIED) change = facts->change;
    }
  }
  return change;
}

static bool has_file(const struct model_line *line, struct tidings_span path) {
  for (size_t f = 0; f < line->file_count; f++) {
    if (span_equal(line->files[f], path)) return true;
  }
  return false;
}

void model_list(const struct model *model, const struct items *items, struct model_line *line) {
  line->tool = items->items[line->items[0]].note.tool;
  for (int change = FILE_MODIFIED; change <= FILE_RENAMED; change++) {
    for (size_t m = 0; m < line->count; m++) {
      const struct facts *facts = facts_of(items, line->items[m]);
      for (size_t p = 0; p < facts->path_count; p++) {
        if (model->undone[line->items[m]][p] || has_file(line, facts->paths[p]) ||
            change_of(model, items, line, facts->paths[p]) != change)
          continue;
        line->changes[line->file_count] = (uint8_t)change;
        line->files[line->file_count++] = facts->paths[p];
      }
    }
  }
}

static struct tidings_span folder(struct tidings_span path) {
  const char *slash = memrchr(path.ptr, '/', path.len);
  if (!slash) return span_of(path.ptr, 0);
  return span_of(path.ptr, slash == path.ptr ? 1 : (size_t)(slash - path.ptr));
}

static void write_others(const struct model_line *line, size_t listed, struct buffer *out) {
  size_t folders = 0;
  for (size_t f = listed; f < line->file_count; f++) {
    bool met = false;
    for (size_t g = listed; g < f; g++)
      met = met || span_equal(folder(line->files[g]), folder(line->files[f]));
    folders += !met;
  }
  buffer_format(out, ", and %zu more", line->file_count - listed);
  if (folders > 1) buffer_format(out, " in %zu folders", folders);
  else if (folder(line->files[listed]).len)
    buffer_format(out, " in %.*s", SPAN_FORMAT(folder(line->files[listed])));
}

void model_write_list(struct model *model, struct model_line *line, size_t listed) {
  static const char *const words[] = {"modified", "created", "deleted", "renamed"};
  struct buffer out = BUFFER_EMPTY;
  bool mixed = line->changes[0] != line->changes[line->file_count - 1];
  line->listed = listed;
  char ran[64] = "";
  if (line->tool.len) (void)snprintf(ran, sizeof ran, " while %.*s ran", SPAN_FORMAT(line->tool));
  if (line->file_count == 1)
    buffer_format(&out, "`%.*s` was %s%s.", SPAN_FORMAT(line->files[0]), words[line->changes[0]],
                  line->tool.len ? ran : " externally");
  for (size_t f = 0; line->file_count > 1 && f < listed; f++) {
    if (!f && !mixed) buffer_format(&out, "Multiple files %s%s: ", words[line->changes[0]], ran);
    else if (!f) buffer_format(&out, "Files changed%s: %s ", ran, words[line->changes[0]]);
    else if (line->changes[f] == line->changes[f - 1]) buffer_text(&out, ", ");
    else buffer_format(&out, "; %s ", words[line->changes[f]]);
    buffer_span(&out, line->files[f]);
  }
  if (listed < line->file_count) write_others(line, listed, &out);
  cr_assert_eq(arena_copy(model->arena, buffer_view(&out), &line->message), 0);
  buffer_free(&out);
}

bool model_names(const struct model *model, const struct items *items,
                 const struct model_line *line, size_t i) {
  for (size_t p = 0; p < facts_of(items, i)->path_count; p++) {
    for (size_t f = 0; f < line->listed; f++) {
      if (!model->undone[i][p] && span_equal(line->files[f], facts_of(items, i)->paths[p]))
        return true;
    }
  }
  return false;
}
