/* SPDX-License-Identifier: MIT
 *
 * Excerpts of the output of commands. outputs/ has the output of real tools, shown/ the excerpt of
 * each: the lines that say why, and the last lines.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/excerpt/excerpt.h"
#include "cli/run/tail.h"
#include "kit.h"

struct shown {
  char *errors, *last;
  bool is_long;
};

static struct shown show_in_parts(struct tidings_span output, size_t part, bool unmasked,
                                  size_t count) {
  struct excerpt *excerpt = calloc(1, sizeof *excerpt);
  struct shown shown;
  cr_assert_not_null(excerpt);
  excerpt->unmasked = unmasked;
  for (size_t at = 0; at < output.len; at += part)
    excerpt_add(excerpt, output.ptr + at, output.len - at < part ? output.len - at : part);
  excerpt_end(excerpt);
  shown.errors = excerpt_errors(excerpt, count, UINT64_MAX);
  shown.last = excerpt_last(excerpt, count, &shown.is_long);
  free(excerpt);
  return shown;
}

static struct shown show(const char *output) {
  return show_in_parts(span_text(output), SIZE_MAX, false, EXCERPT_LINES);
}

static void free_shown(struct shown shown) {
  free(shown.errors);
  free(shown.last);
}

static void expect_shown(const char *output, const char *errors, const char *last) {
  struct shown shown = show(output);
  cr_expect_str_eq(shown.errors, errors, "of %s:\n%s\nnot\n%s", output, shown.errors, errors);
  cr_expect_str_eq(shown.last, last, "of %s:\n%s\nnot\n%s", output, shown.last, last);
  free_shown(shown);
}

/* -- real outputs ------------------------------------------------------------------------------ */

static struct buffer read_output(const char *name) {
  char path[512], chunk[4096];
  struct buffer output = BUFFER_EMPTY;
  (void)snprintf(path, sizeof path, "%s/%s", TIDINGS_OUTPUTS, name);
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s cannot be opened", path);
  for (size_t len; (len = fread(chunk, 1, sizeof chunk, file)) > 0;)
    buffer_append(&output, chunk, len);
  (void)fclose(file);
  return output;
}

/* However the output comes, the same is shown. */
static void expect_file(const char *name) {
  struct buffer output = read_output(name), text = BUFFER_EMPTY;
  struct shown shown = show_in_parts(buffer_view(&output), SIZE_MAX, false, EXCERPT_LINES);
  char golden[512];
  (void)snprintf(golden, sizeof golden, "../../excerpt/shown/%s", name);
  buffer_format(&text, "Lines of the log that say why:\n%s\nThe last lines:\n%s\n", shown.errors,
                shown.last);
  expect_golden(golden, buffer_view(&text));
  for (size_t part = 1; part < 8; part += 3) {
    struct shown again = show_in_parts(buffer_view(&output), part, false, EXCERPT_LINES);
    cr_expect_str_eq(again.errors, shown.errors, "%s in parts of %zu", name, part);
    cr_expect_str_eq(again.last, shown.last, "%s in parts of %zu", name, part);
    free_shown(again);
  }
  free_shown(shown);
  buffer_free(&output);
  buffer_free(&text);
}

Test(excerpt, shows_why_real_tools_failed) {
  DIR *folder = opendir(TIDINGS_OUTPUTS);
  size_t count = 0;
  cr_assert_not_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    expect_file(entry->d_name);
    count++;
  }
  closedir(folder);
  cr_expect_geq(count, 50, "%zu outputs", count);
}

