/* SPDX-License-Identifier: MIT
 */
#include "command/common_options.h"

const struct cli_option common_options[] = {
    {.key = OPTION_SESSION,
     .name = "session",
     .argument = "SESSION",
     .completion = COMPLETE_SESSION,
     .help = "The session. Default: $TIDINGS_SESSION, else the session of a running host "
             "whose folder is the nearest at or above the current folder; of several in that "
             "folder, the one that was used last."},
    {.key = OPTION_TO,
     .name = "to",
     .argument = "ADDRESS",
     .help = "Where to send it, instead of -s: session:ID; folder:PATH, the session that works "
             "there now or starts there next; repo:HOST/OWNER/NAME[@BRANCH], a session in a "
             "checkout of that repository; or box:NAME, the session that joined that box. What no "
             "session can receive yet waits in a mailbox (see 'tidings box')."},
    {.key = OPTION_CREATE,
     .name = "create",
     .help = "Create the session that -s names if the store does not know it; otherwise that is "
             "an error."},
    {.key = OPTION_PRINT_SESSION,
     .name = "print-session",
     .help = "Only print which session is meant, and on stderr why."},
    {.key = OPTION_STORE,
     .name = "store",
     .argument = "DIR",
     .completion = COMPLETE_FOLDER,
     .help = "The store. Default: $TIDINGS_STORE, else $XDG_STATE_HOME/tidings, else "
             "~/.local/state/tidings."},
    {.key = OPTION_CONFIG,
     .name = "config",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "The user's configuration, JSON, or TOML if its name ends in .toml. Default: "
             "$TIDINGS_CONFIG, else config.json or config.toml in "
             "$XDG_CONFIG_HOME/tidings or ~/.config/tidings, if it exists. The project's "
             ".tidings.json or .tidings.toml is laid over it."},
    {.key = OPTION_COLOR,
     .name = "color",
     .argument = "WHEN",
     .completion = COMPLETE_WORDS,
     .words = "auto always never",
     .help = "Colours: auto (on a terminal, unless NO_COLOR is set), always, or never."},
    {.key = OPTION_UTC, .name = "utc", .help = "Print times in UTC, not in local time."},
    {.key = OPTION_JSON, .name = "json", .help = "Print JSON."},
    {.key = OPTION_HELP, .name = "help", .help = "Print the verb's help."},
};
const size_t common_option_count = sizeof common_options / sizeof common_options[0];

bool common_option_of(const struct cli_verb *verb, size_t index) {
  switch (common_options[index].key) {
  case OPTION_SESSION: return verb->with & WITH_SESSION;
  case OPTION_TO:
  case OPTION_CREATE:
  case OPTION_PRINT_SESSION: return verb->with & WITH_CREATE;
  case OPTION_STORE: return verb->with & WITH_STORE;
  case OPTION_CONFIG: return verb->with & WITH_CONFIG;
  case OPTION_COLOR:
  case OPTION_UTC: return verb->with & FOR_PEOPLE;
  case OPTION_JSON: return verb->with & WITH_JSON;
  default: return true;
  }
}
