/* SPDX-License-Identifier: MIT
 *
 * common/mask.c: see the header.
 */
#include "common/mask.h"

#include "common/mask_find.h"

static const char key_begin[] = "-----BEGIN ", key_end[] = "-----END ", key_name[] = "PRIVATE KEY";

/* -- private keys ------------------------------------------------------------------------------ */

/* Where `mark`, before the words PRIVATE KEY, stands; NULL: nowhere. */
static const char *find_mark(const char *from, const char *end, const char *mark) {
  enum { LONGEST_NAME = 40 };
  for (; from < end; from++) {
    from = memmem(from, (size_t)(end - from), mark, strlen(mark));
    if (!from) return NULL;
    const char *name = from + strlen(mark);
    size_t room = (size_t)(end - name) < LONGEST_NAME ? (size_t)(end - name) : LONGEST_NAME;
    if (memmem(name, room, key_name, sizeof key_name - 1)) return from;
  }
  return NULL;
}

/* The end of the mark's own dashes. */
static const char *after_mark(const char *mark, const char *end) {
  const char *name = memmem(mark, (size_t)(end - mark), key_name, sizeof key_name - 1);
  const char *at = name ? name + sizeof key_name - 1 : mark;
  while (at < end && (*at == '-' || *at == ' ' || mask_is_alnum(*at))) at++;
  return at;
}

bool mask_follow(bool *in_key, struct tidings_span line) {
  const char *end = line.ptr + line.len;
  bool was = *in_key;
  if (line.len < sizeof key_end - 1) return was;
  const char *begin = find_mark(line.ptr, end, key_begin),
             *stop = find_mark(line.ptr, end, key_end);
  if (begin) *in_key = !stop || stop < begin;
  else if (stop) *in_key = false;
  return was || begin;
}

/* -- a stretch without a key ------------------------------------------------------------------- */

static bool ends_command(char byte) {
  return byte == ';' || byte == '|' || byte == '&' || byte == '\n';
}

/* Letters, digits and `_` in the middle of a word begin nothing. */
static bool may_begin(struct tidings_span text, size_t at) {
  if (!mask_is_alnum(text.ptr[at]) && !strchr("-_", text.ptr[at])) return false;
  if (!at) return true;
  char before = text.ptr[at - 1];
  return !mask_is_alnum(before) && before != '_' && (before != '-' || text.ptr[at] == '-');
}

static struct secret find_secret(const struct mask_program *program, struct tidings_span text,
                                 size_t at) {
  struct secret secret = mask_find_url(text, at);
  if (!secret.hidden && program) secret = mask_find_option(program, text, at);
  if (!secret.hidden) secret = mask_find_named(text, at);
  if (!secret.hidden) secret = mask_find_token(text, at);
  return secret;
}

static void mask_stretch(struct tidings_span text, struct buffer *out) {
  const struct mask_program *program = NULL;
  size_t written = 0;
  for (size_t at = 0; at < text.len; at++) {
    if (ends_command(text.ptr[at])) program = NULL;
    if (!text.ptr[at] || !may_begin(text, at)) continue;
    const struct mask_program *named = mask_find_program(text, at);
    if (named) program = named;
    struct secret secret = find_secret(program, text, at);
    if (!secret.hidden) continue;
    buffer_append(out, text.ptr + written, at + secret.kept - written);
    buffer_text(out, MASK_WORD);
    written = at + secret.kept + secret.hidden;
    at = written - 1;
  }
  buffer_append(out, text.ptr + written, text.len - written);
}

/* -- texts and lines --------------------------------------------------------------------------- */

void mask_line(bool *in_key, struct tidings_span line, struct buffer *out) {
  const char *at = line.ptr, *end = line.ptr + line.len;
  while (at < end) {
    const char *mark = find_mark(at, end, *in_key ? key_end : key_begin);
    if (*in_key) {
      buffer_text(out, MASK_WORD);
      at = mark ? after_mark(mark, end) : end;
      if (mark) *in_key = false;
    } else {
      mask_stretch(span_of(at, (size_t)((mark ? mark : end) - at)), out);
      at = mark ? mark : end;
      if (mark) *in_key = true;
    }
  }
}

void mask_text(struct tidings_span text, struct buffer *out) {
  bool in_key = false;
  mask_line(&in_key, text, out);
}