/* The recorded outputs do not show these. Each line alone is the reason. */
Test(excerpt, knows_the_lines_of_other_tools) {
  static const char *const lines[] = {
      "Program.cs(3,9): error CS0103: The name 'x' does not exist [/srv/a.csproj]",
      "Unhandled exception. System.Exception: no such record",
      "Sources/App/main.swift:3:5: error: cannot find 'y' in scope",
      "[ERROR] /srv/src/A.java:[3,17] incompatible types: String cannot be converted to int",
      "[ERROR]   ArrayTest.findsNothing:4 expected:<3> but was:<-1>",
      "e: file:///srv/A.kt:3:5 Unresolved reference: y",
      "ERROR: failed to solve: process \"/bin/sh -c make\" did not complete successfully",
      "Error from server (NotFound): pods \"web\" not found",
      "\xE2\x94\x82 Error: Reference to undeclared input variable",
      "ERROR:  relation \"users\" does not exist",
      "psql:a.sql:3: ERROR:  syntax error at or near \"selec\"",
      "fatal: not a git repository (or any of the parent directories): .git",
      " ! [rejected]        main -> main (fetch first)",
      "ninja: error: 'a.c', needed by 'a.o', missing and no known rule to make it",
      "** (CompileError) lib/a.ex:3: undefined function f/0",
      "src/a.ts:3:5 - error TS2304: Cannot find name 'y'.",
      "goroutine panic: x", /* weak */
      "cp: cannot create regular file '/a': Permission denied",
      "curl: (7) Failed to connect to localhost port 1: Connection refused",
      "Killed",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct buffer output = BUFFER_EMPTY;
    size_t blanks = strspn(lines[i], " ");
    buffer_text(&output, "begin\n");
    buffer_format(&output, "%s\n", lines[i]);
    for (int line = 0; line < 9; line++) buffer_format(&output, "line %d\n", line);
    char *text = buffer_take(&output), expected[512];
    (void)snprintf(expected, sizeof expected, "2: %s", lines[i] + blanks);
    expect_shown(text, expected, "line 3\nline 4\nline 5\nline 6\nline 7\nline 8");
    free(text);
  }
}

/* -- which lines ------------------------------------------------------------------------------- */

#define SIX "a\nb\nc\nd\ne\nf"

