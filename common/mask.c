/* SPDX-License-Identifier: MIT
 */
#include "common/mask.h"

#include "common/mask_find.h"

static const char key_begin[] = "-----BEGIN ", key_end[] = "-----END ", key_name[] = "PRIVATE KEY";

/* -- private keys ------------------------------------------------------------------------------ */

/* Finds `mark` before the words PRIVATE KEY; NULL: nowhere. */
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

/* Finds the end of the dashes after the mark. */
static const char *after_mark(const char *mark, const char *end) {
  const char *name = memmem(mark, (size_t)(end - mark), key_name, sizeof key_name - 1);
  const char *at = name ? name + sizeof key_name - 1 : mark;
  while (at < end && (*at == '-' || *at == ' ' || mask_is_alnum(*at))) at++;
  return at;
}

static bool is_base64(const char *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (!mask_is_alnum(bytes[i]) && !strchr("+/=", bytes[i])) return false;
  }
  return !memchr(bytes, '\0', len);
}

/* Can the line belong to a key? It can if it is Base64, perhaps after the prefix of a log's line,
 * or a header of the key. A text that only mentions the mark of a key goes on with other lines. */
static bool is_in_key(struct tidings_span line) {
  enum { LONG_WORD = 16 };
  while (line.len && strchr(" \t\r", line.ptr[line.len - 1])) line.len--;
  size_t word = line.len;
  while (word && !mask_is_blank(line.ptr[word - 1])) word--;
  if (mask_starts(line, 0, "Proc-Type:") || mask_starts(line, 0, "DEK-Info:")) return true;
  return is_base64(line.ptr + word, line.len - word) && (!word || line.len - word >= LONG_WORD);
}

static struct tidings_span line_at(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return span_of(at, (size_t)((stop ? stop : end) - at));
}

bool mask_follow(bool *in_key, struct tidings_span line) {
  const char *end = line.ptr + line.len;
  if (*in_key && find_mark(line.ptr, end, key_end)) {
    *in_key = false;
    return true;
  }
  if (*in_key && is_in_key(line)) return true;
  const char *begin = find_mark(line.ptr, end, key_begin);
  *in_key = begin && !find_mark(begin, end, key_end);
  return begin;
}

/* -- a stretch without a key ------------------------------------------------------------------- */

static bool ends_command(char byte) {
  return byte == ';' || byte == '|' || byte == '&' || byte == '\n';
}

/* Can a secret begin here? Not in the middle of a word of letters, digits and `_`. */
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
    buffer_append(out, text.ptr + written, at + secret.shown - written);
    buffer_text(out, MASK_WORD);
    written = at + secret.shown + secret.hidden;
    at = written - 1;
  }
  buffer_append(out, text.ptr + written, text.len - written);
}

/* -- texts and lines --------------------------------------------------------------------------- */

/* Masks a key that begins or continues at `at`, by one word for all of its bytes in this text.
 * Returns where the key ends. */
static const char *mask_key(bool *in_key, const char *at, const char *end, struct buffer *out) {
  const char *from = at;
  *in_key = true;
  buffer_text(out, MASK_WORD);
  while (at < end) {
    struct tidings_span line = line_at(at, end);
    const char *mark = find_mark(at, at + line.len, key_end);
    if (mark) {
      *in_key = false;
      return after_mark(mark, at + line.len);
    }
    if (at > from && !is_in_key(line)) {
      *in_key = false;
      return at - 1; /* the line break before it */
    }
    at += line.len;
    if (at < end) at++;
  }
  return end > from && end[-1] == '\n' ? end - 1 : end;
}

void mask_lines(bool *in_key, struct tidings_span text, struct buffer *out) {
  const char *at = text.ptr, *end = text.ptr + text.len;
  if (!text.len) return;
  struct tidings_span first = line_at(at, end);
  if (*in_key && (is_in_key(first) || find_mark(at, at + first.len, key_end)))
    at = mask_key(in_key, at, end, out);
  else *in_key = false;
  while (at < end) {
    const char *mark = find_mark(at, end, key_begin);
    mask_stretch(span_of(at, (size_t)((mark ? mark : end) - at)), out);
    at = mark ? mask_key(in_key, mark, end, out) : end;
  }
}

void mask_text(struct tidings_span text, struct buffer *out) {
  bool in_key = false;
  mask_lines(&in_key, text, out);
}
