/* SPDX-License-Identifier: MIT
 *
 * agents/setup/json_text.c: new parts are put on their own lines, with the indentation of their
 * neighbours.
 */
#include "agents/setup/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDENT = 64 };

/* -- reading ----------------------------------------------------------------------------------- */

int json_text_read(const char *text, struct json_text *ret_json, char **ret_problem) {
  static const struct json_rules rules = {
      .max_depth = 64, .nul = true, .halves = true, .repeats = true, .edited = true};
  static const char what[] = "it";
  struct tidings_error error = {.size = sizeof error};
  struct json_text json = {.text = strdup(text), .arena = ARENA_EMPTY};
  int failed = -1;
  *ret_problem = NULL;
  if (json.text)
    failed = json_read_by(&rules, span_text(json.text), what, &json.arena, &json.root, &error);
  if (!failed) {
    *ret_json = json;
    return 0;
  }
  if (json.text) *ret_problem = strdup(error.text + sizeof what + 1);
  json_text_finish(&json);
  return -1;
}

void json_text_finish(struct json_text *json) {
  arena_free(&json->arena);
  free(json->text);
  *json = (struct json_text){.text = NULL};
}

/* -- changing ---------------------------------------------------------------------------------- */

/* Replaces the text from `start` to `end` by `with`, and reads the text again. */
static int replace(struct json_text *json, size_t start, size_t end, const char *with) {
  struct json_text changed;
  char *text = NULL, *problem = NULL;
  if (asprintf(&text, "%.*s%s%s", (int)start, json->text, with, json->text + end) < 0) return -1;
  int failed = json_text_read(text, &changed, &problem);
  free(text);
  free(problem);
  if (failed) return -1;
  json_text_finish(json);
  *json = changed;
  return 0;
}

int json_text_replace(struct json_text *json, const struct json *part, const char *value) {
  return replace(json, part->start, part->end, value);
}

/* Copies the blanks at the beginning of the line that contains `at`. */
static size_t line_indent(const struct json_text *json, size_t at, char *indent) {
  size_t start = at;
  while (start && json->text[start - 1] != '\n') start--;
  size_t len = strspn(json->text + start, " \t");
  if (len > MOST_INDENT) len = MOST_INDENT;
  memcpy(indent, json->text + start, len);
  indent[len] = '\0';
  return len;
}

/* Copies one step of indentation, as in the outermost object. */
static void indent_step(const struct json_text *json, char *step) {
  if (json->root && json->root->members && line_indent(json, json->root->members->key_start, step))
    return;
  memcpy(step, "  ", 3);
}

/* Returns the kind of line breaks in the text. */
static const char *line_break(const struct json_text *json) {
  const char *first = strchr(json->text, '\n');
  return first && first > json->text && first[-1] == '\r' ? "\r\n" : "\n";
}

/* Returns the end of a part's line, including a comment on it. */
static size_t line_end(const struct json_text *json, size_t at) {
  size_t comma = at + strspn(json->text + at, " \t");
  if (json->text[comma] == ',') comma++;
  size_t comment = comma + strspn(json->text + comma, " \t");
  if (strncmp(json->text + comment, "//", 2) == 0)
    return comment + strcspn(json->text + comment, "\r\n");
  return at;
}

int json_text_add(struct json_text *json, const struct json *into, const char *key,
                  const char *value) {
  char base[MOST_INDENT + 1], step[MOST_INDENT + 1], *added = NULL;
  size_t at = into->start + 1, end = into->end - 1;
  line_indent(json, into->start, base);
  indent_step(json, step);
  const char *quote = key ? "\"" : "", *colon = key ? "\": " : "", *line = line_break(json);
  if (!into->count) {
    if (asprintf(&added, "%s%s%s%s%s%s%s%s%s", line, base, step, quote, key ? key : "", colon,
                 value, line, base) < 0)
      return -1;
    bool blank = strspn(json->text + at, " \t\r\n") >=
                 end - at; /* otherwise there is a comment, which stays */
    int failed = replace(json, at, blank ? end : at, added);
    free(added);
    return failed;
  }
  const struct json *last = into->members;
  while (last->next) last = last->next;
  size_t behind = line_end(json, last->end);
  char indent[2 * MOST_INDENT + 1];
  if (strchr(json->text + into->start, '\n') < json->text + last->key_start &&
      strchr(json->text + into->start, '\n'))
    line_indent(json, last->key_start, indent);
  else snprintf(indent, sizeof indent, "%s%s", base, step);
  /* The comma is added to the last part, and the new part below its comment. A trailing comma stays
   * a trailing comma. */
  bool comma = json->text[last->end + strspn(json->text + last->end, " \t\r\n")] == ',';
  bool own_line = behind != last->end;
  int len = own_line ? asprintf(&added, "%s%.*s%s%s%s%s%s%s%s", comma ? "" : ",",
                                (int)(behind - last->end), json->text + last->end, line, indent,
                                quote, key ? key : "", colon, value, comma ? "," : "")
                     : asprintf(&added, ",%s%s%s%s%s%s", line, indent, quote, key ? key : "", colon,
                                value);
  if (len < 0) return -1;
  int failed = replace(json, last->end, behind, added);
  free(added);
  return failed;
}

/* Returns the place of the comma after `at`, past comments; 0: there is none. */
static size_t comma_behind(const struct json_text *json, size_t at, size_t end) {
  while (at < end) {
    at += strspn(json->text + at, " \t\r\n");
    if (strncmp(json->text + at, "//", 2) == 0) at += strcspn(json->text + at, "\n");
    else if (strncmp(json->text + at, "/*", 2) == 0)
      at = (size_t)(strstr(json->text + at + 2, "*/") + 2 - json->text);
    else return at < end && json->text[at] == ',' ? at : 0;
  }
  return 0;
}

/* Returns where the blanks before `at` start. */
static size_t blanks_before(const struct json_text *json, size_t at) {
  while (at && strchr(" \t\r\n", json->text[at - 1])) at--;
  return at;
}

int json_text_remove(struct json_text *json, const struct json *part) {
  const struct json *from = part->parent, *before = from->members == part ? NULL : from->members;
  while (before && before->next != part) before = before->next;
  size_t start = blanks_before(json, part->key_start), end = part->end;
  size_t next_comma = comma_behind(json, part->end, from->end),
         last_comma = before ? comma_behind(json, before->end, part->key_start) : 0;
  if (from->count == 1) {
    if (next_comma) end = next_comma + 1;
    if (json->text[start - 1] == json->text[from->start])
      end += strspn(json->text + end, " \t\r\n");
    return replace(json, start, end, "");
  }
  if (part->next) return replace(json, start, next_comma + 1, "");
  if (!next_comma && last_comma + 1 == start) return replace(json, last_comma, end, "");
  if (next_comma) return replace(json, start, next_comma + 1, "");
  /* A comment between the comma and this part stays. */
  if (last_comma)
    memmove(json->text + last_comma, json->text + last_comma + 1, strlen(json->text + last_comma));
  return replace(json, last_comma ? start - 1 : start, last_comma ? end - 1 : end, "");
}
