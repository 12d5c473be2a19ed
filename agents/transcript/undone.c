/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.c: see the header. Seen with 0.61.0 (Gemini CLI), 2.1.329 (Claude Code),
 * 0.24.4 (Qwen Code) and 0.169.0 (Codex):
 *
 * Gemini CLI writes a line with all messages that are left ({"$set":{"messages":[{"id":..., when a
 * person takes a prompt back, stops a turn or goes back by /chat resume. After a compaction too:
 * then its messages are new ones, but for those that it keeps.
 *
 * Claude Code writes a tree: the next prompt of the person's has the parent of the prompt that was
 * taken back.
 *
 * Qwen Code writes a record "rewind" whose parent is the last record that stays.
 *
 * Codex goes on in another file, whose first line says how many bytes of which file stay. That file
 * may begin so, too.
 */
#include "agents/transcript/undone.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/places.h"
#include "agents/transcript/proof.h"
#include "agents/transcript/recent.h"
#include "agents/transcript/text.h"
#include "agents/transcript/transcript.h"
#include "common/span.h"

enum { RECENT = 256 << 10, MOST = 8 << 20 }; /* bytes */
enum { MOST_FILES = 64, MOST_PROMPTS = 4096, MOST_REWINDS = 256 };

/* -- marks ------------------------------------------------------------------------------------- */

static int add_mark(struct hook_marks *marks, uint64_t delivery, size_t at, bool undone) {
  if (marks->count == marks->capacity) {
    size_t capacity = marks->capacity ? marks->capacity * 2 : 64;
    struct hook_mark *larger = reallocarray(marks->all, capacity, sizeof *larger);
    if (!larger) return -1;
    marks->all = larger;
    marks->capacity = capacity;
  }
  marks->all[marks->count++] = (struct hook_mark){delivery, at, 0, 0, undone};
  marks->any_undone = marks->any_undone || undone;
  return 0;
}

/* The first mark at `at` or after it. They are in the order of the file. */
static size_t first_from(const struct hook_marks *marks, size_t at) {
  size_t low = 0, high = marks->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (marks->all[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Those at `from` and later, and before `to`. A rewind may undo all that is before it, and there
 * may be as many rewinds as lines: so only where it begins and ends is noted here. */
static void undo(struct hook_marks *marks, size_t from, size_t to) {
  size_t first = first_from(marks, from), after = first_from(marks, to);
  if (first >= after) return;
  marks->all[first].begin++;
  if (after < marks->count) marks->all[after].end++;
}

static void undo_noted(struct hook_marks *marks) {
  size_t rewinds = 0;
  for (size_t i = 0; i < marks->count; i++) {
    struct hook_mark *mark = &marks->all[i];
    rewinds += mark->begin;
    rewinds -= mark->end;
    if (rewinds) mark->undone = marks->any_undone = true;
  }
}

static int compare_marks(const void *one, const void *other) {
  const struct hook_mark *a = one, *b = other;
  if (a->delivery != b->delivery) return a->delivery < b->delivery ? -1 : 1;
  return (int)a->undone - (int)b->undone;
}

/* Sorted as they are then, what is left of a delivery comes first and what is undone last. */
static bool is_marked(const struct hook_marks *marks, uint64_t delivery, bool undone) {
  const struct hook_mark sought = {.delivery = delivery, .undone = undone};
  return marks->count &&
         bsearch(&sought, marks->all, marks->count, sizeof *marks->all, compare_marks);
}

bool hook_marks_held(const struct hook_marks *marks, uint64_t delivery) {
  return is_marked(marks, delivery, false);
}

bool hook_marks_gone(const struct hook_marks *marks, uint64_t delivery) {
  return is_marked(marks, delivery, true) && !hook_marks_held(marks, delivery);
}

void hook_marks_finish(struct hook_marks *marks) {
  free(marks->all);
  *marks = (struct hook_marks){.all = NULL};
}

/* Those from `undone_from` on are undone. */
static int mark_all(struct hook_marks *marks, const struct host *host, struct tidings_span text,
                    size_t undone_from) {
  const char *at = text.ptr;
  uint64_t delivery = 0;
  while ((at = hook_proof_next(host, text, at, &delivery))) {
    size_t offset = (size_t)(at - text.ptr);
    if (add_mark(marks, delivery, offset, offset >= undone_from)) return -1;
  }
  return 0;
}

/* -- Gemini CLI -------------------------------------------------------------------------------- */

/* What is after the last message that is left was taken back, or stopped. What is before the first
 * one was left by /chat resume, which writes each message anew before that line. A compaction keeps
 * the messages at the end, or ends with a new one. */
static void undo_by_line(struct hook_marks *marks, struct tidings_span text, const char *line,
                         const struct hook_places *places) {
  static const char id[] = "{\"id\":\"", messages[] = "{\"$set\":{\"messages\":[";
  const char *end = hook_text_line_end(line, text.ptr + text.len),
             *last = hook_text_find_last(line, end, span_of(id, sizeof id - 1));
  if (!last) return;
  struct tidings_span kept = hook_place_id(last, end),
                      first = hook_place_id(line + sizeof messages - 1, end);
  size_t at = (size_t)(line - text.ptr), kept_at = hook_places_last(places, kept, at),
         first_at = hook_places_first_line(places, first, at);
  if (kept_at != SIZE_MAX) undo(marks, kept_at, at);
  if (first_at != SIZE_MAX) undo(marks, 0, first_at);
}

static int undo_by_lines(struct hook_marks *marks, struct tidings_span text, const char *anew) {
  const char *end = text.ptr + text.len, *at = text.ptr;
  struct hook_places places;
  if (hook_places_read(text, &places)) return -1;
  for (; (at = hook_text_find_line(text.ptr, at, end, span_text(anew))); at++)
    undo_by_line(marks, text, at, &places);
  hook_places_finish(&places);
  return 0;
}

/* -- Claude Code ------------------------------------------------------------------------------- */

static void undo_after_sibling(struct hook_marks *marks, const char *text,
                               const struct hook_prompt *prompts, size_t count) {
  const struct hook_prompt *last = &prompts[count];
  for (size_t i = 0; i < count; i++) {
    if (!span_equal(prompts[i].parent, last->parent)) continue;
    undo(marks, (size_t)(prompts[i].start - text), (size_t)(last->start - text));
    return;
  }
}

/* Of more prompts than fit the newest ones take nothing back. */
static int undo_by_siblings(struct hook_marks *marks, struct tidings_span text) {
  struct hook_prompt *prompts = calloc(MOST_PROMPTS, sizeof *prompts), *prompt = prompts;
  size_t count = 0;
  for (const char *at = text.ptr;
       prompts && count < MOST_PROMPTS && hook_recent_prompt(text, at, prompt);
       at = hook_text_line_end(prompt->start, text.ptr + text.len), prompt = &prompts[++count])
    undo_after_sibling(marks, text.ptr, prompts, count);
  int code = prompts ? 0 : -1;
  free(prompts);
  return code;
}

/* -- Qwen Code --------------------------------------------------------------------------------- */

/* `at` is in the record. */
static void undo_by_record(struct hook_marks *marks, struct tidings_span text, const char *at) {
  static const char name[] = "\"parentUuid\":\"";
  const char *line = hook_text_line_start(text.ptr, at),
             *parent = hook_text_find(line, at, span_of(name, sizeof name - 1));
  struct tidings_span uuid = hook_text_quoted(parent ? parent : at, at, name);
  char *words = NULL;
  if (!uuid.len || asprintf(&words, "{\"uuid\":\"%.*s\"", (int)(uuid.len - sizeof name + 1),
                            uuid.ptr + sizeof name - 1) < 0)
    return;
  const char *kept = hook_text_find_last_line(text.ptr, line, span_text(words));
  if (kept)
    undo(marks, (size_t)(hook_text_line_end(kept, line) - text.ptr), (size_t)(line - text.ptr));
  free(words);
}

static void undo_by_records(struct hook_marks *marks, struct tidings_span text) {
  const char *end = text.ptr + text.len, *at = text.ptr;
  for (int i = 0; i < MOST_REWINDS && (at = hook_recent_rewind(at, end)); i++, at++)
    undo_by_record(marks, text, at);
}

/* -- Codex ------------------------------------------------------------------------------------- */

struct base {
  char id[64];  /* the end of its file's name; "": there is none */
  size_t bytes; /* what stays of it */
  bool unread;  /* whether there is one is not known: the file that says so was not read whole */
};

static struct base base_of(struct tidings_span text) {
  static const char words[] = "\"history_base\":{\"thread_id\":\"",
                    length[] = "\"end_byte_offset\":";
  const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
  const char *at = end ? hook_text_find(text.ptr, end, span_of(words, sizeof words - 1)) : NULL;
  struct base base = {.id = ""};
  struct tidings_span id = at ? hook_text_quoted(at, end, words) : span_of(text.ptr, 0);
  const char *bytes = at ? hook_text_find(at, end, span_of(length, sizeof length - 1)) : NULL;
  size_t len = id.len ? id.len - (sizeof words - 1) : 0;
  if (!bytes || !isdigit((unsigned char)bytes[sizeof length - 1]) || len >= sizeof base.id)
    return base;
  memcpy(base.id, id.ptr + sizeof words - 1, len);
  base.bytes = strtoull(bytes + sizeof length - 1, NULL, 10); /* the line's end ends it */
  return base;
}

static bool is_file_of(const char *path, const char *id) {
  size_t len = strlen(path), id_len = strlen(id), end_len = strlen(".jsonl");
  return len > id_len + end_len && strncmp(path + len - id_len - end_len, id, id_len) == 0;
}

/* All files of the session, in the folders of all days: PATH is …/sessions/YEAR/MONTH/DAY/
 * rollout-TIME-SESSION_FILE.jsonl. */
static bool find_files(const char *path, glob_t *ret_files) {
  enum { UUID = 36 };
  const char *slash = strrchr(path, '/'), *mark = slash ? strrchr(slash, '_') : NULL;
  char *pattern = NULL;
  if (!mark || mark - slash <= UUID) return false;
  int len = asprintf(&pattern, "%.*s/../../../*/*/*/rollout-*%.*s*.jsonl", (int)(slash - path),
                     path, UUID, mark - UUID);
  bool found = len >= 0 && glob(pattern, GLOB_NOSORT, NULL, ret_files) == 0;
  if (len >= 0) free(pattern);
  return found;
}

/* Its whole lines, but for the first one of a file that is not read whole. Free *ret_read. */
static struct tidings_span read_lines(const char *path, size_t most, char **ret_read,
                                      bool *ret_whole) {
  size_t len = 0;
  char *read = *ret_read = hook_transcript_end(path, most, &len, ret_whole);
  const char *last = read ? memrchr(read, '\n', len) : NULL;
  return span_of(read, last ? (size_t)(last - read) + 1 : 0);
}

/* Of a file of which only the end could be read nothing is known. */
static int mark_file(struct hook_marks *marks, const struct host *host, const char *path,
                     size_t undone_from, struct base *ret_base) {
  bool whole = false;
  char *read = NULL;
  struct tidings_span text = read_lines(path, MOST, &read, &whole);
  int code = read && whole ? mark_all(marks, host, text, undone_from) : 0;
  *ret_base = read && whole ? base_of(text) : (struct base){.unread = true};
  free(read);
  return code;
}

/* Those that are not among the ones that stay, in whole or in part, are undone; nothing is said of
 * them if one that stays is not there or was not read, because more may stay. */
static int mark_files(struct hook_marks *marks, const struct host *host, struct base base,
                      const glob_t *files, bool *seen) {
  int code = 0;
  for (size_t i = 0; !code && base.id[0] && i < files->gl_pathc;) {
    bool next = !seen[i] && is_file_of(files->gl_pathv[i], base.id);
    if (next) {
      seen[i] = true;
      code = mark_file(marks, host, files->gl_pathv[i], base.bytes, &base);
    }
    i = next ? 0 : i + 1;
  }
  if (base.id[0] || base.unread) return code;
  for (size_t i = 0; !code && i < files->gl_pathc && i < MOST_FILES; i++) {
    if (!seen[i]) code = mark_file(marks, host, files->gl_pathv[i], 0, &base);
  }
  return code;
}

static int undo_by_files(struct hook_marks *marks, const struct host *host, const char *path,
                         struct tidings_span text) {
  const char *slash = strrchr(path, '/');
  struct base base = base_of(text);
  glob_t files;
  if (!base.id[0] || !find_files(path, &files)) return 0;
  bool *seen = calloc(files.gl_pathc, sizeof *seen);
  for (size_t i = 0; seen && i < files.gl_pathc; i++)
    seen[i] = strcmp(strrchr(files.gl_pathv[i], '/'), slash) == 0;
  int code = seen ? mark_files(marks, host, base, &files, seen) : -1;
  free(seen);
  globfree(&files);
  return code;
}

/* ---------------------------------------------------------------------------------------------- */

static int undo_as_said(struct hook_marks *marks, const struct host *host, const char *path,
                        struct tidings_span text) {
  switch (host->undoing) {
  case HOST_UNDOES_BY_SIBLINGS: return undo_by_siblings(marks, text);
  case HOST_UNDOES_BY_FILES: return undo_by_files(marks, host, path, text);
  case HOST_UNDOES_BY_LINES: return undo_by_lines(marks, text, host->anew);
  case HOST_UNDOES_BY_RECORDS: undo_by_records(marks, text); return 0;
  default: return 0;
  }
}

/* As much of the end as may say something; nothing if that says that nothing was taken back. */
static struct tidings_span read_needed(const char *path, const struct host *host, char **ret_read) {
  bool whole = false;
  for (size_t most = RECENT;; most *= 4) {
    struct tidings_span text = read_lines(path, most < MOST ? most : MOST, ret_read, &whole);
    if (!text.len || whole || most >= MOST) return text;
    if (!hook_recent_may_undo(host, text)) return span_of(NULL, 0);
    free(*ret_read);
  }
}

int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks) {
  struct hook_marks marks = {.all = NULL};
  char *read = NULL;
  struct tidings_span text = read_needed(path, host, &read);
  int code = text.len ? mark_all(&marks, host, text, SIZE_MAX) : 0;
  if (!code && text.len) code = undo_as_said(&marks, host, path, text);
  if (!code) undo_noted(&marks);
  if (!code && marks.count) qsort(marks.all, marks.count, sizeof *marks.all, compare_marks);
  free(read);
  if (code) hook_marks_finish(&marks);
  else *ret_marks = marks;
  return code;
}
