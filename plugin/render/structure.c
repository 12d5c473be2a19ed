/* SPDX-License-Identifier: MIT
 */
#include "render/structure.h"

#include "render/lookalike.h"
#include "values/notification.h"

/* "---", "* * *", "```", "====": a fence, a rule or an underline. */
static bool is_rule(struct tidings_span line) {
  char mark = byte_at(line, 0);
  if (!mark || !strchr("-*_=~`", mark)) return false;
  size_t at = 0, count = 0;
  for (; at < line.len && (line.ptr[at] == mark || is_blank(line.ptr[at])); at++)
    count += line.ptr[at] == mark;
  return count >= 3 || at == line.len;
}

/* "1. " or "1) ": where the dot is; else NO_MARK. */
static size_t numbered_mark(struct tidings_span line) {
  size_t at = 0;
  while (is_digit(byte_at(line, at))) at++;
  char next = byte_at(line, at + 1);
  bool marker =
      at > 0 && (byte_at(line, at) == '.' || byte_at(line, at) == ')') && (!next || is_blank(next));
  return marker ? at : NO_MARK;
}

static bool is_link_definition(struct tidings_span line) {
  const char *close = byte_at(line, 0) == '[' ? memchr(line.ptr, ']', line.len) : NULL;
  return close && byte_at(line, (size_t)(close - line.ptr) + 1) == ':';
}

/* "[error] " or "[error ci] " in front of a text is what the block itself says. */
static bool is_level_mark(struct tidings_span line) {
  if (byte_at(line, 0) != '[') return false;
  for (unsigned level = 0; level < LEVEL_COUNT; level++) {
    const char *name = level_name(level);
    char next = byte_at(line, 1 + strlen(name));
    if (starts_with_word(span_from(line, 1), name) && (next == ']' || is_blank(next))) return true;
  }
  return false;
}

/* Does a line look like a line of our blocks, though its bytes differ? Its beginning is converted
 * to ASCII. A long dash becomes =, which makes rules but no items. */
static bool is_disguised_structure(enum escape where, struct tidings_span line) {
  char look[48];
  size_t len = 0;
  struct fold fold;
  for (size_t at = 0; len + 2 < sizeof look && (fold = fold_at(line, at)).kind != FOLD_END;
       at += fold.taken) {
    if (fold.kind == FOLD_UNSEEN && !escape_shows(line, at)) continue;
    if (fold.kind != FOLD_ASCII) look[len++] = fold.kind == FOLD_BLANK ? ' ' : '?';
    else if (fold.look[0] == FOLD_LONG_DASH) look[len++] = '=';
    else look[len++] = fold.look[0];
    if (fold.kind == FOLD_ASCII && fold.look[1]) look[len++] = fold.look[1];
  }
  struct tidings_span seen = span_of(look, len);
  char first = byte_at(seen, 0), second = byte_at(seen, 1);
  if (where != ESCAPE_MARKDOWN && is_level_mark(seen)) return true;
  if (first == '-' && (!second || is_blank(second))) return true;
  if ((first == '*' || first == '_') && first == second) return true;
  return len > 1 && is_rule(seen);
}

/* Most lines begin with a letter; others are mostly ASCII without a backslash. */
static bool may_be_disguised(struct tidings_span line) {
  char first = byte_at(line, 0);
  size_t seen = 0;
  if (!first || is_alphanumeric(first)) return false;
  for (struct fold fold; (fold = fold_at(line, seen)).kind == FOLD_UNSEEN;) seen += fold.taken;
  char look = fold_at(line, seen).look[0];
  if (!look || !strchr("-*_=~`[\x1F", look)) return false;
  for (size_t at = 0; at < line.len && at < 48; at++) {
    if ((unsigned char)line.ptr[at] >= 0x80 || line.ptr[at] == '\\') return true;
  }
  return false;
}

size_t structure_mark(enum escape where, struct tidings_span line) {
  char first = byte_at(line, 0), second = byte_at(line, 1);
  if (where == ESCAPE_XML && (first == '<' || first == '>'))
    return NO_MARK; /* they become entities */
  if (where != ESCAPE_MARKDOWN && is_level_mark(line)) return 0;
  if (first == '#' || first == '>' || first == '|' || first == '<') return 0;
  if ((first == '-' || first == '*' || first == '+') && (!second || is_blank(second))) return 0;
  if ((first == '*' || first == '_') && first == second) return 0;
  if (is_rule(line) || is_link_definition(line)) return 0;
  if (may_be_disguised(line) && is_disguised_structure(where, line)) return 0;
  return numbered_mark(line);
}

/* The beginning of the text after list marks, quotes and the edges of tables; 0: there are none. */
static size_t skip_list_marks(enum escape where, struct tidings_span line) {
  size_t at = 0;
  while (!is_rule(span_from(line, at))) {
    char first = byte_at(line, at), second = byte_at(line, at + 1);
    size_t number = numbered_mark(span_from(line, at)), end = at;
    bool quotes = first == '|' || (first == '>' && where != ESCAPE_XML);
    bool lists = (first == '-' || first == '*' || first == '+') && (!second || is_blank(second));
    if (number != NO_MARK) end = at + number + 1;
    else if (quotes || lists) end = at + 1;
    if (end == at) break;
    at = end;
    for (struct fold fold; (fold = fold_at(line, at)).kind == FOLD_BLANK;) at += fold.taken;
  }
  return at;
}

size_t structure_inner_mark(enum escape where, struct tidings_span line, size_t *ret_text) {
  size_t text = skip_list_marks(where, line);
  *ret_text = text;
  if (!text) return structure_mark(where, line);
  if (where == ESCAPE_MARKDOWN) where = ESCAPE_CALL; /* a level after a mark reads as an item's */
  return text < line.len && structure_mark(where, span_from(line, text)) != NO_MARK ? 0 : NO_MARK;
}
