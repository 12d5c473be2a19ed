/* SPDX-License-Identifier: MIT
 *
 * excerpt/failure.h: finds the lines of an output that state why a command failed. A pure function
 * of the lines, in bounded memory.
 */
#ifndef CLI_EXCERPT_FAILURE_H
#define CLI_EXCERPT_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/excerpt/pattern.h"
#include "common/span.h"

enum { FAILURE_LINES = 8, FAILURE_LINE_BYTES = 200, FAILURE_GROUPS = 8, FAILURE_GROUP_LINES = 7 };

struct failure_line {
  uint64_t number; /* its number in the output, from 1 */
  enum role role;
  size_t len;
  bool cut; /* the line is longer */
  char text[FAILURE_LINE_BYTES];
};

/* A failure: its title, statements, place and details, in the order of the output. */
struct failure_group {
  struct failure_line lines[FAILURE_GROUP_LINES];
  size_t count;
  bool has_statement, has_place;
};

/* Zero it to begin. */
struct failure {
  struct failure_group stated[FAILURE_GROUPS]; /* the first ones that have a statement */
  struct failure_group titled[FAILURE_GROUPS]; /* the first ones that have none */
  size_t stated_count, titled_count;
  struct failure_line weak[FAILURE_LINES]; /* the last lines that mention a failure: a ring */
  uint64_t weak_count;

  struct failure_group open; /* the group that may still grow; count 0: there is none */
  uint64_t open_at;          /* the number of its last line */
  struct failure_line maybe; /* is a title if the next line is indented deeper; number 0: there is
                                none */
  size_t maybe_indent;
  unsigned next; /* how many of the following lines still belong to the open group */
  enum role next_role;
  struct failure_line file;  /* the file of the statements below it; number 0: none */
  struct failure_line frame; /* the last frame of a traceback in the user's own code */
  bool in_trace;
  size_t trace_indent, title_indent;
  bool in_title; /* lines that are indented deeper continue the open title */
};

/* Adds a line of the output, as text without a line break. Call it for each line, in order. */
void failure_add(struct failure *failure, uint64_t number, struct tidings_span line);
/* Call once, after the last line. */
void failure_end(struct failure *failure);

/* Picks the lines to show: at most FAILURE_LINES, in the order of the output, without those from
 * number `before` on, which are shown anyway. Returns how many. The lines belong to `failure`. */
size_t failure_pick(const struct failure *failure, uint64_t before,
                    const struct failure_line *ret_lines[FAILURE_LINES]);

#endif
