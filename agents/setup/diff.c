/* SPDX-License-Identifier: MIT
 *
 * agents/setup/diff.c: prints a change as a unified diff. Common lines at both ends are skipped;
 * the rest is small in a configuration file, so a simple longest common subsequence is fast enough.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/change.h"
#include "command/terminal.h"

enum { CONTEXT = 3, QUIET = 2 * CONTEXT, MOST_COMPARED = 2000 };

struct lines {
  const char **start; /* count + 1 of them */
  size_t count;
};

struct diff {
  struct lines old, new;
  bool *removed, *added; /* one for each line */
};

static int split(const char *text, struct lines *ret_lines) {
  size_t count = 0;
  for (const char *at = text; *at; count++) {
    const char *end = strchr(at, '\n');
    at = end ? end + 1 : at + strlen(at);
  }
  const char **start = calloc(count + 1, sizeof *start);
  if (!start) return -1;
  const char *at = text;
  for (size_t i = 0; i <= count; i++) {
    start[i] = at;
    const char *end = strchr(at, '\n');
    at = end ? end + 1 : at + strlen(at);
  }
  *ret_lines = (struct lines){start, count};
  return 0;
}

static bool same(const struct diff *diff, size_t old, size_t new) {
  size_t len = (size_t)(diff->old.start[old + 1] - diff->old.start[old]);
  return len == (size_t)(diff->new.start[new + 1] - diff->new.start[new]) &&
         memcmp(diff->old.start[old], diff->new.start[new], len) == 0;
}

static int compare(struct diff *diff) {
  size_t first = 0, old_end = diff->old.count, new_end = diff->new.count;
  while (first < old_end && first < new_end && same(diff, first, first)) first++;
  while (old_end > first && new_end > first && same(diff, old_end - 1, new_end - 1))
    old_end--, new_end--;
  size_t rows = old_end - first, columns = new_end - first;
  for (size_t i = first; i < old_end; i++) diff->removed[i] = true;
  for (size_t i = first; i < new_end; i++) diff->added[i] = true;
  if (!rows || !columns || rows > MOST_COMPARED || columns > MOST_COMPARED) return 0;
  unsigned *length = calloc((rows + 1) * (columns + 1), sizeof *length);
  if (!length) return -1;
  size_t width = columns + 1;
  for (size_t r = rows; r-- > 0;) {
    for (size_t c = columns; c-- > 0;) {
      unsigned down = length[(r + 1) * width + c], right = length[r * width + c + 1];
      length[r * width + c] = same(diff, first + r, first + c) ? length[(r + 1) * width + c + 1] + 1
                              : down > right                   ? down
                                                               : right;
    }
  }
  for (size_t r = 0, c = 0; r < rows && c < columns;) {
    if (same(diff, first + r, first + c))
      diff->removed[first + r++] = diff->added[first + c++] = false;
    else if (length[(r + 1) * width + c] >= length[r * width + c + 1]) r++;
    else c++;
  }
  free(length);
  return 0;
}

static void print_line(FILE *out, char sign, const struct lines *lines, size_t i) {
  size_t len = (size_t)(lines->start[i + 1] - lines->start[i]);
  bool whole = len && lines->start[i][len - 1] == '\n';
  fputc(sign, out);
  terminal_bytes(out, lines->start[i], len - whole);
  fputs(whole ? "\n" : "\n\\ No newline at end of file\n", out);
}

/* A hunk begins CONTEXT lines before a change and ends when 2 * CONTEXT lines have no change; half
 * of these lines are shown. */
static void print_hunk(FILE *out, const struct diff *diff, size_t *old, size_t *new) {
  size_t back = *old < CONTEXT ? *old : CONTEXT, o = *old - back, n = *new - back, o_end = *old,
         n_end = *new, quiet = 0;
  while ((o_end < diff->old.count || n_end < diff->new.count) && quiet <= QUIET) {
    if (o_end < diff->old.count && diff->removed[o_end]) o_end++, quiet = 0;
    else if (n_end < diff->new.count && diff->added[n_end]) n_end++, quiet = 0;
    else o_end++, n_end++, quiet++;
  }
  size_t surplus = quiet > CONTEXT ? quiet - CONTEXT : 0;
  o_end -= surplus;
  n_end -= surplus;
  fprintf(out, "@@ -%zu,%zu +%zu,%zu @@\n", o_end > o ? o + 1 : o, o_end - o, n_end > n ? n + 1 : n,
          n_end - n);
  while (o < o_end || n < n_end) {
    if (o < o_end && diff->removed[o]) print_line(out, '-', &diff->old, o++);
    else if (n < n_end && diff->added[n]) print_line(out, '+', &diff->new, n++);
    else {
      print_line(out, ' ', &diff->old, o++);
      n++;
    }
  }
  *old = o_end;
  *new = n_end;
}

static void print_hunks(FILE *out, const struct diff *diff) {
  for (size_t old = 0, new = 0; old < diff->old.count || new < diff->new.count;) {
    if ((old < diff->old.count && diff->removed[old]) ||
        (new < diff->new.count && diff->added[new]))
      print_hunk(out, diff, &old, &new);
    else old++, new ++;
  }
}

void change_print(FILE *out, const struct change *change) {
  struct diff diff = {.removed = NULL};
  if (change_is_none(change)) return;
  const char *before = change->before ? change->before : "",
             *after = change->after ? change->after : "";
  if (split(before, &diff.old) || split(after, &diff.new)) goto out;
  diff.removed = calloc(diff.old.count + 1, sizeof *diff.removed);
  diff.added = calloc(diff.new.count + 1, sizeof *diff.added);
  if (!diff.removed || !diff.added || compare(&diff)) goto out;
  fputs("--- ", out);
  terminal_text(out, change->before ? change->path : "/dev/null");
  fputs("\n+++ ", out);
  terminal_text(out, change->after ? change->path : "/dev/null");
  fputc('\n', out);
  print_hunks(out, &diff);
out:
  free(diff.old.start);
  free(diff.new.start);
  free(diff.removed);
  free(diff.added);
}
