/* SPDX-License-Identifier: MIT
 *
 * render/lookalike.c: see lookalike.h.
 */
#include "render/lookalike.h"

#include "common/utf8.h"
#include "render/render.h"
#include "values/notification.h"

/* -- in one line ------------------------------------------------------------------------------- */

/* Ends a tag's name here? Not in <username>, nor in List<System.Out>. */
static bool ends_name(char byte) { return !is_alphanumeric(byte) && byte != '.' && byte != ':'; }

bool lookalike_reserved_tag(struct tidings_span text) {
  static const char *const prefixes[] = {"_system", "function_", "tool_", "tool-",
                                         "antml",   "|",         "!--",   "![cdata["};
  static const char *const names[] = {"system",    "notification", "notifications", "user",
                                      "assistant", "human",        "developer",     "tool",
                                      "invoke",    "instructions"};
  size_t at = 1;
  while (is_blank(byte_at(text, at)) || byte_at(text, at) == '/') at++;
  if (at >= text.len) return true; /* whatever the next line brings */
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (starts_with_word(span_from(text, at), prefixes[i])) return true;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (starts_with_word(span_from(text, at), names[i]) &&
        ends_name(byte_at(text, at + strlen(names[i]))))
      return true;
  }
  return false;
}

bool lookalike_pending_line(struct tidings_span line) {
  size_t at = 1;
  if (byte_at(line, 0) != '(') return false;
  while (is_digit(byte_at(line, at))) at++;
  return at > 1 && starts_with_word(span_from(line, at), " more notification");
}

/* -- lines ------------------------------------------------------------------------------------- */

/* The length of the line break at `at`; 0: there is none. */
static size_t break_at(struct tidings_span text, size_t at) {
  const char *bytes = text.ptr + at;
  size_t left = text.len - at;
  switch (*bytes) {
  case '\r': return left > 1 && bytes[1] == '\n' ? 2 : 1;
  case '\n':
  case '\v':
  case '\f': return 1;
  case '\xC2': return left > 1 && bytes[1] == '\x85' ? 2 : 0;
  case '\xE2':
    return left > 2 && bytes[1] == '\x80' && (bytes[2] == '\xA8' || bytes[2] == '\xA9') ? 3 : 0;
  default: return 0;
  }
}

size_t lookalike_line_end(struct tidings_span text, size_t begin) {
  while (begin < text.len && !break_at(text, begin)) begin++;
  return begin;
}

size_t lookalike_line_after(struct tidings_span text, size_t end) {
  return end < text.len ? end + break_at(text, end) : end;
}

/* -- words that hide --------------------------------------------------------------------------- */

/* U+FE0E and U+FE0F are an emoji's text and colour form. */
static bool is_unseen(uint32_t code_point) {
  return code_point != '\t' &&
         (utf8_is_deceptive(code_point) || code_point == 0xFE0E || code_point == 0xFE0F);
}

/* Behind characters that nobody sees, other than line breaks and tabs. */
static size_t skip_unseen(struct tidings_span text, size_t at) {
  uint32_t code_point;
  for (size_t len;
       (len = utf8_decode(text, at, &code_point)) && is_unseen(code_point) && !break_at(text, at);)
    at += len;
  return at;
}

/* Behind them and all blanks. */
static size_t skip_space(struct tidings_span text, size_t at) {
  uint32_t code_point;
  for (;;) {
    at = skip_unseen(text, at);
    size_t len = utf8_decode(text, at, &code_point);
    if (!len || !is_space(code_point)) return at;
    at += len;
  }
}

static size_t skip_to_text(struct tidings_span text, size_t at) {
  for (;;) {
    at = skip_space(text, at);
    size_t len = at < text.len ? break_at(text, at) : 0;
    if (!len) return at;
    at += len;
  }
}

/* Where `word`, in lower case, ends that begins at `at`; NO_MARK: it does not stand there. A blank
 * in it stands for any number of blanks, a hyphen for these too, for an underscore, or for
 * nothing. */
static size_t match_word(struct tidings_span text, size_t at, const char *word) {
  for (; *word; word++) {
    if (*word == ' ') {
      size_t behind = skip_space(text, at);
      if (behind == at) return NO_MARK;
      at = behind;
      continue;
    }
    if (*word == '-') {
      at = skip_space(text, at);
      if (byte_at(text, at) == '-' || byte_at(text, at) == '_') at = skip_space(text, at + 1);
      continue;
    }
    at = skip_unseen(text, at);
    if (lower_case(byte_at(text, at)) != *word) return NO_MARK;
    at++;
  }
  return skip_unseen(text, at);
}

static bool continues_name(char byte) {
  return is_alphanumeric(byte) || byte == '_' || byte == '-' || byte == '.' || byte == ':';
}

bool lookalike_block_tag(struct tidings_span text, size_t at) {
  static const char *const names[] = {"system-reminder", "notification", "notifications"};
  at = skip_to_text(text, at + 1);
  while (byte_at(text, at) == '/') at = skip_to_text(text, at + 1);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t end = match_word(text, at, names[i]);
    if (end != NO_MARK && !continues_name(byte_at(text, end))) return true;
  }
  return false;
}

