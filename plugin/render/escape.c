/* SPDX-License-Identifier: MIT
 *
 * render/escape.c: writes an item line by line. Deceptive characters are made visible everywhere;
 * structure at the start of a line gets a backslash. Lines after the first keep their indentation,
 * and empty lines between others stay.
 */
#include "render/escape.h"

#include "common/utf8.h"
#include "render/lookalike.h"
#include "render/structure.h"

static const char continuation[] = "\n  ";

/* How long the blank at `at` is; 0: there is none. */
static size_t space_at(struct tidings_span text, size_t at) {
  uint32_t code_point;
  char byte = byte_at(text, at);
  if ((unsigned char)byte < 0x80) return is_blank(byte);
  size_t len = utf8_decode(text, at, &code_point);
  return len && is_space(code_point) ? len : 0;
}

static struct tidings_span trim_item(struct tidings_span line) {
  size_t at = 0;
  for (size_t len; (len = space_at(line, at));) at += len;
  line = span_from(line, at);
  while (line.len && is_blank(line.ptr[line.len - 1])) line.len--;
  return line;
}

/* Takes the next line off the text: up to LF, CR or CR LF. Text without any CR, which is most, is
 * searched by the library. */
static struct tidings_span take_line(struct tidings_span *text, bool has_carriage_return) {
  const char *feed = has_carriage_return ? NULL : memchr(text->ptr, '\n', text->len);
  size_t len = has_carriage_return ? 0 : feed ? (size_t)(feed - text->ptr) : text->len;
  while (len < text->len && text->ptr[len] != '\n' && text->ptr[len] != '\r') len++;
  struct tidings_span line = span_of(text->ptr, len);
  if (byte_at(*text, len) == '\r' && byte_at(*text, len + 1) == '\n') len++;
  if (len < text->len) len++;
  *text = span_from(*text, len);
  return line;
}

bool escape_shows(struct tidings_span text, size_t at) {
  uint32_t code_point;
  return utf8_decode(text, at, &code_point) && code_point != '\n' && code_point != '\r' &&
         code_point != '\t' &&
         (utf8_is_deceptive(code_point) || code_point == 0xFE0E || code_point == 0xFE0F);
}

/* The ASCII characters that have to be checked in each place, beside the control characters. */
enum { IN_ITEM = 1, INLINE = 2, IN_XML = 4, IN_ATTRIBUTE = 8, IN_JSON = 16, IN_ESCAPES = 32 };
static const uint8_t special[128] = {
    ['<'] = IN_ITEM | INLINE | IN_XML | IN_ATTRIBUTE | IN_JSON,
    ['>'] = IN_XML | IN_ATTRIBUTE | IN_JSON,
    ['&'] = IN_XML | IN_ATTRIBUTE,
    ['"'] = IN_ATTRIBUTE | IN_JSON,
    ['\''] = IN_ATTRIBUTE,
    ['\\'] = INLINE | IN_JSON | IN_ESCAPES,
    ['`'] = INLINE | IN_JSON,
    ['*'] = INLINE,
    ['_'] = INLINE,
    ['['] = INLINE,
    [']'] = INLINE,
    ['|'] = INLINE,
    ['~'] = INLINE,
};

/* Eight bytes at once: are all of them printable ASCII other than '<'? Most texts are, and this
 * is most of what rendering costs. */
static bool eight_are_plain(const char *at) {
  const uint64_t ones = 0x0101010101010101u, highs = ones << 7;
  uint64_t word, deleted, tag;
  memcpy(&word, at, sizeof word);
  deleted = word ^ ones * 0x7F;
  tag = word ^ ones * '<';
  /* x - ones * n sets the top bit of each byte of x that is below n (and of some after one: then
   * the slow way looks). */
  return !((word | ((word - ones * 0x20) & ~word) | ((deleted - ones) & ~deleted) |
            ((tag - ones) & ~tag)) &
           highs);
}

