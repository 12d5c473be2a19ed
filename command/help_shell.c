/* SPDX-License-Identifier: MIT
 *
 * command/help_shell.c: prints the verbs' tables as completions for bash, zsh and fish.
 */
#include <string.h>

#include "command/help.h"

/* Prints a piece of a script, with the program's name for each @. */
static void script(FILE *out, const struct cli_program *program, const char *text) {
  for (; *text; text++) {
    if (*text == '@') fputs(program->name, out);
    else fputc(*text, out);
  }
}

/* Prints text inside single quotes. The characters in `mark` get a backslash as well. */
static void quoted(FILE *out, const char *text, const char *mark) {
  for (; *text; text++) {
    if (*text == '\'') {
      fputs("'\\''", out);
      continue;
    }
    if (strchr(mark, *text)) fputc('\\', out);
    fputc(*text, out);
  }
}

/* Prints only the first sentence, because a completion's description is one line. */
static void first_sentence(FILE *out, const char *text, const char *mark) {
  const char *end = strstr(text, ". ");
  char sentence[256];
  size_t len = end ? (size_t)(end - text) : strlen(text);
  if (!end && len && text[len - 1] == '.') len--;
  if (len >= sizeof sentence) len = sizeof sentence - 1;
  memcpy(sentence, text, len);
  sentence[len] = '\0';
  quoted(out, sentence, mark);
}

static void verb_names(FILE *out, const struct cli_program *program) {
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++)
    fprintf(out, "%s%s", verb == program->verbs ? "" : " ", (*verb)->name);
}

static void words_of(FILE *out, const struct cli_program *program, const char *words) {
  if (strcmp(words, "@verbs") == 0) verb_names(out, program);
  else fputs(words, out);
}

/* -- bash -------------------------------------------------------------------------------------- */

static void bash_values(FILE *out, const struct cli_program *program,
                        enum cli_completion completion, const char *words) {
  switch (completion) {
  case COMPLETE_NOTHING: fputs(":", out); break;
  case COMPLETE_WORDS:
    fputs("mapfile -t COMPREPLY < <(compgen -W '", out);
    words_of(out, program, words);
    fputs("' -- \"$cur\")", out);
    break;
  case COMPLETE_FILE:
    fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")", out);
    break;
  case COMPLETE_FOLDER:
    fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")", out);
    break;
  case COMPLETE_SESSION: script(out, program, "_@_sessions"); break;
  case COMPLETE_COMMAND: script(out, program, "_@_command"); break;
  }
}

static void bash_option_words(FILE *out, const struct cli_program *program,
                              const struct cli_verb *verb, const struct cli_option *option) {
  (void)program;
  (void)verb;
  fprintf(out, " --%s", option->name);
}

static void bash_option_value(FILE *out, const struct cli_program *program,
                              const struct cli_verb *verb, const struct cli_option *option) {
  (void)verb;
  if (!option->argument) return;
  fputs("        ", out);
  if (option->key < CLI_LONG_ONLY) fprintf(out, "-%c | ", option->key);
  fprintf(out, "--%s) ", option->name);
  bash_values(out, program, option->completion, option->words);
  fputs("; return ;;\n", out);
}

static void bash_verb(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  fprintf(out, "    %s)\n      options='", verb->name);
  help_each_option(program, verb, bash_option_words, out);
  fputs("'\n      case $prev in\n", out);
  help_each_option(program, verb, bash_option_value, out);
  fputs("      esac\n      [[ $cur == -* ]] || { ", out);
  bash_values(out, program, verb->completion, verb->words);
  fputs("; return; }\n      ;;\n", out);
}

static void bash_sessions(FILE *out, const struct cli_program *program) {
  script(out, program,
         "_@_sessions() {\n"
         "  local id\n"
         "  while IFS= read -r id; do\n"
         "    [[ $id == \"$cur\"* ]] && COMPREPLY+=(\"$(printf '%q' \"$id\")\")\n"
         "  done < <(");
  fprintf(out, "%s 2>/dev/null)\n}\n", program->list_sessions);
}

int help_bash(FILE *out, const struct cli_program *program) {
  script(out, program, "# bash completion for @; printed by: @ help --completion=bash\n");
  if (program->list_sessions) bash_sessions(out, program);
  script(out, program,
         "_@_command() {\n"
         "  compopt -o filenames\n"
         "  if [[ $prev == -- || $COMP_CWORD -eq 2 ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -c -- \"$cur\" | sort -u)\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "  fi\n"
         "}\n"
         "_@() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
         "  COMPREPLY=()\n"
         "  if [[ $cur == = ]]; then\n"
         "    cur=\n"
         "  elif [[ $prev == = ]]; then\n"
         "    prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  fi\n"
         "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '");
  verb_names(out, program);
  fputs(" --help --version' -- \"$cur\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n", out);
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++)
    bash_verb(out, program, *verb);
  script(out, program,
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "}\n"
         "complete -F _@ @\n");
  return EXIT_DONE;
}

/* -- zsh --------------------------------------------------------------------------------------- */

