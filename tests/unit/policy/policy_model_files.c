/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_files.c: the result of several reports of files, computed as in
 * the documentation: path by path, from the first report to the last.
 */
#include <stdio.h>

#include "policy_model.h"
#include "values/event.h"

/* A path, from report to report. */
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

/* Marks the reports from the creation at `from` to the deletion at `to`. */
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

/* Returns the change of a path by the reports of this line that count; -1: none names the path. */
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

static const int said[] = {FILE_DELETED, FILE_CREATED, FILE_RENAMED, FILE_MODIFIED};
static const char *const words[] = {"modified", "created", "deleted", "renamed"};

static size_t count_of(const struct model_line *line, size_t end, int change) {
  size_t count = 0;
  for (size_t f = 0; f < end; f++) count += line->changes[f] == change;
  return count;
}

/* If not all files can be named, puts the named ones first. Each kind of change gets a part of the
 * names. */
static void put_named_first(struct model_line *line) {
  struct model_line all = *line;
  size_t left = all.file_count <= 20 ? all.file_count : 10, most = left, kinds = 0, used = 0;
  bool named[MOST_ITEMS * MODEL_PATHS] = {false};
  for (size_t c = 0; c < 4; c++) kinds += count_of(&all, all.file_count, said[c]) > 0;
  for (size_t c = 0; c < 4; c++) {
    if (!count_of(&all, all.file_count, said[c])) continue;
    size_t share = kinds == 1 ? left : kinds == 2 && left == most ? most / 2 + 1 : left / kinds;
    for (size_t f = 0; f < all.file_count; f++) {
      if (all.changes[f] != said[c] || !share) continue;
      named[f] = true;
      share--;
      left--;
    }
    kinds--;
  }
  for (int turn = 1; turn >= 0; turn--) {
    for (size_t f = 0; f < all.file_count; f++) {
      if (named[f] != (turn == 1)) continue;
      line->changes[used] = all.changes[f];
      line->files[used++] = all.files[f];
    }
  }
}

void model_list(const struct model *model, const struct items *items, struct model_line *line) {
  line->tool = items->items[line->items[0]].note.tool;
  for (size_t c = 0; c < 4; c++) {
    for (size_t m = 0; m < line->count; m++) {
      const struct facts *facts = facts_of(items, line->items[m]);
      for (size_t p = 0; p < facts->path_count; p++) {
        if (model->undone[line->items[m]][p] || has_file(line, facts->paths[p]) ||
            change_of(model, items, line, facts->paths[p]) != said[c])
          continue;
        line->changes[line->file_count] = (uint8_t)said[c];
        line->files[line->file_count++] = facts->paths[p];
      }
    }
  }
  put_named_first(line);
}

/* Finds the longest folder that contains all files, with its slash. */
static size_t folder_of_all(const struct model_line *line) {
  for (size_t len = line->files[0].len; len > 1; len--) {
    size_t same = 0;
    if (line->files[0].ptr[len - 1] != '/') continue;
    for (size_t f = 0; f < line->file_count; f++)
      same += line->files[f].len >= len && !memcmp(line->files[f].ptr, line->files[0].ptr, len);
    if (same == line->file_count) return len;
  }
  return 0;
}

static void write_some(const struct model_line *line, size_t listed, int change, size_t folder,
                       struct buffer *out) {
  const char *comma = "";
  for (size_t f = 0; f < listed; f++) {
    if (line->changes[f] != change) continue;
    buffer_format(out, "%s%.*s", comma, (int)(line->files[f].len - folder),
                  line->files[f].ptr + folder);
    comma = ", ";
  }
  if (count_of(line, listed, change) < count_of(line, line->file_count, change))
    buffer_text(out, ", …");
}

static void write_counts(const struct model_line *line, size_t listed, const char *ran,
                         struct buffer *out) {
  bool alike = count_of(line, line->file_count, line->changes[0]) == line->file_count;
  size_t folder = folder_of_all(line);
  const char *comma = ": ";
  buffer_format(out, "%zu files %s", line->file_count, alike ? words[line->changes[0]] : "changed");
  if (folder) buffer_format(out, " in %.*s", (int)folder, line->files[0].ptr);
  buffer_text(out, ran);
  if (alike) {
    buffer_text(out, ": ");
    write_some(line, listed, line->changes[0], folder, out);
  }
  for (size_t c = 0; c < 4 && !alike; c++) {
    size_t count = count_of(line, line->file_count, said[c]);
    if (!count) continue;
    buffer_format(out, "%s%zu %s", comma, count, words[said[c]]);
    comma = ", ";
    if (!count_of(line, listed, said[c])) continue;
    buffer_text(out, " (");
    write_some(line, listed, said[c], folder, out);
    buffer_text(out, ")");
  }
}

static void write_by_change(const struct model_line *line, const char *ran, struct buffer *out) {
  bool alike = count_of(line, line->file_count, line->changes[0]) == line->file_count;
  const char *semicolon = "";
  buffer_text(out, alike ? "Multiple files " : "Files changed");
  if (alike) buffer_text(out, words[line->changes[0]]);
  buffer_format(out, "%s: ", ran);
  for (int change = 0; change < 4; change++) {
    if (!count_of(line, line->file_count, change)) continue;
    buffer_text(out, semicolon);
    if (!alike) buffer_format(out, "%s ", words[change]);
    write_some(line, line->file_count, change, 0, out);
    semicolon = "; ";
  }
}

void model_write_list(struct model *model, struct model_line *line, size_t listed) {
  struct buffer out = BUFFER_EMPTY;
  char ran[64] = "";
  line->listed = listed;
  if (line->tool.len) (void)snprintf(ran, sizeof ran, " while %.*s ran", SPAN_FORMAT(line->tool));
  if (line->file_count == 1)
    buffer_format(&out, "`%.*s` was %s%s.", SPAN_FORMAT(line->files[0]), words[line->changes[0]],
                  line->tool.len ? ran : " externally");
  else if (listed == line->file_count) write_by_change(line, ran, &out);
  else write_counts(line, listed, ran, &out);
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
