/* SPDX-License-Identifier: MIT
 *
 * command/help.c: --help, and the verb `help`.
 */
#include "command/help.h"

#include <stdlib.h>
#include <string.h>

#include "command/common_options.h"
#include "command/verbs.h"

enum { COLUMNS = 78, OPTION_COLUMN = 26 };

/* Prints the text from column `at` on, wrapped, with `indent` blanks before each further line.
 * Keeps the text's line breaks. */
static void wrap(FILE *out, const char *text, int indent, int at) {
  while (*text) {
    size_t len = strcspn(text, " \n");
    if (at > indent && at + 1 + (int)len > COLUMNS) {
      fprintf(out, "\n%*s", indent, "");
      at = indent;
    } else if (at > indent && len) {
      fputc(' ', out);
      at++;
    }
    fwrite(text, 1, len, out);
    at += (int)len;
    text += len;
    if (*text == '\n') {
      fputc('\n', out);
      at = 0;
      if (text[1] != '\n') {
        fprintf(out, "%*s", indent, "");
        at = indent;
      }
    }
    if (*text) text++;
  }
  fputc('\n', out);
}

void help_each_option(const struct cli_program *program, const struct cli_verb *verb,
                      void (*each)(FILE *out, const struct cli_program *program,
                                   const struct cli_verb *verb, const struct cli_option *option),
                      FILE *out) {
  for (const struct cli_option *option = verb->options; option && option->name; option++)
    each(out, program, verb, option);
  for (size_t i = 0; i < common_option_count; i++) {
    if (common_option_of(verb, i)) each(out, program, verb, &common_options[i]);
  }
}

static void print_option(FILE *out, const struct cli_program *program, const struct cli_verb *verb,
                         const struct cli_option *option) {
  (void)program;
  (void)verb;
  char left[128];
  bool letter = option->key < CLI_LONG_ONLY;
  int width = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", letter ? '-' : ' ',
                       letter ? option->key : ' ', letter ? ", " : "  ", option->name,
                       option->argument ? "=" : "", option->argument ? option->argument : "");
  fputs(left, out);
  if (width >= OPTION_COLUMN - 1) {
    fputc('\n', out);
    width = 0;
  }
  fprintf(out, "%*s", OPTION_COLUMN - width, "");
  wrap(out, option->help, OPTION_COLUMN, OPTION_COLUMN);
}

int help_verb(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  fprintf(out, "usage: %s %s%s%s\n\n", program->name, verb->name ? verb->name : "",
          verb->name ? " " : "", verb->usage);
  wrap(out, verb->help, 0, 0);
  fputc('\n', out);
  help_each_option(program, verb, print_option, out);
  for (const struct cli_example *example = verb->examples; example && example->command; example++) {
    fprintf(out, "%s  %s\n      ", example == verb->examples ? "\nExamples:\n" : "",
            example->command);
    wrap(out, example->what, 6, 6);
  }
  return EXIT_DONE;
}

int help_overview(FILE *out, const struct cli_program *program) {
  fprintf(out, "usage: %s %s\n\n", program->name, program->usage);
  wrap(out, program->summary, 0, 0);
  fputc('\n', out);
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++) {
    fprintf(out, "  %-10s ", (*verb)->name);
    wrap(out, (*verb)->summary, 13, 13);
  }
  fprintf(out,
          "\n"
          "'%s VERB --help' prints more, with examples. Exit codes: 0 done, 1 "
          "refused or failed, 2 wrong usage, 141 whoever read the output has ended.\n",
          program->name);
  return EXIT_DONE;
}

/* -- the verb ---------------------------------------------------------------------------------- */

enum { OPTION_MAN = CLI_LONG_ONLY, OPTION_COMPLETION, OPTION_NAMES };

const struct cli_option verb_help_options[] = {
    {.key = OPTION_MAN,
     .name = "man",
     .help = "Print the man page of the verb, or of the command."},
    {.key = OPTION_NAMES, .name = "names", .help = "Print the names of the verbs, one per line."},
    {.key = OPTION_COMPLETION,
     .name = "completion",
     .argument = "SHELL",
     .help = "Print the completions for bash, zsh or fish.",
     .completion = COMPLETE_WORDS,
     .words = "bash zsh fish"},
    {.name = NULL},
};

static int print_names(const struct cli_program *program) {
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++) puts((*verb)->name);
  return EXIT_DONE;
}

static int print_completion(const struct cli *cli, const char *shell) {
  if (strcmp(shell, "bash") == 0) return help_bash(stdout, cli->program);
  if (strcmp(shell, "zsh") == 0) return help_zsh(stdout, cli->program);
  if (strcmp(shell, "fish") == 0) return help_fish(stdout, cli->program);
  return cli_usage(cli, "--completion: '%s' is not one of bash, zsh, fish", shell);
}

int verb_help_run(struct cli *cli) {
  const char *shell = NULL;
  const struct cli_verb *verb = NULL;
  bool man = false, names = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_MAN: man = true; break;
    case OPTION_COMPLETION: shell = cli->value; break;
    case OPTION_NAMES: names = true; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, shell || names ? 0 : 1, "");
  if (code) return code;
  if (man + names + (shell != NULL) > 1)
    return cli_usage(cli, "--man, --names and --completion exclude each other");
  if (names) return print_names(cli->program);
  if (shell) return print_completion(cli, shell);
  if (cli->word_count && !(verb = cli_find_verb(cli->program->verbs, cli->words[0])))
    return cli_usage(cli, "unknown verb '%s'", cli->words[0]);
  if (man) return help_man(stdout, cli->program, verb);
  return verb ? help_verb(stdout, cli->program, verb) : help_overview(stdout, cli->program);
}
