/* SPDX-License-Identifier: MIT
 *
 * common/mask_names.c: names that say that their value is secret: variables, options, members of
 * JSON and YAML, headers.
 */
#include <strings.h>

#include "common/mask.h"
#include "common/mask_find.h"

enum { LONGEST_NAME = 80 };

static bool span_is_word(struct tidings_span span, const char *word) {
  return span.len == strlen(word) && strncasecmp(span.ptr, word, span.len) == 0;
}

static bool is_any(struct tidings_span span, const char *const *words) {
  while (*words && !span_is_word(span, *words)) words++;
  return *words;
}

/* -- values ------------------------------------------------------------------------------------ */

bool mask_is_placeholder(struct tidings_span value) {
  static const char *const words[] = {"null",   "nil",      "none",     "undefined", "true",
                                      "false",  "empty",    "required", "missing",   "invalid",
                                      "string", "redacted", "hidden",   "masked",    NULL};
  bool says_something = false;
  for (size_t i = 0; i < value.len; i++)
    says_something = says_something || mask_is_alnum(value.ptr[i]) || value.ptr[i] & 0x80;
  if (!says_something || is_any(value, words)) return true;
  if (strchr("$<{%*", value.ptr[0]) || mask_starts(value, 0, MASK_WORD)) return true;
  return mask_starts(value, 0, "os.") || mask_starts(value, 0, "process.env");
}

/* If a string is inside another string, its quotes have backslashes. */
size_t mask_value(struct tidings_span text, size_t at, size_t *ret_from) {
  size_t from = at;
  if (from + 1 < text.len && text.ptr[from] == '\\' && text.ptr[from + 1] == '"') from++;
  char quote = '\0';
  if (from < text.len && text.ptr[from] && strchr("\"'`", text.ptr[from])) quote = text.ptr[from++];
  size_t end = from;
  for (; end < text.len && text.ptr[end] != '\n'; end++) {
    char byte = text.ptr[end];
    if (quote == '\'' &&
        mask_starts(text, end, "'\\''")) { /* the way to write a quote inside quotes in a shell */
      end += 3;
      continue;
    }
    if (quote ? byte == quote : !byte || strchr(" \t\"'`,;&|)]}<>", byte)) {
      size_t before = sizeof MASK_WORD - 2; /* the end of a masked text does not end the value */
      bool is_mask = !quote && byte == ']' && end - from >= before &&
                     mask_starts(text, end - before, MASK_WORD);
      if (!is_mask) break;
    }
  }
  if (quote == '"' && end > from && end < text.len && text.ptr[end - 1] == '\\') end--;
  *ret_from = from;
  return end - from;
}

/* Is the value a plain word, of a sentence or a program? A secret has a digit, or more kinds of
 * characters. */
static bool is_word(struct tidings_span value) {
  for (size_t i = 0; i < value.len; i++) {
    char byte = value.ptr[i];
    if (!(byte >= 'a' && byte <= 'z') && !(i == 0 && byte >= 'A' && byte <= 'Z') &&
        !(byte == '.' && i + 1 == value.len))
      return false;
  }
  return true;
}

static bool is_call(struct tidings_span text, size_t end) {
  return end < text.len && text.ptr[end] == '(';
}

static bool is_small_number(struct tidings_span value) {
  for (size_t i = 0; i < value.len; i++) {
    if (value.ptr[i] < '0' || value.ptr[i] > '9') return false;
  }
  return value.len < 6;
}

/* -- names ------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t len, const char *word) {
  size_t word_len = strlen(word);
  return len >= word_len && memcmp(name + len - word_len, word, word_len) == 0;
}

enum sort { HARMLESS, TOKEN, PASSWORD };

/* Sorts a name by its last words, however they are joined: DB_PASSWORD, apiKey, x-auth-token. */
static enum sort sort_of(struct tidings_span name) {
  static const char *const passwords[] = {"password", "passwd", "passphrase", "passcode"};
  static const char *const tokens[] = {
      "secret",      "token",      "apikey",     "accesskey", "secretkey",     "privatekey",
      "authkey",     "accountkey", "signingkey", "masterkey", "encryptionkey", "credential",
      "credentials", "sessionkey", "signature",  "cookie",    "storepass",     "keypass"};
  char joined[LONGEST_NAME];
  size_t len = 0, last = 0; /* `last`: where the last word begins, if marks join the words */
  for (size_t i = 0; i < name.len; i++) {
    char byte = name.ptr[i];
    if (!mask_is_alnum(byte)) last = len;
    else joined[len++] = (char)(byte | (byte >= 'A' && byte <= 'Z' ? 0x20 : 0));
  }
  for (size_t i = 0; i < sizeof passwords / sizeof *passwords; i++)
    if (ends_with(joined, len, passwords[i])) return PASSWORD;
  struct tidings_span word = span_of(joined + last, len - last);
  bool is_folder = span_of(joined, len).len == 3 || ends_with(joined, len, "oldpwd"); /* $PWD */
  if (span_is(word, "pass") || (span_is(word, "pwd") && !is_folder)) return PASSWORD;
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
    if (ends_with(joined, len, tokens[i])) return TOKEN;
  return HARMLESS;
}

/* -- what stands between a name and its value -------------------------------------------------- */

enum joint { NO_JOINT, EQUALS, COLON, SPACE };

static size_t after_blanks(struct tidings_span text, size_t at) {
  while (at < text.len && mask_is_blank(text.ptr[at])) at++;
  return at;
}

/* `is_option`: the name begins with a dash. Blanks around the sign show that this is a
 * configuration or source code, in which a secret is quoted or is no plain word. */