static void zsh_action(FILE *out, const struct cli_program *program, enum cli_completion completion,
                       const char *words) {
  switch (completion) {
  case COMPLETE_NOTHING: fputs(" ", out); break;
  case COMPLETE_WORDS:
    fputc('(', out);
    words_of(out, program, words);
    fputc(')', out);
    break;
  case COMPLETE_FILE: fputs("_files", out); break;
  case COMPLETE_FOLDER: fputs("_files -/", out); break;
  case COMPLETE_SESSION: script(out, program, "_@_sessions"); break;
  case COMPLETE_COMMAND: fputs("_normal", out); break;
  }
}

static void zsh_option(FILE *out, const struct cli_program *program, const struct cli_verb *verb,
                       const struct cli_option *option) {
  (void)verb;
  fputs("        ", out);
  if (option->key < CLI_LONG_ONLY)
    fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->key, option->name, option->key,
            option->argument ? "+" : "", option->name, option->argument ? "=" : "");
  else fprintf(out, "'--%s%s[", option->name, option->argument ? "=" : "");
  first_sentence(out, option->help, "[]:\\");
  fputc(']', out);
  if (option->argument) {
    fputc(':', out);
    quoted(out, option->argument, ":\\");
    fputc(':', out);
    zsh_action(out, program, option->completion, option->words);
  }
  fputs("' \\\n", out);
}

static void zsh_sessions(FILE *out, const struct cli_program *program) {
  script(out, program,
         "_@_sessions() {\n"
         "  local -a ids\n"
         "  ids=(${(f)\"$(_call_program sessions ");
  fprintf(out, "%s 2>/dev/null)\"})\n  compadd -a ids\n}\n", program->list_sessions);
}

static void zsh_verb(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  fprintf(out, "    %s)\n      _arguments -s %s\\\n", verb->name,
          verb->options_first ? "-A '-*' " : "");
  help_each_option(program, verb, zsh_option, out);
  fputs(verb->completion == COMPLETE_COMMAND ? "        '*:::argument:" : "        '*:argument:",
        out);
  zsh_action(out, program, verb->completion, verb->words);
  fputs("'\n      ;;\n", out);
}

int help_zsh(FILE *out, const struct cli_program *program) {
  script(out, program,
         "#compdef @\n"
         "# zsh completion for @; printed by: @ help --completion=zsh\n");
  if (program->list_sessions) zsh_sessions(out, program);
  script(out, program,
         "_@() {\n"
         "  local context state state_descr line\n"
         "  typeset -A opt_args\n"
         "  local -a verbs\n"
         "  verbs=(\n");
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++) {
    fprintf(out, "    '%s:", (*verb)->name);
    quoted(out, (*verb)->summary, "\\");
    fputs("'\n", out);
  }
  fputs("  )\n"
        "  _arguments -C '(- *)'{-h,--help}'[print help]' '(- *)'{-V,--version}'[print the "
        "version]' '1:verb:->verb' '*::argument:->rest'\n"
        "  case $state in\n"
        "    verb) _describe verb verbs; return ;;\n"
        "  esac\n"
        "  case $line[1] in\n",
        out);
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++)
    zsh_verb(out, program, *verb);
  script(out, program, "  esac\n}\nif [ \"$funcstack[1]\" = _@ ]; then\n  _@ \"$");
  fputs("@\"\nelse\n", out); /* this @ is the shell's own */
  script(out, program, "  compdef _@ @\nfi\n");
  return EXIT_DONE;
}

/* -- fish -------------------------------------------------------------------------------------- */

static void fish_action(FILE *out, const struct cli_program *program,
                        enum cli_completion completion, const char *words) {
  switch (completion) {
  case COMPLETE_NOTHING: break;
  case COMPLETE_WORDS:
    fputs(" -a '", out);
    words_of(out, program, words);
    fputs("'", out);
    break;
  case COMPLETE_FILE: fputs(" -F", out); break;
  case COMPLETE_FOLDER: fputs(" -a '(__fish_complete_directories)'", out); break;
  case COMPLETE_SESSION: fprintf(out, " -a '(%s 2>/dev/null)'", program->list_sessions); break;
  case COMPLETE_COMMAND: fputs(" -a '(__fish_complete_subcommand --fcs-skip=2)'", out); break;
  }
}

static void fish_option(FILE *out, const struct cli_program *program, const struct cli_verb *verb,
                        const struct cli_option *option) {
  fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s", program->name,
          verb->name, option->name);
  if (option->key < CLI_LONG_ONLY) fprintf(out, " -s %c", option->key);
  if (option->argument) fputs(option->completion == COMPLETE_FILE ? " -r" : " -x", out);
  if (option->argument) fish_action(out, program, option->completion, option->words);
  fputs(" -d '", out);
  first_sentence(out, option->help, "\\");
  fputs("'\n", out);
}

static void fish_verb(FILE *out, const struct cli_program *program, const struct cli_verb *verb) {
  help_each_option(program, verb, fish_option, out);
  if (verb->completion == COMPLETE_NOTHING) return;
  fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s'", program->name, verb->name);
  fish_action(out, program, verb->completion, verb->words);
  fputc('\n', out);
}

int help_fish(FILE *out, const struct cli_program *program) {
  script(out, program,
         "# fish completion for @; printed by: @ help --completion=fish\ncomplete -c @ -f\n");
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++) {
    fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '", program->name,
            (*verb)->name);
    quoted(out, (*verb)->summary, "\\");
    fputs("'\n", out);
  }
  for (const struct cli_verb *const *verb = program->verbs; *verb; verb++)
    fish_verb(out, program, *verb);
  return EXIT_DONE;
}