/* U+FE0E and U+FE0F choose the look of the character in front of them, which ends with the byte
 * `before`. In ASCII only keycaps have one: elsewhere they hide structure, as between "<" and
 * "/system>". */
static bool is_stray_selector(char before, struct tidings_span text, size_t at,
                              uint32_t code_point) {
  static const char keycap[] = "\xE2\x83\xA3";
  if ((code_point != 0xFE0E && code_point != 0xFE0F) || (unsigned char)before >= 0x80) return false;
  struct tidings_span behind = span_from(text, at + 3);
  bool is_key = is_digit(before) || before == '#' || before == '*';
  return !is_key || behind.len < 3 || memcmp(behind.ptr, keycap, 3) != 0;
}

/* The byte in front of `at`. At `begin` that is the last byte already written. NUL: there is none.
 */
static char byte_before(struct tidings_span text, size_t begin, size_t at,
                        const struct buffer *out) {
  if (at > begin) return text.ptr[at - 1];
  if (out->len) return out->bytes[out->len - 1];
  return '\0';
}

/* How many bytes from `at` on can be copied to the end of `out` as they are. */
static size_t plain_run(struct tidings_span text, size_t at, unsigned where,
                        const struct buffer *out) {
  size_t begin = at;
  while (at < text.len) {
    if (where == IN_ITEM && text.len - at >= 8 && eight_are_plain(text.ptr + at)) {
      at += 8;
      continue;
    }
    unsigned char byte = (unsigned char)text.ptr[at];
    if (byte < 0x80) {
      if (byte < 0x20 || byte == 0x7F || (special[byte] & where)) break;
      at++;
      continue;
    }
    uint32_t code_point;
    size_t len = utf8_decode(text, at, &code_point);
    if (!len || utf8_is_deceptive(code_point) ||
        (fold_opener_leads[byte] && fold_is_opener(code_point)) ||
        is_stray_selector(byte_before(text, begin, at, out), text, at, code_point))
      break;
    at += len;
  }
  return at - begin;
}

/* Writes the character at `at`, where plain_run has stopped. */
static size_t write_shown(struct tidings_span text, size_t at, struct buffer *out) {
  uint32_t code_point;
  size_t len = utf8_decode(text, at, &code_point);
  if (len && is_stray_selector(byte_before(text, at, at, out), text, at, code_point)) {
    buffer_format(out, "{U+%04X}", (unsigned)code_point);
    return len;
  }
  struct utf8_shown shown = utf8_show(text, at);
  buffer_append(out, shown.text, shown.len);
  return shown.taken;
}

/* False: the byte has no entity. */
static bool write_entity(char byte, struct buffer *out) {
  switch (byte) {
  case '<': buffer_text(out, "&lt;"); return true;
  case '>': buffer_text(out, "&gt;"); return true;
  case '&': buffer_text(out, "&amp;"); return true;
  case '"': buffer_text(out, "&quot;"); return true;
  case '\'': buffer_text(out, "&apos;"); return true;
  default: return false;
  }
}

static bool opens_tag(struct tidings_span whole, size_t at) {
  return !escape_shows(whole, at + fold_at(whole, at).taken) && lookalike_reserved_tag(whole, at);
}

/* Writes a harmless text in place of the character at `at` that looks like <, so that it opens no
 * tag. Returns how many bytes of the text it replaces. */
static size_t write_opener(struct tidings_span whole, size_t at, struct buffer *out) {
  struct fold fold = fold_at(whole, at);
  bool is_tag = fold.look[0] == '<' && opens_tag(whole, at);
  if (whole.ptr[at] == '<') {
    buffer_text(out, is_tag ? "&lt;" : "<");
    return 1;
  }
  if (is_tag) buffer_byte(out, '\\');
  if (fold.kind == FOLD_ASCII) {
    buffer_append(out, whole.ptr + at, fold.taken);
    return fold.taken;
  }
  if (fold.escaped || whole.ptr[at] == '\\') {
    buffer_byte(out, '\\');
    return 1;
  }
  return write_shown(whole, at, out);
}

