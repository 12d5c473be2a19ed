/* SPDX-License-Identifier: MIT
 *
 * The output of programs becomes plain text.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/plain_text.h"
#include "common/utf8.h"
#include "kit.h"

static void is_shown_as(struct tidings_span output, const char *text) {
  struct buffer out = BUFFER_EMPTY;
  plain_text(output, &out);
  cr_expect(span_is(buffer_view(&out), text), "%.*s is shown as %.*s, not as %s",
            SPAN_FORMAT(output), SPAN_FORMAT(buffer_view(&out)), text);
  buffer_free(&out);
}

Test(plain_text, is_what_a_terminal_shows) {
  static const struct {
    const char *output, *text;
  } cases[] = {
      {"plain\n\ttext \303\251 \360\237\230\200\n", "plain\n\ttext \303\251 \360\237\230\200\n"},
      {"\033[31mred\033[0m \033[38;5;12;1mblue\033[m", "red blue"},
      {"\033[?25l\033[>4;2m\033[!pa\033[2 qb", "ab"},
      {"\302\2331mbold", "bold"},                           /* CSI as one character */
      {"a\033]0;title\007b\033]8;;http://x\033\\c", "abc"}, /* OSC to BEL, to ST */
      {"a\302\2350;title\302\234b", "ab"},                  /* both as one character */
      {"a\033Pq#0;2\033\\b\033_Gx=1;AAAA\033\\c", "abc"},   /* DCS, APC */
      {"a\033Xsos\033\\b\033^pm\033\\c\302\220d\302\234e", "abce"},
      {"a\033]0;open\nb", "a\nb"}, /* hides no other line */
      {"a\033[31\nb", "a\nb"},     /* cut off */
      {"a\033[3\303\251b", "a\303\251b"},
      {"a\033]0;x\033[31mb", "ab"},         /* a sequence ends a string */
      {"a\033]0;x\030b\033Py\032c", "abc"}, /* CAN, SUB */
      {"a\033(Bb\033%Gc\033#8d\0337e\0338\033cf\033=g", "abcdefg"},
      {"a\033", "a"},
      {"a\033[", "a"},
      {"a\033]", "a"},
      {"a\033\303\251", "a\303\251"}, /* alone */
      {"a\033\nb", "a\nb"},
      {"a\007b\013c\014d\177e\302\205f\302\200g", "abcdefg"},
      {"10%\r50%\r100%\n", "100%\n"},
      {"10%\r", "10%"},
      {"one\r\ntwo\r\r\nthree\r", "one\ntwo\nthree"},
      {"100%\r\033[0m\n", "100%\n"},
      {"working\r\033[Kdone\n", "done\n"},
      {"working\r\033[K\n", "\n"},
      {"working\033[2K\033[1Gdone", "done"},
      {"working\033[2K", ""},
      {"kept\033[K", "kept"},
      {"kept\033[1G\033[1Kx", "x"},
      {"N\bNA\bAME\n", "NAME\n"},
      {"\303\251\bx", "x"},
      {"a\n\b\bb", "a\nb"},
      {"bad \377 \300\200 byte", "bad \357\277\275 \357\277\275\357\277\275 byte"},
      {"\233"
       "31m",
       "\357\277\275"
       "31m"}, /* not UTF-8 */
      {"", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is_shown_as(span_text(cases[i].output), cases[i].text);
  is_shown_as(span_of("a\0b\033]x\0y\007c", 11), "abc");
}

/* Makes a text of bytes that mean something to it, in any order. */
static size_t random_output(struct random *random, char *to, size_t most) {
  static const char *const pieces[] = {
      "\033", "[", "]", "P",        "\\",   "\007",     "\r", "\n", "\b",   "\302\233", "\302\234",
      "K",    "2", ";", "\302\235", "\377", "\303\251", "x",  "\t", "\030", "0"};
  size_t len = 0, count = random_below(random, 30);
  while (count--) {
    const char *piece = pieces[random_below(random, sizeof pieces / sizeof *pieces)];
    if (len + strlen(piece) > most) break;
    memcpy(to + len, piece, strlen(piece));
    len += strlen(piece);
  }
  return len;
}

static bool is_harmless(struct tidings_span text) {
  for (size_t at = 0; at < text.len;) {
    uint32_t character = 0;
    size_t len = utf8_decode(text, at, &character);
    if (!len || (utf8_is_control(character) && character != '\n' && character != '\t'))
      return false;
    at += len;
  }
  return true;
}

Test(plain_text, is_harmless_and_stays_as_it_is) {
  struct random random = {7};
  for (int round = 0; round < 50000; round++) {
    char output[256];
    struct buffer once = BUFFER_EMPTY, twice = BUFFER_EMPTY;
    size_t len = random_output(&random, output, sizeof output);
    plain_text(span_of(output, len), &once);
    plain_text(buffer_view(&once), &twice);
    cr_assert(is_harmless(buffer_view(&once)), "round %d", round);
    cr_assert(span_equal(buffer_view(&once), buffer_view(&twice)), "round %d", round);
    buffer_free(&once);
    buffer_free(&twice);
  }
}

Test(plain_text, hides_no_line) {
  struct random random = {11};
  for (int round = 0; round < 20000; round++) {
    char output[256] = "";
    struct buffer text = BUFFER_EMPTY;
    size_t len = random_output(&random, output, 200);
    memcpy(output + len, "\nlast", 5);
    plain_text(span_of(output, len + 5), &text);
    size_t end = text.len;
    cr_assert(end >= 4 && memcmp(text.bytes + end - 4, "last", 4) == 0, "round %d", round);
    buffer_free(&text);
  }
}

Test(plain_text, ends_with_its_last_lines) {
  static const struct {
    const char *text;
    size_t lines, bytes, each;
    const char *last;
  } cases[] = {
      {"a\nb\nc\n", 2, 100, 0, "b\nc"},
      {"a\nb\nc", 20, 100, 0, "a\nb\nc"},
      {"a\nb\nc\n \n\t\n\n", 1, 100, 0, "c"},
      {"a\n\nb\n\nc", 2, 100, 0, "c"},
      {"a\n\nb\n\nc", 3, 100, 0, "b\n\nc"},
      {"aa\nbb\ncc", 20, 4, 0, "bb\ncc"},
      {"aa\nbb\ncc", 20, 5, 1, "cc"},
      {"aa\nbb\ncc", 20, 6, 1, "bb\ncc"},
      {"one\nlong line", 20, 4, 0, "line"},
      {"\303\251\303\251", 20, 3, 0, "\303\251"},
      {"long", 20, 3, 3, ""},
      {"\n \n", 20, 100, 0, ""},
      {"", 20, 100, 0, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tidings_span last =
        plain_last_lines(span_text(cases[i].text), cases[i].lines, cases[i].bytes, cases[i].each);
    cr_expect(span_is(last, cases[i].last), "case %zu: %.*s", i, SPAN_FORMAT(last));
  }
}
