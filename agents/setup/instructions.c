/* SPDX-License-Identifier: MIT
 *
 * agents/setup/instructions.c: a marked block in a Markdown file of the user's: what the model
 * should know of the notifications that will come.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "command/kit.h"
#include "common/folder.h"

static const char first_line[] =
    "<!-- tidings: begin (tidings setup --remove takes this block out) -->";
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

static int take_out(const struct cli *cli, struct change *change) {
  char *rest = NULL;
  int code = without_block(cli, change, &rest);
  return code || !rest ? code : change_to_rest(cli, change, rest, !rest[0]);
}

static int put_in(const struct cli *cli, struct change *change, const char *block) {
  char *rest = NULL, *whole = NULL;
  int code = without_block(cli, change, &rest);
  if (code) return code;
  const char *old = rest ? rest : change->after ? change->after : "";
  const char *gap = old[0] ? "\n" : "";
  int len = asprintf(&whole, "%s%s%s", old, gap, block);
  free(rest);
  if (len < 0) return cli_fail(cli, "out of memory");
  free(change->after);
  change->after = whole;
  return 0;
}

int setup_instructions(const struct cli *cli, const char *text, struct change *change) {
  char *block = NULL;
  if (!text) return take_out(cli, change);
  if (asprintf(&block, "%s\n%s\n%s\n", first_line, text, last_line) < 0)
    return cli_fail(cli, "out of memory");
  int code = change->after && strstr(change->after, block) ? 0 : put_in(cli, change, block);
  free(block);
  return code;
}

/* The plugin is asked on a temporary store: setup does not touch the user's. */
int setup_instructions_text(const struct cli *cli, char **ret_text) {
  struct tidings_error error = {.size = sizeof error};
  struct cli scratch_cli = *cli;
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  char *folder = folder_make_temporary(NULL, "tidings"), *text = NULL;
  if (!folder) return cli_fail(cli, "cannot make a temporary folder");
  scratch_cli.store = folder;
  int32_t refused = kit_open(&scratch_cli, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  if (!refused)
    refused = kit_query(kit, json_pack("{s:s, s:s}", "name", "instructions", "session", "setup"),
                        &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  const char *said = json_string_value(json_object_get(answer, "text"));
  if (!code && !(text = strdup(said ? said : ""))) code = cli_fail(cli, "out of memory");
  for (size_t len = text ? strlen(text) : 0; len && text[len - 1] == '\n';) text[--len] = '\0';
  json_decref(answer);
  kit_close(kit);
  (void)folder_remove_all(folder);
  free(folder);
  if (!code) *ret_text = text;
  return code;
}
