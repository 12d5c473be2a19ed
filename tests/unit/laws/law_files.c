/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_files.c: a list of files is made of reports of changed files alone. It names
 * each file or counts it, and says what became of it.
 */
#include <ctype.h>
#include <stdio.h>

#include "laws.h"

/* The text of a line, and the names that it should have. Paths are indices of round->paths. */
struct listed {
  struct tidings_span rest;              /* bare */
  struct tidings_span paths[MOST_PATHS]; /* bare; empty: no item of the line has it */
  bool undone[MOST_PATHS];               /* it may have been created and deleted, or left out */
  int named[MOST_PATHS];                 /* its change; NOT_NAMED */
  size_t more;
};
enum { NOT_NAMED = -1 };

static const char *const change_names[] = {"modified", "created", "deleted", "renamed"};

static bool skip(struct tidings_span *text, struct tidings_span prefix) {
  if (text->len < prefix.len || memcmp(text->ptr, prefix.ptr, prefix.len) != 0) return false;
  *text = span_of(text->ptr + prefix.len, text->len - prefix.len);
  return true;
}

static size_t number_of(const struct round *round, struct tidings_span path) {
  size_t p = 0;
  while (p < MOST_PATHS && !span_equal(round->paths[p], path)) p++;
  return p;
}

static struct tidings_span bare_in_arena(struct arena *arena, struct tidings_span text) {
  struct buffer bare = BUFFER_EMPTY;
  struct tidings_span copy = {NULL, 0};
  reading_write_bare(text, &bare);
  cr_assert(!bare.failed && !arena_copy(arena, buffer_view(&bare), &copy));
  buffer_free(&bare);
  return copy;
}

/* -- what should be said ----------------------------------------------------------------------- */

static bool names(const struct item *item, struct tidings_span path) {
  for (size_t p = 0; p < item->facts.path_count; p++)
    if (span_equal(item->facts.paths[p], path)) return true;
  return false;
}

/* Has the assistant itself changed the file? Then a report may leave it out. */
static bool may_be_own(const struct round *round, struct tidings_span path) {
  for (size_t i = 0; i < round->items.count; i++) {
    const struct item *item = &round->items.items[i];
    if (is_file(round, i) && item->note.caused_by.len && names(item, path)) return true;
  }
  return false;
}

/* Was the file created and later deleted? Then both reports may have ended. */
static bool may_be_undone(const struct round *round, struct tidings_span path) {
  bool created = false;
  for (size_t i = 0; i < round->items.count; i++) {
    const struct item *item = &round->items.items[i];
    if (!is_file(round, i) || !names(item, path)) continue;
    if (created && item->facts.change == FILE_DELETED) return true;
    created = created || item->facts.change == FILE_CREATED;
  }
  return false;
}

/* Returns the last change of a path; a file that was created and modified counts as created. */
static int change_of(const struct round *round, size_t line, struct tidings_span path) {
  int change = NOT_NAMED;
  for (size_t i = 0; i < round->items.count; i++) {
    const struct item *item = &round->items.items[i];
    if (round->lines[i] != line || !names(item, path)) continue;
    if (change != FILE_CREATED || item->facts.change != FILE_MODIFIED) change = item->facts.change;
  }
  return change;
}

static void gather(const struct round *round, size_t line, struct arena *arena,
                   struct listed *listed) {
  for (size_t p = 0; p < MOST_PATHS; p++) listed->named[p] = NOT_NAMED;
  for (size_t i = 0; i < round->items.count; i++) {
    const struct facts *facts = &round->items.items[i].facts;
    if (round->lines[i] != line) continue;
    LAW(round, is_file(round, i) && !is_critical(round, i), "a list of what are no files", i);
    for (size_t f = 0; f < facts->path_count; f++) {
      size_t p = number_of(round, facts->paths[f]);
      listed->paths[p] = bare_in_arena(arena, facts->paths[f]);
      listed->undone[p] =
          may_be_undone(round, facts->paths[f]) || may_be_own(round, facts->paths[f]);
    }
  }
}

/* -- what is said ------------------------------------------------------------------------------ */

