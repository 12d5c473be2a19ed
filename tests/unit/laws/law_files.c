/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_files.c: a list of files is made of reports of changed files alone. It names
 * each file or counts it, and says what became of it.
 */
#include <ctype.h>
#include <stdio.h>

#include "laws.h"

/* What a line says, and how it should be. Paths are numbers of round->paths. */
struct listed {
  struct tidings_span rest;              /* bare */
  struct tidings_span paths[MOST_PATHS]; /* bare; empty: no item of the line has it */
  bool undone[MOST_PATHS];               /* it may have been created and deleted */
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

/* Was it created and, later, deleted? Then both may be gone. */
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

/* The last change; what was created and modified was created. */
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
      listed->undone[p] = may_be_undone(round, facts->paths[f]);
    }
  }
}

/* -- what is said ------------------------------------------------------------------------------ */

/* The longest path that stands here. */
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

/* ",and3more", ",and3moreindir1", ",and3morein2folders". */
static bool take_more(struct listed *listed) {
  struct tidings_span rest = listed->rest;
  size_t digits = 0, more = 0;
  if (!skip(&rest, span_text(",and"))) return false;
  for (; digits < rest.len && isdigit((unsigned char)rest.ptr[digits]); digits++)
    more = 10 * more + (size_t)(rest.ptr[digits] - '0');
  rest = span_of(rest.ptr + digits, rest.len - digits);
  if (!digits || !skip(&rest, span_text("more"))) return false;
  if (rest.len && !skip(&rest, span_text("in"))) return false;
  listed->more = more;
  listed->rest = rest;
  return true;
}

/* "`a` was created externally." */
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

static void take_list(const struct round *round, size_t line, struct listed *listed) {
  bool mixed = skip(&listed->rest, span_text("Fileschanged:"));
  LAW(round, mixed || skip(&listed->rest, span_text("Multiplefiles")), "neither item nor list",
      line);
  int change = take_change(listed);
  LAW(round, change != NOT_NAMED, "a list without a change", line);
  LAW(round, mixed || skip(&listed->rest, span_text(":")), "a list without a colon", line);
  for (;;) {
    size_t path = take_path(listed);
    LAW(round, path < MOST_PATHS, "a path that no item of the line has", listed->rest.len);
    LAW(round, listed->named[path] == NOT_NAMED, "a path that is named twice", path);
    listed->named[path] = change;
    if (!listed->rest.len || take_more(listed)) return;
    if (skip(&listed->rest, span_text(","))) continue;
    LAW(round, mixed && skip(&listed->rest, span_text(";")), "no end of a path", path);
    change = take_change(listed);
    LAW(round, change != NOT_NAMED, "a list without a change", path);
  }
}

/* -- both -------------------------------------------------------------------------------------- */

static struct tidings_span folder_of(struct tidings_span path) {
  size_t len = path.len;
  while (len && path.ptr[len - 1] != '/') len--;
  return span_of(path.ptr, len ? len - 1 : 0);
}

/* Where the files are that are only counted. */
static void expect_folders(const struct round *round, size_t line, const struct listed *listed) {
  struct tidings_span folders[MOST_PATHS];
  size_t count = 0;
  char several[32];
  for (size_t p = 0; p < MOST_PATHS; p++) {
    if (!listed->paths[p].len || listed->named[p] != NOT_NAMED) continue;
    struct tidings_span folder = folder_of(round->paths[p]);
    size_t f = 0;
    while (f < count && !span_equal(folders[f], folder)) f++;
    if (f == count) folders[count++] = folder;
  }
  (void)snprintf(several, sizeof several, "%zufolders", count);
  LAW(round, count == 1 ? span_equal(listed->rest, folders[0]) : span_is(listed->rest, several),
      "where the other files are", line);
}

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
  if (listed->more && least == most) expect_folders(round, line, listed);
}

/* What was undone may be named because of a later change. */
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
  if (!take_single(&listed)) take_list(round, line, &listed);
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
