/* SPDX-License-Identifier: MIT
 */
#include "listen/attempt.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/recipes.h"
#include "common/file.h"
#include "listen/judge.h"
#include "listen/take.h"

enum { LARGEST = 25 << 20 };

/* Reads a header's line in place: makes the name lower case, and removes blanks around the
 * value. */
static void read_header(char *line, size_t len, struct recipe_header *row) {
  const char *colon = memchr(line, ':', len);
  size_t name = colon ? (size_t)(colon - line) : len, from = name + (colon != NULL);
  for (size_t i = 0; i < name; i++) line[i] = (char)tolower((unsigned char)line[i]);
  while (from < len && line[from] == ' ') from++;
  while (len > from && (line[len - 1] == '\r' || line[len - 1] == ' ')) len--;
  *row = (struct recipe_header){span_of(line, name), span_of(line + from, len - from)};
}

/* Reads headers up to an empty line, unless the text begins with a JSON value. Returns the body. */
static struct tidings_span read_head(char *text, size_t len, struct recipe_header *rows,
                                     size_t *ret_count) {
  size_t at = 0, count = 0;
  bool body = len && strchr("{[ \t\r\n\"", text[0]);
  while (!body && at < len && count < JUDGE_MOST_HEADERS) {
    const char *end = memchr(text + at, '\n', len - at);
    size_t size = end ? (size_t)(end - text) - at : len - at;
    body = size == 0 || (size == 1 && text[at] == '\r');
    if (!body) read_header(text + at, size, &rows[count++]);
    at += size + (end != NULL);
  }
  *ret_count = count;
  return span_of(text + at, len - at);
}

static int print_all(const struct cli *cli, const struct recipe *recipe, bool ids_count,
                     const struct recipe_document *document, struct arena *arena,
                     struct tidings_span body) {
  struct recipe_push *pushes = NULL;
  struct buffer id = BUFFER_EMPTY;
  size_t count = 0;
  bool fits = false;
  if (recipe_apply(recipe, document, arena, &pushes, &count, &fits) ||
      take_id(ids_count, document, body, &id)) {
    buffer_free(&id);
    return cli_fail(cli, "out of memory");
  }
  for (size_t i = 0; i < count; i++) {
    if (!pushes[i].id.len) pushes[i].id = buffer_view(&id);
    recipes_print(&pushes[i]);
  }
  if (!count)
    puts(fits ? "A rule of the recipe ignores this request." : "No rule fits this request.");
  buffer_free(&id);
  return 0;
}

int attempt(const struct cli *cli, const char *recipe_name, const char *path) {
  static const struct json_rules rules = {
      .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};
  struct tidings_error error = {.size = sizeof error};
  struct recipe_header rows[JUDGE_MOST_HEADERS];
  struct recipe_document document = {.headers = rows};
  struct recipe *recipe = NULL;
  struct arena arena = ARENA_EMPTY;
  int named = signature_scheme_of(recipe_name);
  bool ids_count = named < 0 || signature_covers_ids((enum signature_scheme)named);
  char *text = NULL;
  size_t len = 0;
  if (recipes_find(recipe_name, &recipe, &error)) return cli_fail(cli, "--try: %s", error.text);
  int reason = file_read_whole(path, LARGEST, &text, &len);
  int code = reason ? cli_fail(cli, "cannot read '%s': %s", path, strerror(reason)) : 0;
  struct tidings_span body = span_of(NULL, 0);
  if (!code) body = read_head(text, len, rows, &document.header_count);
  if (!code && json_read_by(&rules, body, path, &arena, &document.root, &error))
    code = cli_fail(cli, "%s", error.text);
  if (!code) code = print_all(cli, recipe, ids_count, &document, &arena, body);
  arena_free(&arena);
  free(text);
  recipe_free(recipe);
  return code;
}