/* Takes the longest path with which the text begins. */
static size_t take_path(struct listed *listed) {
  size_t found = MOST_PATHS;
  for (size_t p = 0; p < MOST_PATHS; p++) {
    struct tidings_span rest = listed->rest;
    if (!listed->paths[p].len || !skip(&rest, listed->paths[p])) continue;
    if (found == MOST_PATHS || listed->paths[p].len > listed->paths[found].len) found = p;
  }
  if (found < MOST_PATHS) skip(&listed->rest, listed->paths[found]);
  return found;
}

static int take_change(struct listed *listed) {
  for (int change = FILE_MODIFIED; change <= FILE_RENAMED; change++)
    if (skip(&listed->rest, span_text(change_names[change]))) return change;
  return NOT_NAMED;
}

static bool take_number(struct listed *listed, size_t *ret_number) {
  struct tidings_span rest = listed->rest;
  size_t digits = 0, number = 0;
  for (; digits < rest.len && isdigit((unsigned char)rest.ptr[digits]); digits++)
    number = 10 * number + (size_t)(rest.ptr[digits] - '0');
  listed->rest = span_of(rest.ptr + digits, rest.len - digits);
  *ret_number = number;
  return digits > 0;
}

/* Takes "`a` was created externally." */
static bool take_single(struct listed *listed) {
  struct tidings_span rest = listed->rest;
  if (!skip(&listed->rest, span_text("`"))) return false;
  size_t path = take_path(listed);
  if (path < MOST_PATHS && skip(&listed->rest, span_text("`was"))) {
    listed->named[path] = take_change(listed);
    if (skip(&listed->rest, span_text("externally.")) && !listed->rest.len) return true;
  }
  listed->rest = rest;
  return false;
}

/* Takes names with commas between them, until something else follows. A bare text has no ellipsis,
 * which is not ASCII, but it has the comma before it. */
static size_t take_names(const struct round *round, int change, struct listed *listed) {
  size_t count = 0;
  for (;; count++) {
    struct tidings_span rest = listed->rest;
    if (count && !skip(&listed->rest, span_text(","))) return count;
    size_t path = take_path(listed);
    if (path == MOST_PATHS) {
      LAW(round, count, "a list without a path", rest.len);
      listed->rest = rest;
      return count;
    }
    LAW(round, listed->named[path] == NOT_NAMED, "a path that is named twice", path);
    listed->named[path] = change;
  }
}

/* Takes "Multiple files modified: a, b" or "Files changed: modified a; created b". */
static void take_list(const struct round *round, size_t line, struct listed *listed) {
  bool mixed = skip(&listed->rest, span_text("Fileschanged:"));
  LAW(round, mixed || skip(&listed->rest, span_text("Multiplefiles")), "neither item nor list",
      line);
  int change = take_change(listed);
  LAW(round, change != NOT_NAMED, "a list without a change", line);
  LAW(round, mixed || skip(&listed->rest, span_text(":")), "a list without a colon", line);
  for (;;) {
    (void)take_names(round, change, listed);
    if (!listed->rest.len) return;
    LAW(round, mixed && skip(&listed->rest, span_text(";")), "no end of a path", line);
    change = take_change(listed);
    LAW(round, change != NOT_NAMED, "a list without a change", line);
  }
}

/* Takes the words after the names of a change, if not all files are named. */
static void take_rest(const struct round *round, size_t count, size_t named,
                      struct listed *listed) {
  LAW(round, named <= count, "more names than files", named);
  LAW(round, (named < count) == skip(&listed->rest, span_text(",")), "an ellipsis", named);
  listed->more += count - named;
}

