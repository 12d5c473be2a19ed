/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/kilo.c: the row of Kilo. What was seen of it is in docs/hosts.md.
 */
#include "agents/hosts/hosts.h"

const struct host host_kilo = {
    .name = "kilo",
    .title = "Kilo",
    .program = "kilo",
    .kind = HOST_NODE,
    .module = "opencode",
    .room = 30000,
    .room_measured = "as opencode, whose module it loads",
    .base_variable = "XDG_CONFIG_HOME",
    .base_folder = "kilo",
    .home_folder = ".config/kilo",
    .config_file = "plugin/tidings.ts",
};
