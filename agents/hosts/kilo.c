/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/kilo.c: the row of Kilo. docs/hosts/kilo.md says what was seen of it.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

const struct host host_kilo = {
    .name = "kilo",
    .title = "Kilo",
    .program = "kilo",
    .tested = TESTED_KILO,
    .kind = HOST_NODE,
    .module = "opencode",
    .room = 30000,
    .room_measured = "as opencode, whose module it loads",
    .base_variable = "XDG_CONFIG_HOME",
    .base_folder = "kilo",
    .home_folder = ".config/kilo",
    .config_file = "plugin/tidings.ts",
};
