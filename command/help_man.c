/* SPDX-License-Identifier: MIT
 *
 * command/help_man.c: the verbs' tables as man pages, in the man macros that groff and mandoc both
 * know.
 */
#include <string.h>

#include "command/help.h"
#include "command/verbs.h"

/* roff reads a backslash, a dash (as a hyphen), and a dot or apostrophe at the start of a line. */
static void escaped(FILE *out, const char *text) {
  bool line_start = true;
  for (; *text; text++) {
    if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", out);
    if (*text == '\\') fputs("\\e", out);
    else if (*text == '-') fputs("\\-", out);
    else if (*text == '\'') fputs("\\(aq", out);
    else fputc(*text, out);
    line_start = *text == '\n';
  }
}

static void upper(FILE *out, const char *text) {
  for (; *text; text++) fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

/* An empty line becomes .PP; a line that begins with blanks is shown as it is. */
static void paragraphs(FILE *out, const char *text) {
  bool shown = false;
  while (*text) {
    size_t len = strcspn(text, "\n");
    char line[512];
    if (len >= sizeof line) len = sizeof line - 1;
    memcpy(line, text, len);
    line[len] = '\0';
    bool literal = line[0] == ' ';
    if (literal != shown) fputs(literal ? ".PP\n.nf\n" : ".fi\n", out);
    shown = literal;
    if (!len) {
      fputs(".PP\n", out);
    } else {
      escaped(out, line);
      fputc('\n', out);
    }
    text += len;
    if (*text == '\n') text++;
  }
  if (shown) fputs(".fi\n", out);
}

static void option_page(FILE *out, const struct cli_verb *verb, const struct cli_option *option) {
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

static void header(FILE *out, const char *verb) {
  fputs(".\\\" printed by tidings help --man\n.TH TIDINGS", out);
  if (verb) fputc('-', out);
  upper(out, verb ? verb : "");
  fprintf(out, " 1 \"\" \"tidings %s\" \"User Commands\"\n.SH NAME\ntidings%s", TIDINGS_VERSION,
          verb ? "\\-" : "");
  escaped(out, verb ? verb : "");
}

static void footer(FILE *out) {
  fputs(".SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n.TP\n\\fB1\\fR\nRefused or failed; stderr says "
        "why.\n.TP\n\\fB2\\fR\nWrong usage.\n",
        out);
}

static void verb_page(FILE *out, const struct cli_verb *verb) {
  header(out, verb->name);
  fprintf(out, " \\- ");
  escaped(out, verb->summary);
  fputs("\n.SH SYNOPSIS\n\\fBtidings ", out);
  escaped(out, verb->name);
  fputs("\\fR ", out);
  escaped(out, verb->usage);
  fputs("\n.SH DESCRIPTION\n", out);
  paragraphs(out, verb->help);
  fputs(".SH OPTIONS\n", out);
  help_each_option(verb, option_page, out);
  footer(out);
  for (const struct cli_example *example = verb->examples; example && example->command; example++) {
    if (example == verb->examples) fputs(".SH EXAMPLES\n", out);
    fputs(".TP\n\\fB", out);
    escaped(out, example->command);
    fputs("\\fR\n", out);
    escaped(out, example->what);
    fputc('\n', out);
  }
  fputs(".SH SEE ALSO\n\\fBtidings\\fR(1)\n", out);
}

static void command_page(FILE *out) {
  header(out, NULL);
  fputs(" \\- get news to an agent\\(aqs model\n.SH SYNOPSIS\n\\fBtidings\\fR \\fIVERB\\fR "
        "[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
        "A build fails in the background, a file changes, a server goes away: tidings keeps such "
        "news in a store and puts it on the\n"
        "messages that an agent sends to its model anyway. This command pushes news, asks what "
        "became of it, and connects agents.\n"
        ".SH VERBS\n",
        out);
  for (size_t i = 0; i < cli_verb_count; i++) {
    fputs(".TP\n\\fBtidings\\-", out);
    escaped(out, cli_verbs[i]->name);
    fputs("\\fR(1)\n", out);
    escaped(out, cli_verbs[i]->summary);
    fputc('\n', out);
  }
  fputs(".SH ENVIRONMENT\n"
        ".TP\n\\fBTIDINGS_SESSION\\fR\nThe session, where none is given with \\-s.\n"
        ".TP\n\\fBTIDINGS_STORE\\fR\nThe store, where none is given with \\-S. Otherwise it is "
        "$XDG_STATE_HOME/tidings or "
        "~/.local/state/tidings.\n"
        ".TP\n\\fBTIDINGS_CONFIG\\fR\nThe configuration. Otherwise it is "
        "$XDG_CONFIG_HOME/tidings/config.json or "
        "~/.config/tidings/config.json, if "
        "there is one.\n"
        ".TP\n\\fBTIDINGS_PLUGIN\\fR\nThe plugin to load, instead of the one that was installed "
        "with this command.\n",
        out);
  footer(out);
  fputs(".SH EXAMPLES\n.TP\n\\fBtidings run \\-\\- make\\fR\nBuild; the agent that works in this "
        "folder is told how it ended.\n",
        out);
}

int help_man(FILE *out, const struct cli_verb *verb) {
  if (verb) verb_page(out, verb);
  else command_page(out);
  return EXIT_DONE;
}
