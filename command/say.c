/* SPDX-License-Identifier: MIT
 *
 * command/say.c: prints an error on stderr, in one line; with the usage line if the call itself was
 * wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>

#include "command/cli.h"
#include "command/terminal.h"
#include "common/span.h"
#include "common/utf8.h"

/* Prints only the beginning and the end of a long text, such as one that quotes an argument. */
static void put_shortened(const char *text) {
  enum { KEPT = 1000, LONGEST = 4 * KEPT };
  const struct tidings_span all = span_text(text);
  if (all.len > LONGEST) {
    terminal_bytes(stderr, text, utf8_prefix(all, KEPT));
    fputs(" \xe2\x80\xa6 ", stderr);
    text += utf8_prefix(all, all.len - KEPT);
  }
  terminal_text(stderr, text);
}

__attribute__((format(printf, 2, 0))) static void say(const struct cli *cli, const char *format,
                                                      va_list arguments) {
  char *text = NULL;
  bool named = cli->verb && cli->verb->name;
  fprintf(stderr, "%s%s%s: ", cli->program->name, named ? " " : "", named ? cli->verb->name : "");
  if (vasprintf(&text, format, arguments) < 0) text = NULL;
  put_shortened(text ? text : "out of memory");
  free(text);
}

int cli_usage(const struct cli *cli, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(cli, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\nusage: %s %s%s%s\n", cli->program->name,
          cli->verb->name ? cli->verb->name : "", cli->verb->name ? " " : "", cli->verb->usage);
  return EXIT_USAGE;
}

int cli_fail(const struct cli *cli, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(cli, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return EXIT_REFUSED;
}

int cli_fail_with(const struct cli *cli, int32_t code, const struct tidings_error *error) {
  return cli_fail(cli, "%s (%s)", error && error->text[0] ? error->text : "it gave no reason",
                  hostkit_error_name(code));
}

void cli_warn(const struct cli *cli, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(cli, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}
