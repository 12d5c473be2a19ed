/* SPDX-License-Identifier: MIT
 *
 * mcp/verb_mcp.c: `tidings mcp`: the options, and the choice between server and wrapper.
 */
#include "mcp/mcp.h"
#include "mcp/serve.h"
#include "mcp/wrap.h"

enum { OPTION_NAME = CLI_LONG_ONLY, OPTION_NO_TOOLS };
/* How long one call of the plugin may wait. The host waits this long, and PATIENCE_MS of news.c. */
enum { BUDGET_MS = 3 };

static int mcp_verb(struct cli *cli) {
  const char *name = NULL;
  bool has_tools = true;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    if (key == OPTION_NAME) name = cli->value;
    else if (key == OPTION_NO_TOOLS) has_tools = false;
    else return cli->exit_code;
  }
  int code = cli_take_words(cli, 0, INT32_MAX, "");
  if (code) return code;
  if (name && !cli->word_count) return cli_usage(cli, "--name is for a command");
  if (!has_tools && cli->word_count)
    return cli_usage(cli, "--no-tools is for the server, not for a command");
  cli->preset = "plain";
  cli->budget_ms = BUDGET_MS;
  return cli->word_count ? mcp_wrap(cli, name, cli->words) : mcp_serve(cli, has_tools);
}

const struct cli_verb verb_mcp = {
    .name = "mcp",
    .usage = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
    .summary = "deliver notifications through MCP",
    .help =
        "For agents without hooks. Without a command it is an MCP server over stdin and stdout, "
        "whose tools show notifications, run commands in the background, watch files, and "
        "write to other agents.\n\n"
        "With a command, it runs that, an MCP server that speaks over stdin and "
        "stdout, and passes everything on unchanged. When notifications are pending for the "
        "agent's session, it adds them to the result of a tool call, as one more block of "
        "text.\n\n"
        "It adds nothing if hooks or a module of the agent deliver the notifications, and "
        "nothing to results with structured content. A notification counts as delivered when "
        "the agent has read the result and goes on. When the server ends by itself, the "
        "session is notified. The exit code is that of the command.",
    .with = WITH_STORE | WITH_CONFIG,
    .options_first = true,
    .completion = COMPLETE_COMMAND,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_NAME,
             .name = "name",
             .argument = "NAME",
             .help = "The server's name in the notification of its end; taken from the command if "
                     "not given."},
            {.key = OPTION_NO_TOOLS,
             .name = "no-tools",
             .help = "For an agent with hooks that calls none when a session is resumed, but "
                     "starts its MCP servers: the server has no tools and ends at once, and "
                     "what is urgent in that session wakes it."},
            {.name = NULL},
        },
    .run = mcp_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings mcp </dev/null", "The server; an agent starts it as 'tidings mcp'."},
            {"tidings mcp -- npx -y @modelcontextprotocol/server-everything",
             "What an agent starts instead of the server's own command."},
            {NULL, NULL}},
};
