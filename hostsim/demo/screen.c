/* SPDX-License-Identifier: MIT
 *
 * demo/screen.c: how the demo looks: a transcript as a person would read it, coloured on a
 * terminal.
 */
#include "demo/demo.h"

#include "command/interrupt.h"

#include <stdarg.h>
#include <string.h>

#define RESET "\033[0m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define BLUE "\033[34m"
#define CYAN "\033[36m"

static void paint(const struct screen *screen, const char *code) {
  if (screen->color) fputs(code, stdout);
}

static const char *color_of(const char *who) {
  return strcmp(who, "user") == 0 ? GREEN : strcmp(who, "assistant") == 0 ? BLUE : CYAN;
}

static void print_label(const struct screen *screen, const char *who) {
  paint(screen, color_of(who));
  printf("%-11s", who);
  paint(screen, RESET);
}

/* Prints a text line by line, indented below its first line, which follows a label. */
static void print_body(const struct screen *screen, const char *text, size_t len,
                       const char *gutter, const char *color, bool label_done) {
  for (size_t at = 0; at < len;) {
    const char *end = memchr(text + at, '\n', len - at);
    size_t line = end ? (size_t)(end - (text + at)) : len - at;
    if (!label_done) printf("%-11s", "");
    label_done = false;
    paint(screen, color);
    printf("%.*s%.*s", line > 0 ? (int)strlen(gutter) : (int)strcspn(gutter, " "), gutter,
           (int)line, text + at);
    paint(screen, RESET);
    putchar('\n');
    at += line + 1;
  }
}

void screen_say(const struct screen *screen, const char *who, const char *text) {
  print_label(screen, who);
  print_body(screen, text, strlen(text), "", "", true);
  fflush(stdout);
}

void screen_carrier(const struct screen *screen, const char *who, const char *text, size_t len,
                    const char *content, size_t content_len) {
  const char *own = content_len > 0 ? memmem(text, len, content, content_len) : NULL;
  size_t before = own ? (size_t)(own - text) : 0;
  size_t after = before + (own ? content_len : 0);
  print_label(screen, who);
  print_body(screen, text, before, "│ ", YELLOW, true);
  print_body(screen, text + before, after - before, "", "", before == 0);
  while (after < len && after > before && text[after] == '\n') {
    after++; /* skips the end of the content's last line, and the empty line after it */
  }
  print_body(screen, text + after, len - after, "│ ", YELLOW, after == 0);
  if (len == 0) putchar('\n');
  fflush(stdout);
}

static void print_marked(const struct screen *screen, const char *color, const char *mark,
                         const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

static void print_marked(const struct screen *screen, const char *color, const char *mark,
                         const char *format, va_list arguments) {
  paint(screen, color);
  printf("%s", mark);
  vprintf(format, arguments);
  paint(screen, RESET);
  putchar('\n');
  fflush(stdout);
}

void screen_note(const struct screen *screen, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_marked(screen, DIM, "  · ", format, arguments);
  va_end(arguments);
}

void screen_alarm(const struct screen *screen, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_marked(screen, RED BOLD, "  ✗ ", format, arguments);
  va_end(arguments);
}

void screen_headline(const struct screen *screen, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  putchar('\n');
  print_marked(screen, BOLD, "== ", format, arguments);
  va_end(arguments);
}

void screen_pause(const struct screen *screen, unsigned milliseconds) {
  if (!screen->fast) interrupt_pause_ms(milliseconds);
}
