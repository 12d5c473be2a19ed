/* SPDX-License-Identifier: MIT
 *
 * json_read.c: see the header. It does not recurse: what is open is a list.
 */
#include "json_read.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

#define LONGEST_NUMBER 255

struct reader {
  const char *text;
  size_t len;
  size_t at;
  json_t *root;
  json_t *open[HK_JSON_MAX_DEPTH]; /* arrays and objects that have not ended, the innermost last;
                                      all of them are part of root */
  size_t depth;
  char *key; /* of the member whose value comes next */
  const char *name;
  struct tidings_error *error;
  int32_t code;
};

size_t hk_utf8_sequence(const char *text, size_t len) {
  const unsigned char *bytes = (const unsigned char *)text;
  unsigned char lead = len ? bytes[0] : 0xFF;
  size_t needs = lead < 0x80                   ? 1
                 : lead >= 0xC2 && lead < 0xE0 ? 2
                 : (lead & 0xF0u) == 0xE0      ? 3
                 : lead >= 0xF0 && lead < 0xF5 ? 4
                                               : 0;
  if (needs == 0 || needs > len) return 0;
  for (size_t i = 1; i < needs; i++) {
    if ((bytes[i] & 0xC0u) != 0x80) return 0;
  }
  bool overlong = (lead == 0xE0 && bytes[1] < 0xA0) || (lead == 0xF0 && bytes[1] < 0x90);
  bool outside = (lead == 0xED && bytes[1] >= 0xA0) || (lead == 0xF4 && bytes[1] >= 0x90);
  return overlong || outside ? 0 : needs;
}

int hk_is_utf8(struct tidings_span text) {
  for (size_t i = 0; i < text.len;) {
    size_t len = hk_utf8_sequence(text.ptr + i, text.len - i);
    if (!len) return 0;
    i += len;
  }
  return 1;
}

static json_t *no_memory(struct reader *reader) {
  if (!reader->code)
    reader->code =
        hk_error(reader->error, TIDINGS_E_NOMEM, "out of memory while reading %s", reader->name);
  return NULL;
}

static json_t *expected(struct reader *reader, const char *what) {
  if (!reader->code)
    reader->code =
        hk_error(reader->error, TIDINGS_E_INVAL, "%s is not JSON: expected %s at byte %zu",
                 reader->name, what, reader->at);
  return NULL;
}

