/* SPDX-License-Identifier: MIT
 *
 * subscribe/options.h: the options of `tidings subscribe`, which prints the help, and of the
 * program tidings-subscribe, which uses them.
 */
#ifndef SUBSCRIBE_OPTIONS_H
#define SUBSCRIBE_OPTIONS_H

#include "command/cli.h"

struct subscribe_options {
  const char *recipe, *arguments, *mode, *webhook, *secret_file, *token_file; /* NULL: not given */
  uint32_t level;                                                             /* the highest */
  uint64_t heartbeat_ms;                                                      /* 0: not given */
  bool sse;
  const char *url;   /* NULL: the server is `command` */
  bool local;        /* `url` is on this machine, and not encrypted */
  const char *event; /* NULL with --sse */
  char **command;    /* ends with NULL */
};

extern const struct cli_option subscribe_option_rows[];
extern const struct cli_example subscribe_examples[];

/* The verb; its name is NULL in the program itself. */
#define SUBSCRIBE_VERB(verb_name, function)                                                        \
  {                                                                                                \
    .name = (verb_name), .run = (function),                                                        \
    .usage = "[OPTION]... --to ADDRESS URL EVENT  or  [OPTION]... --to ADDRESS EVENT -- "          \
             "COMMAND...  or  --sse [OPTION]... --to ADDRESS URL",                                 \
    .summary = "make notifications of the events of an MCP server",                                \
    .help =                                                                                        \
        "Subscribes to an event of an MCP server (MCP Events, SEP-3415), and pushes what the "     \
        "recipe makes of each. The server is reached by HTTP, or is a command that speaks MCP "    \
        "over stdin and stdout. With --sse the URL is a stream of server-sent events without "     \
        "MCP.\n\n"                                                                                 \
        "It runs until it is stopped, and connects again by itself. Where it has come to is kept " \
        "in the store's folder, and is written after the notifications are stored: after a "       \
        "restart or a crash nothing is missed and nothing comes twice, if the server can go back " \
        "that far. What the server has forgotten, the end of a subscription and a token that is "  \
        "refused become one notification each.\n\n"                                                \
        "docs/mcp.md describes it, docs/reach.md recipes and addresses. The program "              \
        "tidings-subscribe does the work; Debian has it in a package of its own.",                 \
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG,                                 \
    .options = subscribe_option_rows, .completion = COMPLETE_COMMAND,                              \
    .examples = subscribe_examples                                                                 \
  }

/* Reads and checks the command line. Prints errors. Returns true; or false, with the exit code in
 * *ret_code. */
bool subscribe_read_options(struct cli *cli, struct subscribe_options *ret_options, int *ret_code);

/* Returns the server's name without possible secrets: a URL up to its query, or a program without
 * its arguments. Free it. NULL: no memory. */
char *subscribe_name_server(const struct subscribe_options *options);

#endif
