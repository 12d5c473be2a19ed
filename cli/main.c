/* SPDX-License-Identifier: MIT
 *
 * main.c: the program `tidings`: its verbs, and the text of its help and man page.
 */
#include "agents/hook/hook.h"
#include "agents/setup/setup.h"
#include "cli/doctor/doctor.h"
#include "cli/feed/feed.h"
#include "cli/run/run.h"
#include "cli/tail/tail.h"
#include "cli/timeline/timeline.h"
#include "cli/verbs.h"
#include "cli/watch/watch.h"
#include "command/store.h"
#include "command/verbs.h"
#include "mcp/act.h"
#include "mcp/mcp.h"
#include "mcp/writer.h"

static const struct cli_verb verb_help = VERB_HELP("tidings", "push");
static const struct cli_verb verb_version =
    VERB_VERSION("tidings", " 'tidings doctor' also prints the plugin's version.");

static const struct cli_verb *const verbs[] = {
    &verb_push,      &verb_run,      &verb_log,     &verb_watch,   &verb_feed,     &verb_listen,
    &verb_subscribe, &verb_deliver,  &verb_submit,  &verb_remind,  &verb_stop,     &verb_queue,
    &verb_box,       &verb_event,    &verb_wait,    &verb_pending, &verb_history,  &verb_explain,
    &verb_top,       &verb_timeline, &verb_tail,    &verb_status,  &verb_sessions, &verb_stats,
    &verb_export,    &verb_setup,    &verb_hook,    &verb_mcp,     &verb_config,   &verb_store,
    &verb_doctor,    &verb_help,     &verb_version, NULL,
};

static const struct cli_verb *const internal_verbs[] = {&verb_store_check, &verb_mcp_writer,
                                                        &verb_mcp_child, NULL};

static const struct cli_example environment[] = {
    {"TIDINGS_SESSION", "The session, if -s is not given."},
    {"TIDINGS_STORE", "The store, if -S is not given. Default: "
                      "$XDG_STATE_HOME/tidings or ~/.local/state/tidings."},
    {"TIDINGS_CONFIG", "The user's configuration, if --config is not given. Default: "
                       "config.json or config.toml in $XDG_CONFIG_HOME/tidings or "
                       "~/.config/tidings, if it exists."},
    {"TIDINGS_NO_PROJECT", "If it is not empty, the configurations of projects are not read."},
    {"TIDINGS_PLUGIN",
     "The plugin to load, instead of the one that was installed with this command."},
    {NULL, NULL},
};

static const struct cli_program tidings = {
    .name = "tidings",
    .version = TIDINGS_VERSION,
    .usage = "VERB [OPTION]...",
    .summary = "Delivers notifications to an agent's model, and shows what happened "
               "to them.",
    .about = "deliver notifications to an agent's model",
    .description = "A build fails in the background, a file changes, a server disconnects: "
                   "tidings stores notifications of such events and\n"
                   "adds them to the messages that an agent sends to its model anyway. This "
                   "command pushes notifications, shows what\n"
                   "happened to them, and sets up agents.",
    .environment = environment,
    .examples =
        (const struct cli_example[]){
            {"tidings run -- make",
             "Build; the agent that works in this folder is notified when it ends."},
            {NULL, NULL}},
    .verbs = verbs,
    .internal_verbs = internal_verbs,
    .list_sessions = "tidings status --names",
    .overview = &verb_overview,
};

int main(int argc, char **argv) { return cli_main(&tidings, argc, argv); }
