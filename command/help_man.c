/* SPDX-License-Identifier: MIT
 *
 * command/help_man.c: prints the verbs' tables as man pages, in the man macros that both groff and
 * mandoc know.
 */
#include <string.h>

#include "command/help.h"

/* Escapes the characters that roff interprets: a backslash, a dash, and a dot or apostrophe at the
 * start of a line. */
static void escaped_part(FILE *out, const char *text, size_t len) {
  bool line_start = true;
  for (const char *end = text + len; text < end; text++) {
    if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", out);
    if (*text == '\\') fputs("\\e", out);
    else if (*text == '-') fputs("\\-", out);
    else if (*text == '\'') fputs("\\(aq", out);
    else fputc(*text, out);
    line_start = *text == '\n';
  }
}

static void escaped(FILE *out, const char *text) { escaped_part(out, text, strlen(text)); }

static void upper(FILE *out, const char *text) {
  for (; *text; text++) fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

/* An empty line becomes .PP; a line that begins with blanks is shown as it is. */
static void paragraphs(FILE *out, const char *text) {
  bool shown = false;
  while (*text) {
    size_t len = strcspn(text, "\n");
    bool literal = text[0] == ' ';
    if (literal != shown) fputs(literal ? ".PP\n.nf\n" : ".fi\n", out);
    shown = literal;
    if (!len) {
      fputs(".PP\n", out);
    } else {
      escaped_part(out, text, len);
      fputc('\n', out);
    }
    text += len;
    if (*text == '\n') text++;
  }
  if (shown) fputs(".fi\n", out);
}

static void option_page(FILE *out, const struct cli_program *program, const struct cli_verb *verb,
                        const struct cli_option *option) {
  (void)program;
  (void)verb;
  fputs(".TP\n\\fB", out);
  if (option->key < CLI_LONG_ONLY) fprintf(out, "\\-%c\\fR, \\fB", option->key);
  fputs("\\-\\-", out);
  escaped(out, option->name);
  fputs("\\fR", out);
  if (option->argument) {
    fputs("=\\fI", out);
    escaped(out, option->argument);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  escaped(out, option->help);
  fputc('\n', out);
}

static void header(FILE *out, const struct cli_program *program, const char *verb) {
  fprintf(out, ".\\\" printed by %s help --man\n.TH ", program->name);
  upper(out, program->name);
  if (verb) fputc('-', out);
  upper(out, verb ? verb : "");
  fprintf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n%s%s", program->name,
          program->version, program->name, verb ? "\\-" : "");
  escaped(out, verb ? verb : "");
}

static void footer(FILE *out) {
  fputs(".SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n.TP\n\\fB1\\fR\nRefused or failed; stderr says "
        "why.\n.TP\n\\fB2\\fR\nWrong usage.\n.TP\n\\fB141\\fR\nWhoever read the output "
        "has ended.\n",
        out);
}

static void examples(FILE *out, const struct cli_example *all) {
  for (const struct cli_example *example = all; example && example->command; example++) {
    if (example == all) fputs(".SH EXAMPLES\n", out);
    fputs(".TP\n\\fB", out);
    escaped(out, example->command);
    fputs("\\fR\n", out);
    escaped(out, example->what);
    fputc('\n', out);
  }
}

static void verb_page(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  header(out, program, verb->name);
  fprintf(out, " \\- ");
  escaped(out, verb->summary);
  fprintf(out, "\n.SH SYNOPSIS\n\\fB%s ", program->name);
  escaped(out, verb->name);
  fputs("\\fR ", out);
  escaped(out, verb->usage);
  fputs("\n.SH DESCRIPTION\n", out);
  paragraphs(out, verb->help);
  fputs(".SH OPTIONS\n", out);
  help_each_option(program, verb, option_page, out);
  footer(out);
  examples(out, verb->examples);
  fprintf(out, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", program->name);
}

static void program_page(FILE *out, const struct cli_program *program) {
  header(out, program, NULL);
  fputs(" \\- ", out);
  escaped(out, program->about);
  fprintf(out, "\n.SH SYNOPSIS\n\\fB%s\\fR \\fIVERB\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n",
          program->name);
  escaped(out, program->description);
  fputs("\n.SH VERBS\n", out);
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++) {
    fprintf(out, ".TP\n\\fB%s\\-", program->name);
    escaped(out, (*verb)->name);
    fputs("\\fR(1)\n", out);
    escaped(out, (*verb)->summary);
    fputc('\n', out);
  }
  const struct cli_example *variable = program->environment;
  if (variable) fputs(".SH ENVIRONMENT\n", out);
  for (; variable && variable->command; variable++) {
    fprintf(out, ".TP\n\\fB%s\\fR\n", variable->command);
    escaped(out, variable->what);
    fputc('\n', out);
  }
  footer(out);
  examples(out, program->examples);
}

int help_man(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  if (verb) verb_page(out, program, verb);
  else program_page(out, program);
  return EXIT_DONE;
}
