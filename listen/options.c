/* SPDX-License-Identifier: MIT
 */
#include "listen/options.h"

enum { OPTION_BIND = CLI_LONG_ONLY, OPTION_UNIX, OPTION_BIND_ANYWHERE, OPTION_TRY };

bool listen_read_options(struct cli *cli, struct listen_options *ret_options, int *ret_code) {
  struct listen_options options = {.file = NULL};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'c': options.file = cli->value; break;
    case OPTION_BIND: options.bind = cli->value; break;
    case OPTION_UNIX: options.unix_path = cli->value; break;
    case OPTION_BIND_ANYWHERE: options.bind_anywhere = true; break;
    case OPTION_TRY: options.recipe = cli->value; break;
    default: *ret_code = cli->exit_code; return false;
    }
  }
  *ret_code = options.recipe ? cli_take_words(cli, 1, 1, "with --try, a file with a request is")
                             : cli_take_words(cli, 0, 0, "");
  if (!*ret_code && options.bind && options.unix_path)
    *ret_code = cli_usage(cli, "--bind and --unix exclude each other");
  *ret_options = options;
  return !*ret_code;
}

const struct cli_option listen_option_rows[] = {
    {.key = 'c',
     .name = "routes",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "The file with the routes. Default: listen.json in "
             "$XDG_CONFIG_HOME/tidings or ~/.config/tidings."},
    {.key = OPTION_BIND,
     .name = "bind",
     .argument = "ADDRESS:PORT",
     .help = "Listen there. Default: 127.0.0.1:8787, or the socket that systemd hands "
             "over."},
    {.key = OPTION_UNIX,
     .name = "unix",
     .argument = "PATH",
     .completion = COMPLETE_FILE,
     .help = "Listen on a Unix socket instead, which only its owner may use."},
    {.key = OPTION_BIND_ANYWHERE,
     .name = "bind-anywhere",
     .help = "Allow an address that is not a loopback address. Anybody who reaches it can "
             "send requests, which are not encrypted."},
    {.key = OPTION_TRY,
     .name = "try",
     .argument = "RECIPE",
     .completion = COMPLETE_FILE,
     .help = "Only print what the recipe makes of the request in FILE: a body, or headers, "
             "an empty line and a body. No store is needed."},
    {.name = NULL},
};

const struct cli_example listen_examples[] = {
    {"tidings listen -c listen.json", "Receive webhooks on http://127.0.0.1:8787."},
    {"tidings listen --try github request.txt",
     "Show what would become of a request that was recorded."},
    {NULL, NULL}};
