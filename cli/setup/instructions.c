/* SPDX-License-Identifier: MIT
 *
 * setup/instructions.c: a marked block in a Markdown file of the user's: what the model should know of the notifications that will come.
 */
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "scratch.h"
#include "setup/setup.h"

static const char first_line[] = "<!-- tidings: begin (tidings setup --remove takes this block out) -->";
static const char mark[] = "<!-- tidings: begin", last_line[] = "<!-- tidings: end -->";

static size_t line_of(const char *text, const char *at) {
  size_t line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

/* The block and the empty line before it. Returns 0; -1: one of its ends is missing: *ret_start is the other. */
static int find_block(const char *text, const char **ret_start, const char **ret_end) {
  const char *start = strstr(text, mark), *end = strstr(start ? start : text, last_line);
  if (!start && !end) {
    *ret_start = *ret_end = NULL;
    return 0;
  }
  *ret_start = start ? start : end;
  if (!start || !end || strstr(start + 1, mark) || strstr(end + 1, last_line)) return -1;
  if (start > text + 1 && start[-1] == '\n' && start[-2] == '\n') start--;
  end += strlen(last_line);
  end += *end == '\n';
  *ret_start = start;
  *ret_end = end;
  return 0;
}

static int take_out(const struct cli *cli, struct change *change) {
  const char *start = NULL, *end = NULL;
  if (!change->after) return 0;
  if (find_block(change->after, &start, &end))
    return cli_fail(cli, "%s: line %zu: a block of tidings' without its other end; mend it by hand", change->path,
                    line_of(change->after, start));
  if (!start) return 0;
  char *rest = NULL;
  if (asprintf(&rest, "%.*s%s", (int)(start - change->after), change->after, end) < 0) return cli_fail(cli, "out of memory");
  free(change->after);
  change->after = rest;
  if (rest[0]) return 0;
  free(rest);
  change->after = NULL;
  return 0;
}

int setup_instructions(const struct cli *cli, const char *text, struct change *change) {
  char *block = NULL, *whole = NULL;
  if (!text) return take_out(cli, change);
  if (asprintf(&block, "%s\n%s\n%s\n", first_line, text, last_line) < 0) return cli_fail(cli, "out of memory");
  if (change->after && strstr(change->after, block)) {
    free(block);
    return 0;
  }
  int code = take_out(cli, change);
  if (!code) {
    const char *old = change->after ? change->after : "";
    size_t len = strlen(old);
    const char *gap = !len ? "" : old[len - 1] == '\n' ? "\n" : "\n\n";
    if (asprintf(&whole, "%s%s%s", old, gap, block) < 0) code = cli_fail(cli, "out of memory");
  }
  if (!code) {
    free(change->after);
    change->after = whole;
  }
  free(block);
  return code;
}

/* The plugin is asked on a store that nobody keeps: setup does not touch the user's. */
int setup_instructions_text(const struct cli *cli, char **ret_text) {
  struct tidings_error error = {.size = sizeof error};
  struct cli scratch_cli = *cli;
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  char *folder = scratch_make(), *text = NULL;
  if (!folder) return cli_fail(cli, "cannot make a temporary folder");
  scratch_cli.store = folder;
  int32_t refused = kit_open(&scratch_cli, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  if (!refused) refused = kit_query(kit, json_pack("{s:s, s:s}", "name", "instructions", "session", "setup"), &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  const char *said = json_string_value(json_object_get(answer, "text"));
  if (!code && !(text = strdup(said ? said : ""))) code = cli_fail(cli, "out of memory");
  for (size_t len = text ? strlen(text) : 0; len && text[len - 1] == '\n';) text[--len] = '\0';
  json_decref(answer);
  kit_close(kit);
  scratch_remove(folder);
  if (!code) *ret_text = text;
  return code;
}
