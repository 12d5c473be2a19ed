/* SPDX-License-Identifier: MIT
 *
 * main.c: the program `tidings`: its verbs, and what its help and man page say.
 */
#include "agents/agents.h"
#include "cli/verbs.h"
#include "command/verbs.h"

static const struct cli_verb verb_help = VERB_HELP("tidings", "push");
static const struct cli_verb verb_version =
    VERB_VERSION("tidings", " `tidings doctor` tells the plugin's too.");

static const struct cli_verb *const verbs[] = {
    &verb_push,   &verb_run,    &verb_watch,   &verb_deliver, &verb_submit,
    &verb_event,  &verb_wait,   &verb_pending, &verb_history, &verb_explain,
    &verb_status, &verb_stats,  &verb_export,  &verb_setup,   &verb_hook,
    &verb_config, &verb_doctor, &verb_help,    &verb_version, NULL,
};

static const struct cli_example environment[] = {
    {"TIDINGS_SESSION", "The session, where none is given with -s."},
    {"TIDINGS_STORE", "The store, where none is given with -S. Otherwise it is "
                      "$XDG_STATE_HOME/tidings or ~/.local/state/tidings."},
    {"TIDINGS_CONFIG", "The configuration. Otherwise it is $XDG_CONFIG_HOME/tidings/config.json or "
                       "~/.config/tidings/config.json, if there is one."},
    {"TIDINGS_PLUGIN",
     "The plugin to load, instead of the one that was installed with this command."},
    {NULL, NULL},
};

static const struct cli_program tidings = {
    .name = "tidings",
    .version = TIDINGS_VERSION,
    .usage = "VERB [OPTION]...",
    .summary = "Gets news to an agent's model, and asks what became of it.",
    .about = "get news to an agent's model",
    .description =
        "A build fails in the background, a file changes, a server goes away: tidings keeps such "
        "news in a store and puts it on the\n"
        "messages that an agent sends to its model anyway. This command pushes news, asks what "
        "became of it, and connects agents.",
    .environment = environment,
    .examples = (const struct cli_example[]){{"tidings run -- make",
                                              "Build; the agent that works in this folder is told "
                                              "how it ended."},
                                             {NULL, NULL}},
    .verbs = verbs,
    .list_sessions = "tidings status --names",
};

int main(int argc, char **argv) { return cli_main(&tidings, argc, argv); }
