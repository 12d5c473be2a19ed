/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.c: observed with 0.61.0 (Gemini CLI), 2.1.329 (Claude Code), 0.24.4
 * (Qwen Code) and 0.169.0 (Codex):
 *
 * Gemini CLI writes a record with all remaining messages when a person takes a prompt back, stops a
 * turn or goes back by /chat resume. It also does so after a compaction; then its messages are new,
 * except those that it keeps.
 *
 * Claude Code writes a tree: the person's next prompt has the same parent as the prompt that was
 * taken back.
 *
 * Qwen Code writes a record "rewind" whose parent is the last record that stays.
 *
 * Codex continues in another file (agents/transcript/bases.h).
 *
 * The hook of each prompt looks for rewinds. A rewind is written directly before a prompt, or is
 * that prompt. So a new rewind is at the end of the file, and earlier ones were seen before.
 */
#include "agents/transcript/undone.h"

#include <stdlib.h>
#include <string.h>

#include "agents/transcript/bases.h"
#include "agents/transcript/index.h"
#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"
#include "common/span.h"

enum { RECENT = 256 << 10, MOST = 8 << 20, GROWS = 8 }; /* bytes to read, and a factor */
/* A turn that begins before the text, and ends in its first bytes, is old. */
enum { OLD = 64 << 10 };

/* A record that may take something back. */
struct step {
  size_t at;
  struct tidings_span parent, first, last; /* the first and last remaining message */
};

struct history {
  const struct host *host;
  struct hook_marks marks;
  struct hook_index index;
  struct step *steps;
  size_t count, room;
  struct hook_base base; /* from the first record */
  bool no_memory;
};

static void finish_history(struct history *history) {
  hook_marks_finish(&history->marks);
  hook_index_finish(&history->index);
  free(history->steps);
}

/* -- reading ----------------------------------------------------------------------------------- */

static enum host_says step_of(const struct host *host) {
  switch (host->undoing) {
  case HOST_UNDOES_BY_SIBLINGS: return SAYS_PROMPT;
  case HOST_UNDOES_BY_RECORDS: return SAYS_REWIND;
  default: return SAYS_SNAPSHOT;
  }
}

static int add_step(struct history *history, const struct hook_record *record) {
  const struct step step = {record->at, hook_record_first(record, SAYS_PARENT),
                            hook_record_first(record, SAYS_SNAPSHOT_ID),
                            hook_record_last(record, SAYS_SNAPSHOT_ID)};
  if (!hook_record_says(record, step_of(history->host)) || !(step.parent.len || step.last.len))
    return 0;
  if (history->count == history->room) {
    size_t room = history->room ? history->room * 2 : 64;
    struct step *larger = reallocarray(history->steps, room, sizeof *larger);
    if (!larger) return -1;
    history->steps = larger;
    history->room = room;
  }
  history->steps[history->count++] = step;
  return 0;
}

static int add_to_index(struct history *history, const struct hook_record *record,
                        const char *text) {
  struct hook_index_entry entry = {.end = record->end};
  for (size_t i = 0; i < record->value_count; i++) {
    const struct hook_value *value = &record->values[i];
    entry.id = value->text;
    entry.is_record = value->says == SAYS_ID;
    entry.at = entry.is_record ? record->at : (size_t)(value->text.ptr - text);
    if ((entry.is_record || value->says == SAYS_SNAPSHOT_ID) &&
        hook_index_add(&history->index, &entry))
      return -1;
  }
  return 0;
}

struct taking {
  struct history *history;
  const char *text;
};

static bool take_record(void *context, const struct hook_record *record) {
  const struct taking *taking = context;
  struct history *history = taking->history;
  int code = add_step(history, record);
  if (!record->at) history->base = hook_base_of(record);
  if (!code) code = add_to_index(history, record, taking->text);
  for (size_t i = 0; !code && i < record->marker_count; i++)
    code =
        hook_marks_add(&history->marks, record->markers[i].delivery, record->markers[i].at, false);
  history->no_memory = code;
  return !code;
}

/* The history refers to the text of the lines. Returns -1 if there is no memory. */
static int read_history(const struct host *host, const struct hook_lines *lines,
                        struct history *ret_history) {
  struct history history = {.host = host};
  struct taking taking = {&history, lines->text.ptr};
  const struct hook_reading reading = {
      .host = host, .markers = true, .each = take_record, .context = &taking};
  if (hook_records_read(&reading, lines->text) || history.no_memory) {
    finish_history(&history);
    return -1;
  }
  *ret_history = history;
  return 0;
}

/* -- whether the end of a file is enough ------------------------------------------------------- */

/* May a prompt have a sibling? No if each prompt's parent is newer than the prompt before it. If
 * the text has no prompt, the newest one may be before the text. */
