/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/opencode.c: the row of opencode. docs/hosts/opencode.md has the observations.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const char *const opencode_package_files[] = {"opencode.json", "opencode.jsonc",
                                                     "config.json", NULL};

static const struct host_package opencode_package = {.files = opencode_package_files,
                                                     .project_file = "opencode.json",
                                                     .list = "plugin",
                                                     .name = "@tidings/opencode"};

const struct host host_opencode = {
    .name = "opencode",
    .title = "opencode",
    .program = "opencode",
    .tested = TESTED_OPENCODE,
    .kind = HOST_NODE,
    .room = 30000,
    .room_measured = "235,000 bytes are shown whole; more of them would fill the model's context",
    .home_variable = "OPENCODE_CONFIG_DIR",
    .base_variable = "XDG_CONFIG_HOME",
    .base_folder = "opencode",
    .home_folder = ".config/opencode",
    .config_file = "plugin/tidings.ts",
    .package = &opencode_package,
};
