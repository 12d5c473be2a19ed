/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_text.c: the hashes of hooks that Codex trusts, in the text of its
 * configuration: tables [hooks.state."KEY"] with a line trusted_hash = "…", as Codex writes them.
 * All that is not ours keeps its bytes. Whether the text means what it should is the caller's to
 * check: only lines are known here, nothing else of TOML.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "common/buffer.h"

static const char member[] = "trusted_hash";

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

/* The line that has it, and nothing but blanks or a comment besides; NULL: there is none. */
static const char *find_header(const char *text, const char *header) {
  size_t len = strlen(header);
  for (const char *line = text; *line; line += line_len(line)) {
    const char *at = line + strspn(line, " \t");
    if (strncmp(at, header, len) == 0 && strchr("#\r\n", at[len + strspn(at + len, " \t")]))
      return line;
  }
  return NULL;
}

/* After its last line that is neither blank nor a comment: these belong to what comes below. */
static const char *table_end(const char *header) {
  const char *end = header + line_len(header);
  for (const char *line = end; *line; line += line_len(line)) {
    char first = line[strspn(line, " \t")];
    if (first == '[') break;
    if (first != '#' && !is_blank(line)) end = line + line_len(line);
  }
  return end;
}

/* The line with the hash; NULL: the table has none. */
static const char *find_hash(const char *header, const char *end) {
  for (const char *line = header + line_len(header); line < end; line += line_len(line)) {
    const char *at = line + strspn(line, " \t");
    if (strncmp(at, member, sizeof member - 1) == 0 && strchr(" \t=", at[sizeof member - 1]))
      return line;
  }
  return NULL;
}

static const char *line_break_of(const char *text) {
  const char *first = strchr(text, '\n');
  return first && first > text && first[-1] == '\r' ? "\r\n" : "\n";
}

static void write_hash(struct buffer *out, const char *hash, const char *line_break) {
  buffer_format(out, "%s = \"%s\"%s", member, hash, line_break);
}

static char *with_hash(const char *text, const char *start, const char *header, const char *hash) {
  struct buffer out = BUFFER_EMPTY;
  const char *line_break = line_break_of(text), *end = start ? table_end(start) : NULL;
  const char *old = start ? find_hash(start, end) : NULL;
  const char *at = old ? old : start ? start + line_len(start) : text + strlen(text);
  buffer_append(&out, text, (size_t)(at - text));
  if (at > text && at[-1] != '\n') buffer_text(&out, line_break);
  if (!start) buffer_format(&out, "%s%s%s", at > text ? line_break : "", header, line_break);
  write_hash(&out, hash, line_break);
  buffer_text(&out, old ? old + line_len(old) : at);
  return buffer_take(&out);
}

/* With one blank line: the one above it, or below it where it is the first of the file. */
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

char *setup_trust_text(const char *text, const char *key, const char *hash) {
  char *header = header_of(key), *changed = NULL;
  const char *start = header ? find_header(text, header) : NULL;
  if (header && hash) changed = with_hash(text, start, header, hash);
  else if (header) changed = start ? without_table(text, start) : strdup(text);
  free(header);
  return changed;
}
