/* SPDX-License-Identifier: MIT
 */
#include "recipes/template.h"

#include <string.h>

/* A place: the alternatives after its "{", and where the text continues. */
struct place {
  struct tidings_span choices;
  size_t end; /* 0: it has no "}" */
};

static struct place read_place(struct tidings_span text, size_t at) {
  struct place place = {.end = 0};
  const char *begin = text.ptr + at + 1;
  const char *close = memchr(begin, '}', text.len - at - 1);
  if (!close) return place;
  place.choices = span_of(begin, (size_t)(close - begin));
  place.end = (size_t)(close - text.ptr) + 1;
  return place;
}

/* Takes the choice up to the next "|". *ret_last: there is none after it. */
static struct tidings_span take_choice(struct tidings_span *choices, bool *ret_last) {
  const char *bar = choices->len ? memchr(choices->ptr, '|', choices->len) : NULL;
  size_t len = bar ? (size_t)(bar - choices->ptr) : choices->len;
  struct tidings_span choice = span_of(choices->ptr, len);
  *ret_last = !bar;
  if (bar) *choices = span_of(bar + 1, choices->len - len - 1);
  return choice;
}

static bool looks_like_pointer(struct tidings_span choice) {
  return choice.len && pointer_is_valid(choice) &&
         (choice.ptr[0] == '/' || choice.ptr[0] == '.' || choice.ptr[0] == 'h' ||
          choice.ptr[0] == 'b');
}

/* Is the place valid? The first choice must be a pointer, and only the last one may be a text. */
static bool is_valid_place(struct tidings_span choices) {
  bool last = false;
  for (bool first = true; !last; first = false) {
    struct tidings_span choice = take_choice(&choices, &last);
    if ((first || !last) && !looks_like_pointer(choice)) return false;
  }
  return true;
}

bool template_is_blank(struct tidings_span text) {
  for (size_t i = 0; i < text.len; i++) {
    char byte = text.ptr[i];
    if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n') return false;
  }
  return true;
}

/* Writes the choice's value. False: it is not there. *ret_blank: it is blank. */
static bool write_choice(struct tidings_span choice, const struct recipe_document *document,
                         struct buffer *out, bool *ret_blank) {
  size_t begin = out->len;
  if (!pointer_write(document, choice, out)) return false;
  *ret_blank =
      out->len == begin || template_is_blank(span_of(out->bytes + begin, out->len - begin));
  return true;
}

/* Writes a place's value; a blank one is left out if a later choice is found. False: no pointer was
 * found, and there is no text. */
static bool write_place(struct tidings_span choices, const struct recipe_document *document,
                        struct buffer *out) {
  bool last = false, found = false;
  size_t begin = out->len;
  while (!last) {
    struct tidings_span choice = take_choice(&choices, &last);
    bool blank = false;
    if (!looks_like_pointer(choice)) {
      buffer_span(out, choice);
      return true;
    }
    if (!write_choice(choice, document, out, &blank)) continue;
    found = true;
    if (!blank || last) return true;
    out->len = begin;
  }
  return found;
}

static bool is_brace(struct tidings_span text, size_t at) {
  return at + 1 < text.len && text.ptr[at + 1] == '{';
}

const char *template_mistake(struct tidings_span text) {
  for (size_t at = 0; at < text.len;) {
    if (text.ptr[at] != '{') {
      at++;
      continue;
    }
    if (is_brace(text, at)) {
      at += 2;
      continue;
    }
    struct place place = read_place(text, at);
    if (!place.end) return "a \"{\" has no \"}\"";
    if (!is_valid_place(place.choices))
      return "a place is neither a pointer such as {/a/b} or {./a} nor {header:NAME}";
    at = place.end;
  }
  return NULL;
}

void template_write(struct tidings_span text, const struct recipe_document *document,
                    struct buffer *out, bool *ret_whole) {
  *ret_whole = true;
  for (size_t at = 0; at < text.len;) {
    size_t plain = at;
    while (at < text.len && text.ptr[at] != '{') at++;
    buffer_span(out, span_of(text.ptr + plain, at - plain));
    if (at == text.len) return;
    if (is_brace(text, at)) {
      buffer_byte(out, '{');
      at += 2;
      continue;
    }
    struct place place = read_place(text, at);
    if (!write_place(place.choices, document, out)) *ret_whole = false;
    at = place.end;
  }
}
