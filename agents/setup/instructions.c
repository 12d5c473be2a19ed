/* SPDX-License-Identifier: MIT
 *
 * agents/setup/instructions.c: the marked block that setups before 1.0 put into a Markdown file of
 * the user's. The hook at a session's start says it now, for that session; so the block goes.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"

static const char mark[] = "<!-- tidings: begin", last_line[] = "<!-- tidings: end -->";

static size_t line_of(const char *text, const char *at) {
  size_t line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

/* The block and what separates it from the text above: an empty line, or the line break that the
 * text did not end with. Returns 0; -1: one of its ends is missing: *ret_start is the other. */
static int find_block(const char *text, const char **ret_start, const char **ret_end) {
  const char *start = strstr(text, mark), *end = strstr(start ? start : text, last_line);
  if (!start && !end) {
    *ret_start = *ret_end = NULL;
    return 0;
  }
  *ret_start = start ? start : end;
  if (!start || !end || strstr(start + 1, mark) || strstr(end + 1, last_line)) return -1;
  end += strlen(last_line);
  end += *end == '\n';
  bool line_above = start > text && start[-1] == '\n',
       empty_line_above = line_above && start > text + 1 && start[-2] == '\n';
  if (empty_line_above || (line_above && (!*end || *end == '\n'))) start--;
  *ret_start = start;
  *ret_end = end;
  return 0;
}

/* *ret_rest: the text without the block; NULL if there is no block in it. */
static int without_block(const struct cli *cli, struct change *change, char **ret_rest) {
  const char *start = NULL, *end = NULL, *text = change->after ? change->after : "";
  *ret_rest = NULL;
  if (find_block(text, &start, &end))
    return cli_fail(cli,
                    "%s: line %zu: a block of tidings lacks its first or last "
                    "line; fix the file by hand",
                    change->path, line_of(text, start));
  if (start && asprintf(ret_rest, "%.*s%s", (int)(start - text), text, end) < 0)
    return cli_fail(cli, "out of memory");
  change->has_ours = start != NULL;
  return 0;
}

int setup_instructions(const struct cli *cli, struct change *change) {
  char *rest = NULL;
  int code = without_block(cli, change, &rest);
  return code || !rest ? code : change_to_rest(cli, change, rest, !rest[0]);
}