static enum joint read_joint(struct tidings_span text, size_t *at, bool is_option) {
  size_t sign = *at;
  if (sign < text.len && text.ptr[sign] == '\\') sign++;
  if (sign < text.len && text.ptr[sign] && strchr("\"'`", text.ptr[sign])) sign++;
  bool is_quoted = sign > *at;
  size_t after = after_blanks(text, sign);
  if (after == text.len) return NO_JOINT;
  if (text.ptr[after] == '=' && after == sign && !mask_starts(text, after, "==")) {
    *at = after + 1;
    bool spaced = *at < text.len && mask_is_blank(text.ptr[*at]);
    return spaced ? NO_JOINT : EQUALS;
  }
  bool assigns =
      text.ptr[after] == '=' && !mask_starts(text, after, "==") && !mask_starts(text, after, "=>");
  if (text.ptr[after] == ':' || assigns || mask_starts(text, after, "=>")) {
    size_t len = mask_starts(text, after, "=>") || mask_starts(text, after, ":=") ? 2 : 1;
    *at = after_blanks(text, after + len);
    return COLON;
  }
  *at = after;
  return is_option && !is_quoted && after > sign ? SPACE : NO_JOINT;
}

static bool is_secret(enum sort sort, enum joint joint, struct tidings_span text, size_t at,
                      size_t from, struct tidings_span value) {
  static const char *const sentence[] = {"is",   "was",  "are",      "must",     "to",     "and",
                                         "or",   "not",  "option",   "flag",     "for",    "with",
                                         "has",  "can",  "argument", "requires", "the",    "a",
                                         "an",   "in",   "if",       "cannot",   "should", "needs",
                                         "from", "file", "instead",  "given",    "on",     NULL};
  bool is_quoted = from > at;
  if (mask_is_placeholder(value)) return false;
  if (sort == TOKEN && is_small_number(value)) return false;
  if (sort == TOKEN && (value.ptr[0] == '/' || mask_starts(value, 0, "id="))) return false;
  if (!is_quoted && is_call(text, from + value.len)) return false;
  if (joint == SPACE) return value.ptr[0] != '-' && !is_any(value, sentence);
  if (joint == COLON && !is_quoted)
    return !is_word(value) &&
           !(sort == TOKEN && (value.len < 8 || memchr(value.ptr, '(', value.len)));
  return true;
}

/* -- headers ----------------------------------------------------------------------------------- */

/* A header ends at the end of the line or of the quoted word. */
static size_t header_end(struct tidings_span text, size_t at) {
  while (at < text.len && !strchr("\"'`\r\n\\", text.ptr[at])) at++;
  return at;
}

/* "Authorization: Bearer x", "Cookie: a=x; b=y". */
static struct secret find_header(struct tidings_span text, size_t at, struct tidings_span name) {
  static const char *const names[] = {"authorization", "proxy-authorization", "cookie",
                                      "set-cookie", NULL};
  size_t from = at + name.len;
  if (from < text.len && strchr("\"'", text.ptr[from]) && text.ptr[from]) from++;
  if (from == text.len || text.ptr[from] != ':' || !is_any(name, names)) return (struct secret){0};
  from = after_blanks(text, from + 1);
  if (from < text.len && text.ptr[from] && strchr("\"'", text.ptr[from])) from++;
  size_t end = header_end(text, from), scheme = from;
  while (scheme < end && (mask_is_alnum(text.ptr[scheme]) || text.ptr[scheme] == '-')) scheme++;
  if (scheme < end && text.ptr[scheme] == ' ' && scheme > from) from = after_blanks(text, scheme);
  if (from >= end || mask_is_placeholder(span_of(text.ptr + from, end - from)))
    return (struct secret){0};
  return (struct secret){.shown = from - at, .hidden = end - from};
}

/* "Bearer x" without its header. */
static struct secret find_bearer(struct tidings_span text, size_t at, struct tidings_span name) {
  enum { LEAST = 16 };
  if (!span_is_word(name, "bearer")) return (struct secret){0};
  size_t from = after_blanks(text, at + name.len), end = from;
  bool has_digit = false;
  for (; end < text.len &&
         (mask_is_alnum(text.ptr[end]) || (text.ptr[end] && strchr("-._~+/=", text.ptr[end])));
       end++)
    has_digit = has_digit || (text.ptr[end] >= '0' && text.ptr[end] <= '9');
  if (end - from < LEAST || !has_digit) return (struct secret){0};
  return (struct secret){.shown = from - at, .hidden = end - from};
}

/* -- the whole --------------------------------------------------------------------------------- */

struct secret mask_find_named(struct tidings_span text, size_t at) {
  size_t begin = at;
  while (begin < text.len && text.ptr[begin] == '-') begin++;
  size_t end = begin;
  while (end < text.len && end - begin < LONGEST_NAME &&
         (mask_is_alnum(text.ptr[end]) || (text.ptr[end] && strchr("_-.", text.ptr[end]))))
    end++;
  struct tidings_span name = span_of(text.ptr + begin, end - begin);
  if (!name.len || name.len == LONGEST_NAME) return (struct secret){0};
  struct secret header = find_header(text, begin, name);
  if (!header.hidden) header = find_bearer(text, begin, name);
  if (header.hidden) return (struct secret){begin - at + header.shown, header.hidden};
  enum sort sort = sort_of(name);
  size_t from = end;
  enum joint joint = sort == HARMLESS ? NO_JOINT : read_joint(text, &from, begin > at);
  if (joint == NO_JOINT || from >= text.len) return (struct secret){0};
  size_t value_at = from, len = mask_value(text, value_at, &from);
  if (!is_secret(sort, joint, text, value_at, from, span_of(text.ptr + from, len)))
    return (struct secret){0};
  return (struct secret){.shown = from - at, .hidden = len};
}
