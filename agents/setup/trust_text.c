/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_text.c: tables in the text of Codex's configuration, with one line for each
 * member, as Codex writes them: [hooks.state."KEY"] with the hash of a hook that it trusts, and
 * [mcp_servers.NAME]. All other bytes stay. This module knows only lines, nothing else of TOML, so
 * the caller checks what the new text means.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "common/buffer.h"

static size_t line_len(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? (size_t)(end - line) + 1 : strlen(line);
}

static bool is_blank(const char *line) {
  size_t len = line_len(line);
  return strspn(line, " \t\r\n") >= len;
}

/* The table's header without a line end. Free it; NULL: out of memory. */
static char *header_of(const char *key) {
  struct buffer header = BUFFER_EMPTY;
  buffer_text(&header, "[hooks.state.\"");
  for (; *key; key++) {
    unsigned char byte = (unsigned char)*key;
    if (byte < 0x20 || byte == 0x7f) buffer_format(&header, "\\u%04X", byte);
    else if (byte == '"' || byte == '\\') buffer_format(&header, "\\%c", byte);
    else buffer_append(&header, key, 1);
  }
  buffer_text(&header, "\"]");
  return buffer_take(&header);
}

/* Does the line have this header, and otherwise only blanks or a comment? */
static bool is_header(const char *line, const char *header) {
  size_t len = strlen(header);
  const char *at = line + strspn(line, " \t");
  return strncmp(at, header, len) == 0 && strchr("#\r\n", at[len + strspn(at + len, " \t")]);
}

/* NULL: there is none. */
static const char *find_header(const char *text, const char *header) {
  for (const char *line = text; *line; line += line_len(line)) {
    if (is_header(line, header)) return line;
  }
  return NULL;
}

/* Returns the end of the last line that is neither blank nor a comment: those belong to the next
 * table. */
static const char *table_end(const char *header) {
  const char *end = header + line_len(header);
  for (const char *line = end; *line; line += line_len(line)) {
    char first = line[strspn(line, " \t")];
    if (first == '[') break;
    if (first != '#' && !is_blank(line)) end = line + line_len(line);
  }
  return end;
}

/* The line with that member; NULL: the table has none. */
static const char *find_member(const char *header, const char *end, const char *member) {
  size_t len = strlen(member);
  for (const char *line = header + line_len(header); line < end; line += line_len(line)) {
    const char *at = line + strspn(line, " \t");
    if (strncmp(at, member, len) == 0 && strchr(" \t=", at[len])) return line;
  }
  return NULL;
}

static const char *line_break_of(const char *text) {
  const char *first = strchr(text, '\n');
  return first && first > text && first[-1] == '\r' ? "\r\n" : "\n";
}

static char *with_member(const char *text, const char *start, const char *header,
                         const char *member, const char *value) {
  struct buffer out = BUFFER_EMPTY;
  const char *line_break = line_break_of(text), *end = start ? table_end(start) : NULL;
  const char *old = start ? find_member(start, end, member) : NULL;
  const char *at = old ? old : start ? start + line_len(start) : text + strlen(text);
  buffer_append(&out, text, (size_t)(at - text));
  if (at > text && at[-1] != '\n') buffer_text(&out, line_break);
  if (!start) buffer_format(&out, "%s%s%s", at > text ? line_break : "", header, line_break);
  buffer_format(&out, "%s = %s%s", member, value, line_break);
  buffer_text(&out, old ? old + line_len(old) : at);
  return buffer_take(&out);
}

/* Removes also one blank line: the one above, or, for the file's first table, the one below. */
static char *without_table(const char *text, const char *start) {
  struct buffer out = BUFFER_EMPTY;
  const char *end = table_end(start), *above = start;
  if (above > text) above--;
  while (above > text && above[-1] != '\n') above--;
  if (start > text && is_blank(above)) start = above;
  else if (start == text && is_blank(end)) end += line_len(end);
  buffer_append(&out, text, (size_t)(start - text));
  buffer_text(&out, end);
  return buffer_take(&out);
}

bool setup_table_has(const char *text, const char *header, const char *words) {
  const char *start = find_header(text, header), *end = start ? table_end(start) : NULL;
  return start && memmem(start, (size_t)(end - start), words, strlen(words));
}

char *setup_table_text(const char *text, const char *header, const char *member,
                       const char *value) {
  const char *start = find_header(text, header);
  if (value) return with_member(text, start, header, member, value);
  return start ? without_table(text, start) : strdup(text);
}

char *setup_trust_text(const char *text, const char *key, const char *hash) {
  char *header = header_of(key), *value = NULL, *changed = NULL;
  if (hash && asprintf(&value, "\"%s\"", hash) < 0) value = NULL;
  if (header && (value || !hash)) changed = setup_table_text(text, header, "trusted_hash", value);
  free(value);
  free(header);
  return changed;
}

/* Returns the new header if the line is a header that changes. Free it; NULL: the line stays. */
static char *new_header(const char *line, const json_t *keys, size_t *ret_old_len) {
  const char *key = NULL;
  const json_t *target = NULL;
  char *found = NULL;
  if (line[strspn(line, " \t")] != '[') return NULL;
  json_object_foreach((json_t *)(uintptr_t)keys, key, target) {
    char *header = json_is_string(target) ? header_of(key) : NULL;
    if (!found && header && is_header(line, header)) {
      *ret_old_len = strlen(header);
      found = header_of(json_string_value(target));
    }
    free(header);
  }
  return found;
}

char *setup_trust_rename(const char *text, const json_t *keys) {
  struct buffer out = BUFFER_EMPTY;
  for (const char *line = text; *line; line += line_len(line)) {
    size_t indent = strspn(line, " \t"), old_len = 0, len = line_len(line);
    char *header = new_header(line, keys, &old_len);
    buffer_append(&out, line, header ? indent : len);
    if (header) {
      buffer_text(&out, header);
      buffer_append(&out, line + indent + old_len, len - indent - old_len);
    }
    free(header);
  }
  return buffer_take(&out);
}
