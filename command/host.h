/* SPDX-License-Identifier: MIT
 *
 * command/host.h: opens the store as the host of another process, for verbs that deliver, wait or
 * report turns for a script that lives longer than they do.
 */
#ifndef COMMAND_HOST_H
#define COMMAND_HOST_H

#include "command/cli.h"
#include "command/kit.h"

/* Chooses the session: `named`, or like session_choose if that is NULL. If *owner is 0, sets it to
 * the session's owner if that process is alive and above this one, and otherwise to the calling
 * script. Then opens the store as the host of *owner. Prints what is wrong. Returns 0, or the exit
 * code; free *ret_session. */
int host_open(const struct cli *cli, const char *named, uint32_t *owner, struct hostkit **ret_kit,
              char **ret_session);

/* Reads the option --owner, which names a process that is alive. Returns 0, or the exit code. */
int host_read_owner(const struct cli *cli, uint32_t *ret_owner);

enum { OPTION_OWNER = CLI_LONG_ONLY + 900 };
#define HOST_OWNER_OPTION                                                                          \
  {                                                                                                \
    .key = OPTION_OWNER, .name = "owner", .argument = "PID",                                       \
    .help = "The agent's process. Default: the session's host if this command runs below it, "     \
            "else the script that calls it."                                                       \
  }

#endif
