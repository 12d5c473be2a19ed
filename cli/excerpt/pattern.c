/* SPDX-License-Identifier: MIT
 *
 * excerpt/pattern.c: a star matches as little as possible, and is not tried again once the part
 * after it has matched, so a line takes a bounded number of steps.
 */
#include "cli/excerpt/pattern.h"

#include <ctype.h>

/* Only so many bytes of a line are compared, because a failure is stated at its beginning. */
enum { COMPARED_BYTES = 320 };

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

static bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

/* Matches up to the next `*` or the end of the pattern. If it matches, sets *ret_pattern and
 * *ret_at. */
static bool matches_part(const char *pattern, struct tidings_span text, size_t at,
                         const char **ret_pattern, size_t *ret_at) {
  for (; *pattern && *pattern != '*'; pattern++) {
    if (*pattern == '$' && !pattern[1]) {
      if (at != text.len) return false;
      continue;
    }
    if (*pattern == '#') {
      if (at == text.len || !is_digit(text.ptr[at])) return false;
      while (at < text.len && is_digit(text.ptr[at])) at++;
      continue;
    }
    if (*pattern == '~') {
      for (;; at++) {
        if (matches_part(pattern + 1, text, at, ret_pattern, ret_at)) return true;
        if (at == text.len || is_blank(text.ptr[at])) return false;
      }
    }
    if (at == text.len || text.ptr[at] != *pattern) return false;
    at++;
  }
  *ret_pattern = pattern;
  *ret_at = at;
  return true;
}

bool pattern_matches(const char *pattern, struct tidings_span text) {
  size_t at = 0;
  if (!matches_part(pattern, text, 0, &pattern, &at)) return false;
  while (*pattern) {
    const char *part = pattern + 1;
    bool literal = *part && !strchr("#~$", *part);
    for (;; at++) {
      const char *found =
          literal && at < text.len ? memchr(text.ptr + at, *part, text.len - at) : text.ptr + at;
      if (at > text.len || !found || (literal && at == text.len)) return false;
      at = (size_t)(found - text.ptr);
      if (matches_part(part, text, at, &pattern, &at)) break;
    }
  }
  return true;
}

static struct tidings_span beginning(struct tidings_span text) {
  return span_of(text.ptr, text.len < COMPARED_BYTES ? text.len : COMPARED_BYTES);
}

/* Can the pattern match at all? The first character, or a missing colon, excludes most patterns. */
static bool may_match(const char *pattern, struct tidings_span text, bool has_colon) {
  switch (*pattern) {
  case '#': return is_digit(*text.ptr);
  case '*':
  case '~': return has_colon || !strchr(pattern, ':');
  default: return *pattern == *text.ptr;
  }
}

const struct pattern *pattern_find(struct tidings_span text, bool indented) {
  text = beginning(text);
  if (!text.len) return NULL;
  bool has_colon = memchr(text.ptr, ':', text.len);
  for (const struct pattern *pattern = patterns; pattern->text; pattern++) {
    if (indented && !pattern->any_column) continue;
    if (!may_match(pattern->text, text, has_colon)) continue;
    if (pattern_matches(pattern->text, text)) return pattern;
  }
  return NULL;
}

/* -- any words --------------------------------------------------------------------------------- */

static bool contains(const char *text, size_t len, const char *word) {
  return memmem(text, len, word, strlen(word));
}

/* The second letters of the words, by first letter; most positions of a line begin no word. */
#define LETTER(letter) (1u << ((letter) - 'a'))
static const uint32_t second_letters[26] = {
    ['a' - 'a'] = LETTER('b'), ['c' - 'a'] = LETTER('a') | LETTER('o'),
    ['d' - 'a'] = LETTER('e'), ['e' - 'a'] = LETTER('r') | LETTER('x'),
    ['f' - 'a'] = LETTER('a'), ['i' - 'a'] = LETTER('n'),
    ['k' - 'a'] = LETTER('i'), ['m' - 'a'] = LETTER('i'),
    ['n' - 'a'] = LETTER('o'), ['p' - 'a'] = LETTER('a'),
    ['r' - 'a'] = LETTER('e'), ['t' - 'a'] = LETTER('i'),
    ['u' - 'a'] = LETTER('n')};

static bool word_begins(const char *text, size_t len) {
  static const char *const words[] = {"error",     "fail",     "fatal",     "denied",  "not found",
                                      "cannot",    "can't",    "unable to", "refused", "timed out",
                                      "no such",   "abort",    "killed",    "panic",   "exception",
                                      "not allow", "no space", "conflict",  "missing", "invalid"};
  unsigned first = (unsigned char)text[0] - 'a',
           second = len > 1 ? (unsigned char)text[1] - 'a' : 26;
  if (first >= 26 || second >= 26 || !(second_letters[first] >> second & 1)) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t word = strlen(words[i]);
    if (word <= len && memcmp(text, words[i], word) == 0) return true;
  }
  return false;
}

bool pattern_mentions_failure(struct tidings_span text) {
  static const char *const none[] = {" 0 error",  " 0 fail",   "no error",    "no fail",
                                     "errors: 0", "failed: 0", "failures: 0", "warning"};
  char lower[COMPARED_BYTES + 1] = " ";
  size_t len = 1, at = 0;
  text = beginning(text);
  for (size_t i = 0; i < text.len; i++) lower[len++] = (char)tolower((unsigned char)text.ptr[i]);
  while (at < len && !word_begins(lower + at, len - at)) at++;
  for (size_t i = 0; at < len && i < sizeof none / sizeof *none; i++) {
    if (contains(lower, len, none[i])) return false;
  }
  return at < len;
}