/* The byte at hand; 0 at the end. */
static char current(const struct reader *reader) {
  if (reader->at == reader->len) return '\0';
  return reader->text[reader->at];
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The next byte that is no white space, without taking it; 0 at the end. */
static char peek(struct reader *reader) {
  while (reader->at < reader->len && is_space(reader->text[reader->at])) reader->at++;
  return current(reader);
}

static bool take(struct reader *reader, char wanted) {
  if (peek(reader) != wanted) return false;
  reader->at++;
  return true;
}

/* Four hexadecimal digits at `at`, or -1. */
static long hex(const struct reader *reader, size_t at) {
  long value = 0;
  if (reader->len < 4 || at > reader->len - 4) return -1;
  for (size_t i = at; i < at + 4; i++) {
    char c = reader->text[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

static size_t put_utf8(char *out, unsigned long c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = len - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
  out[0] = (char)(leads[len] | c);
  return len;
}

/* Behind the backslash. Returns how many bytes were written, 0: not an escape. */
static size_t read_escape(struct reader *reader, char *out) {
  static const char from[] = "\"\\/bfnrt";
  static const char to[] = "\"\\/\b\f\n\r\t";
  char c = current(reader);
  const char *simple = c ? strchr(from, c) : NULL;
  if (simple) {
    reader->at++;
    *out = to[simple - from];
    return 1;
  }
  long high = c == 'u' ? hex(reader, reader->at + 1) : -1;
  if (high < 0 || (high >= 0xDC00 && high < 0xE000)) return 0;
  unsigned long value = (unsigned long)high;
  size_t used = 5;
  if (high >= 0xD800 && high < 0xDC00) {
    bool pair = reader->len - reader->at > 7 && reader->text[reader->at + 5] == '\\' &&
                reader->text[reader->at + 6] == 'u';
    long low = pair ? hex(reader, reader->at + 7) : -1;
    if (low < 0xDC00 || low >= 0xE000) return 0;
    value = 0x10000 + (((unsigned long)high & 0x3FF) << 10) + ((unsigned long)low & 0x3FF);
    used = 11;
  }
  reader->at += used;
  return put_utf8(out, value);
}

/* Behind the opening quote. The text is on the heap with a NUL behind it; NULL: failed. */
static char *read_string(struct reader *reader, size_t *ret_len) {
  const char *quote = memchr(reader->text + reader->at, '"', reader->len - reader->at);
  while (quote &&
         quote[-1] == '\\') { /* perhaps escaped: a longer buffer than needed does no harm */
    size_t next = (size_t)(quote - reader->text) + 1;
    quote = memchr(reader->text + next, '"', reader->len - next);
  }
  size_t end = quote ? (size_t)(quote - reader->text) : reader->len;
  char *out = malloc(end - reader->at + 1);
  size_t used = 0;
  if (!out) {
    no_memory(reader);
    return NULL;
  }
  while (reader->at < reader->len && reader->text[reader->at] != '"') {
    char c = reader->text[reader->at];
    size_t len = 0;
    if (c == '\\') {
      reader->at++;
      len = read_escape(reader, out + used);
    } else if ((unsigned char)c >= 0x20) {
      len = hk_utf8_sequence(reader->text + reader->at, reader->len - reader->at);
      memcpy(out + used, reader->text + reader->at, len);
      reader->at += len;
    }
    if (!len) {
      expected(reader, c == '\\' ? "an escape" : "UTF-8 text without control characters");
      goto out;
    }
    used += len;
  }
  if (reader->at == reader->len) expected(reader, "the end of a string");
out:
  if (reader->code) {
    free(out);
    return NULL;
  }
  reader->at++;
  out[used] = '\0';
  *ret_len = used;
  return out;
}

static json_t *read_text(struct reader *reader) {
  size_t len = 0;
  char *text = read_string(reader, &len);
  if (!text) return NULL;
  json_t *value = json_stringn_nocheck(text, len);
  free(text);
  return value ? value : no_memory(reader);
}

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

static json_t *read_number(struct reader *reader) {
  char text[LONGEST_NUMBER + 1] = {0};
  size_t room =
      reader->len - reader->at < LONGEST_NUMBER ? reader->len - reader->at : LONGEST_NUMBER;
  memcpy(text, reader->text + reader->at, room);
  size_t used = text[0] == '-';
  size_t whole = digits(text + used);
  if (whole == 0 || (whole > 1 && text[used] == '0')) return expected(reader, "a value");
  used += whole;
  size_t integer_end = used;
  if (text[used] == '.') {
    size_t fraction = digits(text + used + 1);
    if (!fraction) return expected(reader, "a digit behind the point of a number");
    used += 1 + fraction;
  }
  if (text[used] == 'e' || text[used] == 'E') {
    size_t sign = text[used + 1] == '+' || text[used + 1] == '-';
    size_t exponent = digits(text + used + 1 + sign);
    if (!exponent) return expected(reader, "a digit in the exponent of a number");
    used += 1 + sign + exponent;
  }
  if (used == LONGEST_NUMBER) return expected(reader, "a shorter number");

  text[used] = '\0';
  errno = 0;
  json_t *value = NULL;
  if (used == integer_end) {
    long long number = strtoll(text, NULL, 10);
    if (errno) return expected(reader, "a smaller number");
    value = json_integer(number);
  } else {
    double number = strtod_l(
        text, NULL,
        newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* the "C" locale is constant: nothing to free */
    if (isinf(number)) return expected(reader, "a smaller number");
    value = json_real(number);
  }
  reader->at += used;
  return value ? value : no_memory(reader);
}

static json_t *read_word(struct reader *reader) {
  static const char *const words[] = {"true", "false", "null"};
  json_t *const values[] = {json_true(), json_false(), json_null()};
  for (size_t i = 0; i < 3; i++) {
    size_t len = strlen(words[i]);
    if (reader->len - reader->at >= len && memcmp(reader->text + reader->at, words[i], len) == 0) {
      reader->at += len;
      return values[i];
    }
  }
  return read_number(reader);
}

/* A key and the colon behind it; it waits in the reader for its value. */
static void read_key(struct reader *reader) {
  size_t len = 0;
  size_t start = reader->at;
  char *key = take(reader, '"') ? read_string(reader, &len) : NULL;
  if (!key) {
    expected(reader, "a string, the key of a member");
    return;
  }
  bool has_nul = strlen(key) != len;
  if (has_nul || json_object_get(reader->open[reader->depth - 1], key)) {
    reader->at = start;
    expected(reader, has_nul ? "a key without NUL characters" : "a key that was not there before");
  } else if (!take(reader, ':')) {
    expected(reader, "':'");
  }
  if (reader->code) free(key);
  else reader->key = key;
}

/* Puts a value where it belongs: into the innermost open array or object. Takes it over. */
static void place(struct reader *reader, json_t *value) {
  if (!value) return;
  json_t *parent = reader->depth ? reader->open[reader->depth - 1] : NULL;
  int failed = 0;
  if (!parent) reader->root = value;
  else if (json_is_array(parent)) failed = json_array_append_new(parent, value);
  else failed = json_object_set_new_nocheck(parent, reader->key, value);
  free(reader->key);
  reader->key = NULL;
  if (failed) no_memory(reader);
}

/* Begins an array or object, and in the latter reads the first key. Returns false for an empty one,
 * which is finished. */
static bool open_container(struct reader *reader, char first) {
  if (reader->depth == HK_JSON_MAX_DEPTH) {
    reader->code = hk_error(reader->error, TIDINGS_E_TOO_BIG, "%s nests deeper than %d",
                            reader->name, HK_JSON_MAX_DEPTH);
    return false;
  }
  reader->at++;
  json_t *container = first == '[' ? json_array() : json_object();
  if (!container) no_memory(reader);
  place(reader, container);
  if (reader->code || take(reader, first == '[' ? ']' : '}')) return false;
  reader->open[reader->depth++] = container;
  if (first == '{') read_key(reader);
  return true;
}

/* Behind a value: closes what ends here, and reads the next key. Returns whether another value
 * follows. */
static bool go_on(struct reader *reader) {
  while (reader->depth && !reader->code) {
    bool is_array = json_is_array(reader->open[reader->depth - 1]);
    if (take(reader, ',')) {
      if (!is_array) read_key(reader);
      return true;
    }
    if (take(reader, is_array ? ']' : '}')) reader->depth--;
    else expected(reader, is_array ? "',' or ']'" : "',' or '}'");
  }
  return false;
}

static void read_all(struct reader *reader) {
  do {
    char first = peek(reader);
    if (first == '[' || first == '{') {
      if (open_container(reader, first)) continue;
    } else if (first == '"') {
      reader->at++;
      place(reader, read_text(reader));
    } else {
      place(reader, read_word(reader));
    }
    if (!go_on(reader)) return;
  } while (!reader->code);
}

int32_t hk_json_read(struct tidings_span text, const char *name, json_t **ret_value,
                     struct tidings_error *error) {
  struct reader reader = {.text = text.ptr, .len = text.len, .name = name, .error = error};
  if (text.len) read_all(&reader);
  else expected(&reader, "a value");
  if (!reader.code && (peek(&reader) != '\0' || reader.at < reader.len))
    expected(&reader, "the end");
  if (reader.code) {
    json_decref(reader.root);
    free(reader.key);
    return reader.code;
  }
  *ret_value = reader.root;
  return TIDINGS_OK;
}
