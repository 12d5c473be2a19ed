/* SPDX-License-Identifier: MIT
 *
 * command/cli.h: the command line of a program: what a verb is, how its options are read, how
 * errors are printed. Knows nothing of what verbs do.
 *
 * A program is a value, and a verb is a table: the verb's options are read by the table, and
 * --help, the man pages and the shells' completions are printed from it.
 */
#ifndef COMMAND_CLI_H
#define COMMAND_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidings/tidings.h>

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };
/* The exit code when the reader of stdout has gone away: shells report it for a program that
 * SIGPIPE has ended. */
enum { EXIT_PIPE = 141 };

/* The kinds of words that a place of the command line takes; the shells use it for completion. */
enum cli_completion {
  COMPLETE_NOTHING,
  COMPLETE_WORDS,
  COMPLETE_FILE,
  COMPLETE_FOLDER,
  COMPLETE_SESSION,
  COMPLETE_COMMAND
};

struct cli_option {
  int key; /* what cli_next answers: the option's letter, or a number from CLI_LONG_ONLY up if it
              has none */
  const char *name;     /* the long name */
  const char *argument; /* "LEVEL"; NULL: it takes none */
  const char *help;     /* a sentence or a few; no line breaks */
  enum cli_completion completion;
  const char *words; /* COMPLETE_WORDS: separated by blanks */
};
enum { CLI_LONG_ONLY = 256 };

/* Options that several verbs have; cli_next reads them. */
enum { WITH_SESSION = 1, WITH_STORE = 2, WITH_JSON = 4, WITH_CONFIG = 8 };
/* NEEDS_STORE: the verb reads, or changes what exists; a missing store is an error, and is not
 * created. ONLY_READS: it also takes a short session name that a person may have chosen, unless
 * cli->changes is set. */
enum { NEEDS_STORE = 16, ONLY_READS = NEEDS_STORE | 128 };
/* The verb reports something to a session: --to, --create, --print-session; goes with
 * WITH_SESSION. */
enum { WITH_CREATE = 32 };
/* The verb prints for people: --color and --utc (show.h). */
enum { FOR_PEOPLE = 64 };

struct cli_example {
  const char *command;
  const char *what; /* a sentence */
};

struct cli;

struct cli_verb {
  const char *name;    /* NULL: the program itself is the only verb */
  const char *usage;   /* after the verb's name: "[OPTION]... MESSAGE|-" */
  const char *summary; /* half a sentence, in lower case, without a full stop */
  const char *help;    /* paragraphs; an empty line between them, none at the end */
  unsigned with;       /* WITH_* */
  bool options_first;  /* options end at the first other word, as for a command to be run */
  enum cli_completion completion; /* of the other words */
  const char *words;
  const struct cli_option *options;   /* ends with a row without a name; NULL: none of its own */
  const struct cli_example *examples; /* ends with a row without a command */
  int (*run)(struct cli *cli);        /* returns the exit code */
};

struct cli_program {
  const char *name, *version;
  const char *usage;                     /* after the name: "VERB [OPTION]..." */
  const char *summary;                   /* a sentence, for --help */
  const char *about;                     /* half a sentence, for the man page's NAME */
  const char *description;               /* for the man page, as it stands there */
  const struct cli_example *environment; /* variables; ends with a row without a name; NULL: none */
  const struct cli_example *examples;    /* ends with a row without a command; NULL: none */
  const struct cli_verb *const *verbs;   /* in the order of help; ends with NULL */
  const struct cli_verb *const *internal_verbs; /* not listed: the program starts itself with
                                                   them; ends with NULL; NULL: none */
  const char *list_sessions;       /* a command that prints session ids, for completions */
  const struct cli_verb *overview; /* runs if no verb is given; NULL: a missing verb is a mistake */
  bool keep_pipe_signal; /* if false, writing to a reader that has gone away is an error instead of
                            a signal */
};

/* Finds the verb and runs it. Descriptors 0 to 2 are open while it runs. If it returns EXIT_DONE,
 * everything that was printed has really been written. Returns the exit code. */
int cli_main(const struct cli_program *program, int argc, char **argv);

/* NULL: there is no such verb. Only cli_main finds internal verbs. */
const struct cli_verb *cli_find_verb(const struct cli_verb *const *verbs, const char *name);

/* A call of the command. */
struct cli {
  const struct cli_program *program;
  const struct cli_verb *verb;
  int argc; /* argv[0] is the verb */
  char **argv;

  const char *value; /* of the option that cli_next has just answered */
  int exit_code;     /* when it answered CLI_STOP */
  char **words;      /* once it answered CLI_END: the words that are no options */
  int word_count;

  const char *session, *store, *config; /* as given; NULL: not given */
  const char *to;                       /* the address, as given; NULL: not given */
  bool no_config;                       /* read no configuration at all */
  const char *preset; /* the preset of delivery, if the configuration names none; NULL: the plugin's
                         default */
  const char *host_name; /* the agent's name for the model; NULL: none */
  bool json;
  const char *color; /* --color, as given; NULL: not given */
  bool utc;
  bool create;              /* the session that is named may be a new one */
  bool changes;             /* this call changes something, although its verb usually only reads */
  bool print_session;       /* only print which session is meant */
  uint32_t budget_ms;       /* how long a call of the plugin may wait; 0: as suits a person */
  uint32_t total_budget_ms; /* how long all calls together may wait; 0: no bound */
  bool ends_after_close;    /* see kit_end_process */
  bool pipe_signal_ignored; /* SIGPIPE, by the caller */

  /* Receives the plugin's log; NULL: warnings and errors go to stderr. */
  void (*log)(uint32_t severity, const char *text, size_t len);
};

/* Reads options one by one: a key of the verb's table with cli->value, CLI_END after the last one,
 * CLI_STOP when the verb is to return cli->exit_code (help or an error was printed). */
enum { CLI_END = -1, CLI_STOP = -2 };
int cli_next(struct cli *cli);

/* Refuses words where a verb takes none, or fewer or more than it takes. Returns 0, or the exit
 * code. */
int cli_take_words(const struct cli *cli, int at_least, int at_most, const char *what);

/* For a mistake in the call: prints it on stderr, with the usage line. Returns EXIT_USAGE. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a refusal or failure: prints one line on stderr, "PROGRAM VERB: …". Returns EXIT_REFUSED. The
 * line may contain text from outside: characters that would act on a terminal are made visible. */
int cli_fail(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what hostkit or the plugin refused. */
int cli_fail_with(const struct cli *cli, int32_t code, const struct tidings_error *error);
/* The same line for a warning: nothing has failed. */
void cli_warn(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a whole number from min to max. Returns 0, or -1. */
int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number);
/* Reads a duration, such as "500ms", "90", "90s", "10m", "2h" or "1d", of up to a hundred years.
 * Returns 0, or -1. */
int cli_duration(const char *text, uint64_t *ret_ms);
/* Returns the index of a word in a list that ends with NULL; -1: it is not in the list. */
int cli_word(const char *text, const char *const *words);

#endif