/* The facts about an item that its lines need. */
struct item_text {
  enum escape where;
  const char *end;
  bool has_escapes; /* JSON escapes, in which a < may hide */
};

static bool has_escapes(struct tidings_span text) {
  for (const char *at; text.len && (at = memchr(text.ptr, '\\', text.len));) {
    text = span_from(text, (size_t)(at - text.ptr) + 1);
    if (byte_at(text, 0) == 'u' || byte_at(text, 0) == 'x') return true;
  }
  return false;
}

static void write_text(const struct item_text *item, struct tidings_span text, struct buffer *out) {
  struct tidings_span whole = span_of(text.ptr, (size_t)(item->end - text.ptr));
  unsigned looked_at = item->where == ESCAPE_XML ? IN_XML : IN_ITEM;
  if (item->has_escapes) looked_at |= IN_ESCAPES;
  for (size_t at = 0; at < text.len;) {
    size_t run = plain_run(text, at, looked_at, out);
    buffer_append(out, text.ptr + at, run);
    at += run;
    if (at == text.len) break;
    if (item->where == ESCAPE_XML && write_entity(text.ptr[at], out)) {
      at++;
    } else if (text.ptr[at] == '\t') {
      buffer_byte(out, ' ');
      at++;
    } else {
      at += write_opener(whole, at, out);
    }
  }
}

/* Most lines begin with a letter: those are no structure. */
static bool begins_with_letter(struct tidings_span line) {
  char first = byte_at(line, 0);
  return is_alphanumeric(first) && !is_digit(first);
}

/* `line` goes on to the end of the item. */
static bool reads_as_ours(struct tidings_span line) {
  char first = lower_case(byte_at(line, 0));
  if ((unsigned char)first < 0x80 && first != '(' && first != 'w' && first != '\\') return false;
  return lookalike_pending_line(line, 0) || lookalike_plain_header(line, 0);
}

/* Lines after the first are indented, so list marks in them start no item; what follows such a mark
 * may still read as a line of ours. */
static size_t find_mark(const struct item_text *item, struct tidings_span line, bool first) {
  struct tidings_span whole = span_of(line.ptr, (size_t)(item->end - line.ptr));
  size_t text = 0, mark = NO_MARK;
  if (!begins_with_letter(line))
    mark =
        first ? structure_mark(item->where, line) : structure_inner_mark(item->where, line, &text);
  if (mark == NO_MARK && text < line.len && reads_as_ours(span_from(whole, text))) mark = 0;
  return mark;
}

static void write_line(const struct item_text *item, struct tidings_span line, bool first,
                       struct buffer *out) {
  struct tidings_span whole = span_of(line.ptr, (size_t)(item->end - line.ptr));
  size_t mark = find_mark(item, line, first);
  if (mark != NO_MARK) {
    write_text(item, span_of(line.ptr, mark), out);
    bool neutral = line.ptr[mark] == '<' && opens_tag(whole, mark);
    if (!neutral) buffer_byte(out, '\\');
    line = span_from(line, mark);
  }
  write_text(item, line, out);
}

/* How many blanks a line begins with: a tab is four. */
static size_t indentation_of(struct tidings_span line) {
  size_t at = 0, blanks = 0;
  for (size_t len; (len = space_at(line, at)); at += len) blanks += line.ptr[at] == '\t' ? 4 : 1;
  return blanks;
}

static void continue_item(size_t empty_lines, size_t blanks, struct buffer *out) {
  while (empty_lines--) buffer_byte(out, '\n');
  buffer_append(out, continuation, sizeof continuation - 1);
  while (blanks--) buffer_byte(out, ' ');
}

static void write_age(struct tidings_span age, struct buffer *out) {
  if (age.len) buffer_format(out, " (%.*s)", SPAN_FORMAT(age));
}