static bool may_have_sibling(struct history *history) {
  size_t from = 0;
  hook_index_sort(&history->index);
  for (size_t i = 0; i < history->count; from = history->steps[i++].at) {
    const struct step *step = &history->steps[i];
    const struct hook_index_entry *parent =
        hook_index_last(&history->index, step->parent, step->at);
    bool old = i == 0 && step->at < OLD;
    if (!old && (!parent || parent->at < from)) return true;
  }
  return !history->count;
}

/* May something be undone? False: the whole file shows nothing new since the last look. */
static bool may_undo(struct history *history, const struct hook_lines *lines) {
  switch (history->host->undoing) {
  case HOST_UNDOES_BY_SIBLINGS: return may_have_sibling(history);
  /* the record with all messages may be larger than the text */
  case HOST_UNDOES_BY_LINES: return history->count || lines->cut >= OLD;
  case HOST_UNDOES_BY_RECORDS: return history->count;
  default: return false; /* only a new file shows it, and is read completely */
  }
}

/* -- applying it ------------------------------------------------------------------------------- */

/* Undoes the messages after the last remaining one, which were taken back or stopped, and those
 * before the first remaining one: /chat resume left them, and wrote the remaining ones again. A
 * compaction keeps the messages at the end, or ends with a new one, which undoes nothing. */
static void undo_by_line(struct history *history, const struct step *step) {
  const struct hook_index_entry *remaining = hook_index_last(&history->index, step->last, step->at);
  size_t first_at = hook_index_first_line(&history->index, step->first, step->at);
  if (remaining) hook_marks_undo(&history->marks, remaining->at, step->at);
  if (first_at != SIZE_MAX) hook_marks_undo(&history->marks, 0, first_at);
}

static void undo_by_record(struct history *history, const struct step *step) {
  const struct hook_index_entry *remaining =
      hook_index_last(&history->index, step->parent, step->at);
  if (remaining) hook_marks_undo(&history->marks, remaining->end, step->at);
}

static int compare_parents(const void *one, const void *other) {
  const struct step *a = one, *b = other;
  if (a->parent.len != b->parent.len) return a->parent.len < b->parent.len ? -1 : 1;
  int order = a->parent.len ? memcmp(a->parent.ptr, b->parent.ptr, a->parent.len) : 0;
  return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

/* Each prompt undoes everything before it, from the first prompt with the same parent on. */
static void undo_by_siblings(struct history *history) {
  const struct step *first = history->steps;
  if (history->count)
    qsort(history->steps, history->count, sizeof *history->steps, compare_parents);
  for (size_t i = 1; i < history->count; i++) {
    const struct step *step = &history->steps[i];
    if (span_equal(step->parent, first->parent))
      hook_marks_undo(&history->marks, first->at, step->at);
    else first = step;
  }
}

static int undo_as_said(struct history *history, const char *path) {
  hook_index_sort(&history->index);
  switch (history->host->undoing) {
  case HOST_UNDOES_BY_SIBLINGS: undo_by_siblings(history); return 0;
  case HOST_UNDOES_BY_LINES:
    for (size_t i = 0; i < history->count; i++) undo_by_line(history, &history->steps[i]);
    return 0;
  case HOST_UNDOES_BY_RECORDS:
    for (size_t i = 0; i < history->count; i++) undo_by_record(history, &history->steps[i]);
    return 0;
  case HOST_UNDOES_BY_FILES:
    return hook_bases_mark(&history->marks, history->host, path, history->base);
  default: return 0;
  }
}

/* Reads as much of the file's end as is needed to see what was taken back. Finish both results. */
static int read_needed(const char *path, const struct host *host, struct hook_lines *ret_lines,
                       struct history *ret_history) {
  *ret_history = (struct history){.host = host};
  *ret_lines = (struct hook_lines){.read = NULL};
  for (size_t most = RECENT;; most *= GROWS) {
    struct hook_lines lines;
    if (hook_lines_read(path, most < MOST ? most : MOST, &lines)) return 0;
    struct history history;
    int code = read_history(host, &lines, &history);
    bool enough = !code && (lines.whole || most >= MOST);
    if (enough) {
      *ret_lines = lines;
      *ret_history = history;
      return 0;
    }
    bool more = !code && may_undo(&history, &lines);
    if (!code) finish_history(&history);
    hook_lines_finish(&lines);
    if (!more) return code;
  }
}

int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks) {
  struct hook_lines lines;
  struct history history;
  int code = read_needed(path, host, &lines, &history);
  if (code) return code;
  code = undo_as_said(&history, path);
  if (!code) {
    hook_marks_count(&history.marks);
    *ret_marks = history.marks;
    history.marks = (struct hook_marks){.all = NULL};
  }
  finish_history(&history);
  hook_lines_finish(&lines);
  return code;
}