/* The last byte in front of `at` of a character that is seen; a blank at the beginning. */
static char seen_before(struct tidings_span text, size_t at) {
  while (at) {
    uint32_t code_point;
    size_t begin = at - 1;
    while (begin && at - begin < 4 && ((unsigned char)text.ptr[begin] & 0xC0) == 0x80) begin--;
    if (utf8_decode(text, begin, &code_point) != at - begin || !is_unseen(code_point) ||
        break_at(text, begin))
      return text.ptr[at - 1];
    at = begin;
  }
  return ' ';
}

bool lookalike_key(struct tidings_span text, size_t at) {
  char before = seen_before(text, at), behind;
  bool is_key = text.ptr[at] == '"';
  size_t end =
      match_word(text, is_key ? at + 1 : at, is_key ? "system_notifications" : NOTIFICATION_TOOL);
  if (before == '\\' || end == NO_MARK) return false;
  behind = byte_at(text, end);
  if (is_key) return behind == '"';
  return !is_alphanumeric(before) && before != '_' && !is_alphanumeric(behind) && behind != '_';
}

/* -- lines of a block -------------------------------------------------------------------------- */

static bool holds(struct tidings_span line, const char *words) {
  for (size_t at = 0; at < line.len; at++) {
    if (lower_case(line.ptr[at]) == words[0] && match_word(line, at, words) != NO_MARK) return true;
  }
  return false;
}

/* Does what comes next say that it is a block of ours? */
static bool title_follows(struct tidings_span text, size_t at) {
  size_t begin = skip_to_text(text, at);
  struct tidings_span line = span_of(text.ptr + begin, lookalike_line_end(text, begin) - begin);
  return holds(line, "system notification") ||
         match_word(line, 0, "these are automated system messages") != NO_MARK;
}

/* What a nonce looks like, up to the end of the line. */
static bool is_nonce(struct tidings_span line, size_t at) {
  enum { NONCE_DIGITS = 16 };
  size_t digits = 0;
  for (; at < line.len && digits <= NONCE_DIGITS; digits++) {
    char byte = lower_case(line.ptr[at]);
    if (!is_digit(byte) && (byte < 'a' || byte > 'f')) break;
    at = skip_unseen(line, at + 1);
  }
  return digits == NONCE_DIGITS && skip_space(line, at) == line.len;
}

/* From here on `line` begins at its first visible character. */
static bool is_fence(enum fences fences, struct tidings_span line, struct tidings_span text,
                     size_t end) {
  size_t at = 0, dashes = 0;
  for (; byte_at(line, at) == '-'; dashes++) at = skip_space(line, at + 1);
  if (dashes < 3) return false;
  if (at < line.len) return is_nonce(line, at);
  return fences == FENCES_ALL || title_follows(text, end);
}

/* What follows the two marks at the beginning: "Critical:**", and nothing after it. */
static bool is_level_title(struct tidings_span line, size_t begin, char mark) {
  for (unsigned level = 0; level < LEVEL_COUNT; level++) {
    size_t at = match_word(line, begin, level_name(level)), colons = 0, marks = 0;
    if (at == NO_MARK) continue;
    for (char byte; (byte = byte_at(line, at)) == mark || byte == ':';
         at = skip_space(line, at + 1))
      byte == ':' ? colons++ : marks++;
    if (colons && marks >= 2 && at == line.len) return true;
  }
  return false;
}

static bool is_title(struct tidings_span line) {
  char mark = byte_at(line, 0);
  size_t begin = skip_unseen(line, 1);
  if ((mark != '*' && mark != '_') || byte_at(line, begin) != mark) return false;
  size_t end = ++begin;
  while (end < line.len &&
         (line.ptr[end] != mark || byte_at(line, skip_unseen(line, end + 1)) != mark))
    end++;
  return holds(span_of(line.ptr + begin, end - begin), "system notification") ||
         is_level_title(line, begin, mark);
}

/* As lookalike_pending_line, seen through. */
static bool is_count(struct tidings_span line) {
  size_t at = skip_unseen(line, 1), digits = 0;
  if (byte_at(line, 0) != '(') return false;
  for (; is_digit(byte_at(line, at)); digits++) at = skip_unseen(line, at + 1);
  return digits && match_word(line, at, " more notification") != NO_MARK;
}

bool lookalike_plain_header(struct tidings_span line) {
  return match_word(line, 0, "while you worked (not from the user") != NO_MARK;
}

size_t lookalike_line_mark(enum fences fences, struct tidings_span text, size_t begin, size_t end) {
  struct tidings_span line = span_of(text.ptr, end);
  size_t mark = skip_space(line, begin);
  line = span_from(line, mark);
  bool reads_so = is_fence(fences, line, text, end) || is_title(line) || is_count(line) ||
                  lookalike_plain_header(line);
  return reads_so ? mark : NO_MARK;
}
