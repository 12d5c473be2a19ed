/* SPDX-License-Identifier: MIT
 *
 * command/verbs.h: the verbs that every program has, with examples that name it.
 */
#ifndef COMMAND_VERBS_H
#define COMMAND_VERBS_H

#include "command/cli.h"

int verb_help_run(struct cli *cli);
int verb_version_run(struct cli *cli);
extern const struct cli_option verb_help_options[];

/* `verb` is one that the program has. */
#define VERB_HELP(program, verb)                                                                   \
  {                                                                                                \
    .name = "help", .usage = "[--man] [VERB]  or  --completion=SHELL  or  --names",                \
    .summary = "list the verbs, or print one's help, man page or completions",                     \
    .help = "Without a verb, lists all of them. With one, prints what '" program                   \
            " VERB --help' prints.",                                                               \
    .completion = COMPLETE_WORDS, .words = "@verbs", .options = verb_help_options,                 \
    .run = verb_help_run, .examples = (const struct cli_example[]) {                               \
      {program " help run", "How to use 'run'."},                                                  \
          {"source <(" program " help --completion=bash)",                                         \
           "Complete in this shell, without installing."},                                         \
          {program " help --man " verb " | man -l -", "The man page of '" verb "'."}, {            \
        NULL, NULL                                                                                 \
      }                                                                                            \
    }                                                                                              \
  }

#define VERB_VERSION(program, more)                                                                \
  {                                                                                                \
    .name = "version", .usage = "[--json]", .summary = "print the version",                        \
    .help = "Prints the version of this command." more, .with = WITH_JSON,                         \
    .run = verb_version_run, .examples = (const struct cli_example[]) {                            \
      {program " version", "Print the version."}, { NULL, NULL }                                   \
    }                                                                                              \
  }

#endif
