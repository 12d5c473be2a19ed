/* SPDX-License-Identifier: MIT
 *
 * config_tools.h: the part of `tidings config check` that asks a session.
 */
#ifndef CLI_CONFIG_TOOLS_H
#define CLI_CONFIG_TOOLS_H

#include "command/kit.h"

/* Compares the configuration in force in `kit` with what the session's tools have declared in the
 * user's store. SCHEMA: a key names a kind that its tool does not have; the text lists those that
 * it has. */
int32_t config_check_tools(const struct cli *cli, const char *session, struct hostkit *kit,
                           struct tidings_error *error);

#endif