static void take_counts(const struct round *round, size_t all, struct listed *listed) {
  size_t sum = 0;
  for (const char *between = ":"; listed->rest.len; between = ",") {
    size_t count = 0, named = 0;
    LAW(round, skip(&listed->rest, span_text(between)), "no end of a change", listed->rest.len);
    LAW(round, take_number(listed, &count), "a change without a number", listed->rest.len);
    int change = take_change(listed);
    LAW(round, change != NOT_NAMED, "a number without a change", count);
    sum += count;
    if (skip(&listed->rest, span_text("("))) {
      named = take_names(round, change, listed);
      take_rest(round, count, named, listed);
      LAW(round, skip(&listed->rest, span_text(")")), "an open list", listed->rest.len);
    } else {
      listed->more += count;
    }
  }
  LAW(round, sum == all, "the number of all", all);
}

/* If all files are in one folder, takes its name, which is written once; the paths continue from
 * there. */
static void take_folder(struct listed *listed) {
  static const char *const folders[] = {"dir0/", "dir1/", "dir2/"};
  if (!skip(&listed->rest, span_text("in"))) return;
  for (size_t i = 0; i < 3; i++) {
    if (!skip(&listed->rest, span_text(folders[i]))) continue;
    for (size_t p = 0; p < MOST_PATHS; p++) (void)skip(&listed->paths[p], span_text(folders[i]));
  }
}

/* Takes "65 files changed in src/: 5 deleted (a, b, …), 60 modified (c, …)" or "40 files created:
 * a, …". */
static bool take_counted(const struct round *round, struct listed *listed) {
  struct tidings_span rest = listed->rest;
  size_t all = 0;
  if (!take_number(listed, &all) || !skip(&listed->rest, span_text("files"))) {
    listed->rest = rest;
    return false;
  }
  bool mixed = skip(&listed->rest, span_text("changed"));
  int change = mixed ? NOT_NAMED : take_change(listed);
  LAW(round, mixed || change != NOT_NAMED, "a number without a change", all);
  take_folder(listed);
  if (mixed) {
    take_counts(round, all, listed);
    return true;
  }
  LAW(round, skip(&listed->rest, span_text(":")), "a list without a colon", all);
  take_rest(round, all, take_names(round, change, listed), listed);
  LAW(round, !listed->rest.len, "no end of a list", listed->rest.len);
  return true;
}

/* -- both -------------------------------------------------------------------------------------- */

static void expect_each_file(const struct round *round, size_t line, const struct listed *listed) {
  size_t named = 0, least = 0, most = 0;
  for (size_t p = 0; p < MOST_PATHS; p++) {
    if (!listed->paths[p].len) continue;
    most++;
    least += !listed->undone[p];
    named += listed->named[p] != NOT_NAMED;
    if (listed->named[p] != NOT_NAMED && !listed->undone[p])
      LAW(round, listed->named[p] == change_of(round, line, round->paths[p]), "another change", p);
  }
  LAW(round, named + listed->more >= least && named + listed->more <= most,
      "each file is named or counted", line);
  LAW(round, named <= 20, "more than twenty files by name", line);
}

/* An undone change may be named because of a later one. */
static bool is_any_named(const struct round *round, const struct listed *listed, size_t i,
                         bool or_undone) {
  for (size_t p = 0; p < MOST_PATHS; p++) {
    if (listed->named[p] != NOT_NAMED && (or_undone || !listed->undone[p]) &&
        names(&round->items.items[i], round->paths[p]))
      return true;
  }
  return false;
}

void law_list_of_files(const struct round *round, size_t line) {
  struct arena arena = ARENA_EMPTY;
  struct listed listed = {.more = 0};
  gather(round, line, &arena, &listed);
  listed.rest = bare_in_arena(&arena, round->reading.lines[line].text);
  if (!take_single(&listed) && !take_counted(round, &listed)) take_list(round, line, &listed);
  expect_each_file(round, line, &listed);
  for (size_t i = 0; i < round->items.count; i++) {
    if (round->lines[i] != line) continue;
    bool counted = round->dispositions[i]->reason == REASON_COUNTED;
    LAW(round, counted || round->dispositions[i]->reason == REASON_SHOWN, "a list is not cut", i);
    LAW(round,
        counted ? !is_any_named(round, &listed, i, false) : is_any_named(round, &listed, i, true),
        "counted, or named", i);
    LAW(round, !counted || listed.more, "what is counted has a number", i);
  }
  arena_free(&arena);
}