Test(excerpt, shows_the_first_failures_and_not_what_only_mentions_one) {
  static const struct {
    const char *output, *errors, *last;
  } cases[] = {
      {"", "", ""},
      {"\n \n", "", ""},
      {"one\ntwo\n", "", "one\ntwo"},
      {"no end", "", "no end"},
      {"a.c:3:1: error: x\n" SIX "\n", "1: a.c:3:1: error: x", SIX},
      /* what the last lines have is not shown twice */
      {"a.c:3:1: error: x\nb\nc\n", "", "a.c:3:1: error: x\nb\nc"},
      /* a statement counts more than a mention */
      {"the download failed\na.c:3:1: error: x\n" SIX "\n", "2: a.c:3:1: error: x", SIX},
      {"the download failed\n" SIX "\n", "1: the download failed", SIX},
      {"0 errors, 0 failures\nno errors\nwarning: error handling\n" SIX "\n", "", SIX},
      /* a test that is listed and one that failed */
      {"  1) listed\n  2) listed\n\n  1) failed\n     in this\n\n  Error: x\n" SIX "\n",
       "4: 1) failed\n5: in this\n7: Error: x", SIX},
      /* a failure that a summary repeats */
      {"Error: x\n" SIX "\nError: x\n" SIX "\n", "1: Error: x", SIX},
      /* in TAP */
      {"# Traceback (most recent call last):\n#   File \"a.py\", line 3, in f\n#     g()\n# Odd\n"
       "not ok 1 - f\n" SIX "\n",
       "2: File \"a.py\", line 3, in f\n4: Odd\n5: not ok 1 - f", SIX},
      /* a place without a failure */
      {"    at f (a.js:3:1)\n" SIX "\n", "", SIX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_shown(cases[i].output, cases[i].errors, cases[i].last);
}

Test(excerpt, shows_eight_lines_of_many_failures) {
  struct buffer output = BUFFER_EMPTY;
  for (int i = 1; i <= 1000; i++)
    buffer_format(&output, "FAIL: test_%d (T)\nError: %d\n  at f (a.js:3:1)\n\n", i, i);
  char *text = buffer_take(&output);
  struct shown shown = show(text);
  static const char eight[] =
      "2: Error: 1\n3: at f (a.js:3:1)\n6: Error: 2\n"
      "7: at f (a.js:3:1)\n"
      "10: Error: 3\n11: at f (a.js:3:1)\n14: Error: 4\n15: at f (a.js:3:1)";
  cr_expect_str_eq(shown.errors, eight, "%s", shown.errors);
  free_shown(shown);
  free(text);
}

/* -- one line for many ------------------------------------------------------------------------- */

Test(excerpt, makes_one_line_of_progress_and_repetition) {
  expect_shown("[ 1%] Building a.o\n[ 2%] Building b.o\n[100%] Linking\ndone\n", "",
               "[100%] Linking\ndone");
  expect_shown("x\n[1/3] a\n[2/3] b\n[3/3] c\ny\n", "", "x\n[3/3] c\ny");
  expect_shown("10%\r50%\r100%\nend\n", "", "100%\nend");
  expect_shown("same\nsame\nsame\n\nsame\nother\n", "", "same\nother");
  expect_shown("Downloading a  1.5%\nDownloading a 99.0%\nDownloading a 100%\nb\n", "",
               "Downloading a 100%\nb");
  expect_shown("1\n2\n3\n4\n5\n6\n7\n", "", "2\n3\n4\n5\n6\n7");
}

Test(excerpt, holds_for_any_length) {
  struct excerpt *excerpt = calloc(1, sizeof *excerpt);
  bool is_long = true;
  cr_assert_not_null(excerpt);
  excerpt_add(excerpt, "first\nError: x\n", 15);
  for (int i = 0; i < 300000; i++) excerpt_add(excerpt, "\r12% of it", 10);
  excerpt_add(excerpt, "\n", 1);
  for (int i = 0; i < 300000; i++) excerpt_add(excerpt, "the same line\n", 14);
  for (int i = 0; i < 20000; i++) excerpt_add(excerpt, "0123456789", 10);
  excerpt_add(excerpt, "\nlast\n", 6);
  excerpt_end(excerpt);
  char *errors = excerpt_errors(excerpt, 3, UINT64_MAX), *last = excerpt_last(excerpt, 3, &is_long);
  cr_expect_str_eq(errors, "2: Error: x", "%s", errors);
  cr_expect(strncmp(last, "the same line\n0123456789012", 27) == 0 &&
                strcmp(last + strlen(last) - 9, "789…\nlast") != 0 && !is_long,
            "%s", last);
  cr_expect_leq(strlen(last), (size_t)3 * (LAST_LINE_BYTES + 4));
  free(errors);
  free(last);
  free(excerpt);
}

Test(excerpt, numbers_only_what_the_log_has) {
  struct excerpt *excerpt = calloc(1, sizeof *excerpt);
  static const char output[] = "a\na.c:3:1: error: x\nb\na.c:4:1: error: y\n" SIX "\n";
  cr_assert_not_null(excerpt);
  excerpt_add(excerpt, output, sizeof output - 1);
  excerpt_end(excerpt);
  char *errors = excerpt_errors(excerpt, EXCERPT_LINES, 3);
  cr_expect_str_eq(errors, "2: a.c:3:1: error: x\na.c:4:1: error: y", "%s", errors);
  free(errors);
  free(excerpt);
}

/* -- secrets ----------------------------------------------------------------------------------- */

Test(excerpt, masks_secrets_unless_it_is_told_not_to) {
  struct buffer output = BUFFER_EMPTY;
  buffer_text(&output, "Error: password=hunter2\nx\n-----BEGIN PRIVATE KEY-----\nMIIEAAAA\n");
  buffer_text(&output, "-----END PRIVATE KEY-----\n\033[1mTOKEN=\033[0mabc\n");
  for (int i = 0; i < 40; i++) buffer_text(&output, "12345678 ");
  buffer_text(&output, "gh"
                       "p_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0\nb\nc\nd\n");
  struct tidings_span text = buffer_view(&output);
  struct shown masked = show_in_parts(text, 7, false, EXCERPT_LINES),
               open = show_in_parts(text, 7, true, EXCERPT_LINES);
  cr_expect_str_eq(masked.errors, "1: Error: password=[masked]", "%s", masked.errors);
  cr_expect_str_eq(open.errors, "1: Error: password=hunter2", "%s", open.errors);
  cr_expect(strncmp(masked.last, "[masked]\nTOKEN=[masked]\n1234", 28) == 0, "%s", masked.last);
  cr_expect(!strstr(masked.last, "p_a1") && strstr(open.last, "p_a1"), "%s", open.last);
  free_shown(masked);
  free_shown(open);
  buffer_free(&output);
}

/* The output of a command that waits. */
Test(excerpt, masks_the_tail_before_it_cuts_it) {
  static struct tail tail;
  static const char output[] = "PASSWORD=hunter2\nlog in as gh"
                               "p_a1B2c3D4e5F6g7H8i9J0a1B2c3D4? ";
  tail_add(&tail, output, sizeof output - 1);
  char *masked = tail_text(&tail, 20, 4000, false), *open = tail_text(&tail, 20, 4000, true),
       *end = tail_text(&tail, 1, 20, false);
  cr_expect_str_eq(masked, "PASSWORD=[masked]\nlog in as [masked]?", "%s", masked);
  cr_expect(strncmp(open, output, sizeof output - 2) == 0, "%s", open);
  cr_expect_str_eq(end, "log in as [masked]?", "%s", end);
  free(masked);
  free(open);
  free(end);
}