void escape_item_aged(enum escape where, struct tidings_span text, struct tidings_span age,
                      struct buffer *out) {
  bool first = true, has_carriage_return = text.len && memchr(text.ptr, '\r', text.len);
  struct item_text item = {.where = where, .has_escapes = has_escapes(text)};
  if (text.len) item.end = text.ptr + text.len;
  size_t empty_lines = 0;
  while (text.len) {
    struct tidings_span whole = take_line(&text, has_carriage_return), line = trim_item(whole);
    if (!line.len) {
      empty_lines++;
      continue;
    }
    if (!first) continue_item(empty_lines, indentation_of(whole), out);
    write_line(&item, line, first, out);
    if (first) write_age(age, out);
    first = false;
    empty_lines = 0;
  }
  if (!first) return;
  buffer_text(out, "(empty)");
  write_age(age, out);
}

void escape_item(enum escape where, struct tidings_span text, struct buffer *out) {
  escape_item_aged(where, text, span_of(NULL, 0), out);
}

static void write_inline(struct tidings_span text, unsigned looked_at, struct buffer *out) {
  for (size_t at = 0; at < text.len;) {
    size_t run = plain_run(text, at, looked_at, out);
    buffer_append(out, text.ptr + at, run);
    at += run;
    if (at == text.len) break;
    char byte = text.ptr[at];
    if ((unsigned char)byte >= sizeof special || !(special[(unsigned char)byte] & looked_at)) {
      at += write_shown(text, at, out);
      continue;
    }
    bool inside_word = byte == '_' && at && is_alphanumeric(text.ptr[at - 1]) &&
                       is_alphanumeric(byte_at(text, at + 1));
    if (!write_entity(byte, out)) {
      if (!inside_word) buffer_byte(out, '\\');
      buffer_byte(out, byte);
    }
    at++;
  }
}

void escape_markdown_inline(struct tidings_span text, struct buffer *out) {
  write_inline(text, INLINE, out);
}

void escape_xml_inline(struct tidings_span text, struct buffer *out) {
  write_inline(text, INLINE | IN_XML, out);
}

void escape_xml_attribute(struct tidings_span text, struct buffer *out) {
  write_inline(text, IN_ATTRIBUTE, out);
}

/* Only three backticks in a row are a fence, and the third alone need not be one. */
static bool ends_fence(struct tidings_span text, size_t at) {
  return text.ptr[at] == '`' && at >= 2 && text.ptr[at - 1] == '`' && text.ptr[at - 2] == '`';
}

/* A character above ASCII by its number. */
static size_t write_json_code(struct tidings_span text, size_t at, struct buffer *out) {
  struct fold fold = fold_at(text, at);
  unsigned code = (unsigned)fold.literal, above = code - 0x10000;
  if (code < 0x10000) buffer_format(out, "\\u%04x", code);
  else buffer_format(out, "\\u%04x\\u%04x", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
  return fold.taken;
}

void escape_json_string(struct tidings_span text, struct buffer *out) {
  buffer_byte(out, '"');
  for (size_t at = 0; at < text.len;) {
    size_t run = plain_run(text, at, IN_JSON, out);
    buffer_append(out, text.ptr + at, run);
    at += run;
    if (at == text.len) break;
    unsigned char byte = (unsigned char)text.ptr[at];
    if (byte == '\n' || byte == '\t' || byte == '\r') {
      buffer_text(out, byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\r");
      at++;
    } else if (byte == '<' || byte == '>' || ends_fence(text, at)) {
      buffer_format(out, "\\u%04x", byte);
      at++;
    } else if (byte >= 0x80 && fold_at(text, at).look[0] == '<' &&
               lookalike_reserved_tag(text, at)) {
      at += write_json_code(text, at, out);
    } else if (byte < sizeof special && (special[byte] & IN_JSON)) {
      if (byte != '`') buffer_byte(out, '\\');
      buffer_byte(out, (char)byte);
      at++;
    } else {
      at += write_shown(text, at, out);
    }
  }
  buffer_byte(out, '"');
}
