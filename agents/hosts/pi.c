/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/pi.c: the row of pi. docs/hosts/pi.md has the observations.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const char *const pi_package_files[] = {"settings.json", NULL};

static const struct host_package pi_package = {.files = pi_package_files,
                                               .project_file = ".pi/settings.json",
                                               .list = "packages",
                                               .name = "npm:@tidings/pi",
                                               .removal = "pi remove"};

const struct host host_pi = {
    .name = "pi",
    .title = "pi",
    .program = "pi",
    .tested = TESTED_PI,
    .kind = HOST_NODE,
    .room = 30000,
    .room_measured = "235,000 bytes are shown whole; more of them would fill the model's context",
    .home_variable = "PI_CODING_AGENT_DIR",
    .home_folder = ".pi/agent",
    .config_file = "extensions/tidings.ts",
    .package = &pi_package,
};
