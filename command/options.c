/* SPDX-License-Identifier: MIT
 *
 * command/options.c: reads a verb's options by its table, with getopt_long.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "command/common_options.h"
#include "command/help.h"
#include "command/near.h"
#include "command/show.h"

enum { MOST_OPTIONS = 32 };

struct table { /* as getopt_long wants it */
  struct option options[MOST_OPTIONS + 1];
  char letters[2 + 2 * MOST_OPTIONS + 1];
  size_t option_count, letter_count;
};

static void add(struct table *table, const struct cli_option *option) {
  if (table->option_count == MOST_OPTIONS) abort(); /* a mistake in a verb's table */
  table->options[table->option_count++] =
      (struct option){.name = option->name,
                      .has_arg = option->argument ? required_argument : no_argument,
                      .val = option->key};
  if (option->key >= CLI_LONG_ONLY) return;
  table->letters[table->letter_count++] = (char)option->key;
  if (option->argument) table->letters[table->letter_count++] = ':';
}

static void build(struct table *table, const struct cli_verb *verb) {
  memset(table, 0, sizeof *table);
  if (verb->options_first) table->letters[table->letter_count++] = '+';
  table->letters[table->letter_count++] = ':';
  for (const struct cli_option *option = verb->options; option && option->name; option++)
    add(table, option);
  for (size_t i = 0; i < common_option_count; i++) {
    if (common_option_of(verb, i)) add(table, &common_options[i]);
  }
}

static const char *name_of(const struct table *table, int key) {
  for (size_t i = 0; i < table->option_count; i++) {
    if (table->options[i].val == key) return table->options[i].name;
  }
  return "";
}

static bool is_ambiguous(const struct table *table, const char *word) {
  size_t len = strcspn(word + 2, "="), fits = 0;
  for (size_t i = 0; i < table->option_count; i++)
    fits += strncmp(table->options[i].name, word + 2, len) == 0;
  return fits > 1;
}

static int refuse_unknown(const struct cli *cli, const struct table *table, const char *word) {
  const char *names[MOST_OPTIONS], *near = NULL;
  char typed[64];
  for (size_t i = 0; i < table->option_count; i++) names[i] = table->options[i].name;
  (void)snprintf(typed, sizeof typed, "%.*s", (int)strcspn(word, "="), word);
  if (strncmp(typed, "--", 2) == 0) near = near_find(typed + 2, names, table->option_count);
  return near ? cli_usage(cli, "unknown option '%s'; did you mean '--%s'?", word, near)
              : cli_usage(cli, "unknown option '%s'", word);
}

/* In a cluster such as -xy, getopt stays at the word until its last letter. Then the error has to
 * name the letter, not the word before. */
static int refuse(struct cli *cli, const struct table *table, int answer) {
  const char *word = cli->argv[optind - 1];
  bool letter =
      optopt > 0 && optopt < CLI_LONG_ONLY && isprint(optopt) && strncmp(word, "--", 2) != 0;
  if (answer == ':' && letter)
    cli->exit_code = cli_usage(cli, "option '-%c' needs an argument", optopt);
  else if (answer == ':') cli->exit_code = cli_usage(cli, "option '%s' needs an argument", word);
  else if (letter) cli->exit_code = cli_usage(cli, "unknown option '-%c'", optopt);
  else if (optopt) cli->exit_code = cli_usage(cli, "option '%s' takes no argument", word);
  else if (is_ambiguous(table, word))
    cli->exit_code = cli_usage(cli, "ambiguous option '%s'", word);
  else cli->exit_code = refuse_unknown(cli, table, word);
  return CLI_STOP;
}

static const char *const color_words[] = {"auto", "always", "never", NULL};

int cli_next(struct cli *cli) {
  struct table table;
  build(&table, cli->verb);
  opterr = 0;
  for (;;) {
    int key = getopt_long(cli->argc, cli->argv, table.letters, table.options, NULL);
    cli->value = optarg;
    switch (key) {
    case -1:
      cli->words = cli->argv + optind;
      cli->word_count = cli->argc - optind;
      show_begin(cli->color, cli->utc);
      return CLI_END;
    case '?':
    case ':': return refuse(cli, &table, key);
    case OPTION_HELP: cli->exit_code = help_verb(stdout, cli->program, cli->verb); return CLI_STOP;
    case OPTION_SESSION: cli->session = optarg; break;
    case OPTION_STORE: cli->store = optarg; break;
    case OPTION_TO: cli->to = optarg; break;
    case OPTION_CONFIG: cli->config = optarg; break;
    case OPTION_JSON: cli->json = true; break;
    case OPTION_COLOR: cli->color = optarg; break;
    case OPTION_UTC: cli->utc = true; break;
    case OPTION_CREATE: cli->create = true; break;
    case OPTION_PRINT_SESSION: cli->print_session = true; break;
    default: return key;
    }
    if (optarg && !optarg[0]) {
      cli->exit_code =
          cli_usage(cli, "option '--%s' needs an argument that is not empty", name_of(&table, key));
      return CLI_STOP;
    }
    if (key == OPTION_COLOR && optarg && cli_word(optarg, color_words) < 0) {
      cli->exit_code = cli_usage(cli, "--color: '%s' is not one of auto, always, never", optarg);
      return CLI_STOP;
    }
  }
}

int cli_take_words(const struct cli *cli, int at_least, int at_most, const char *what) {
  if (cli->word_count < at_least) return cli_usage(cli, "%s missing", what);
  if (cli->word_count <= at_most) return 0;
  return cli_usage(cli, "unexpected argument '%s'", cli->words[at_most]);
}

int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number) {
  char *end = NULL;
  if (!isdigit((unsigned char)text[0])) return -1;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (errno || *end || number < min || number > max) return -1;
  *ret_number = number;
  return 0;
}

int cli_duration(const char *text, uint64_t *ret_ms) {
  static const struct {
    const char *name;
    uint64_t ms;
  } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
  const uint64_t most = 100ull * 366 * 86400000;
  size_t digits = strspn(text, "0123456789");
  uint64_t number = 0;
  char copy[24];
  if (!digits || digits >= sizeof copy) return -1;
  memcpy(copy, text, digits);
  copy[digits] = '\0';
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(text + digits, units[i].name) != 0) continue;
    if (cli_number(copy, 0, most / units[i].ms, &number)) return -1;
    *ret_ms = number * units[i].ms;
    return 0;
  }
  return -1;
}

int cli_word(const char *text, const char *const *words) {
  for (int i = 0; words[i]; i++) {
    if (strcmp(text, words[i]) == 0) return i;
  }
  return -1;
}
