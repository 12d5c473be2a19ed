/* SPDX-License-Identifier: MIT
 *
 * command/host.h: opening as the host of another process: for verbs that deliver, wait or report
 * turns on behalf of a script that lives longer than they do.
 */
#ifndef COMMAND_HOST_H
#define COMMAND_HOST_H

#include "command/cli.h"
#include "command/kit.h"

/* Chooses the session (`named`, or NULL: as session_choose does) and whose host this is: *owner if
 * it is not 0; else (and then it becomes that) the session's owner, if that lives and stands above
 * this process, or the script that called. Then opens as its host. Says what is wrong. Returns 0,
 * or the exit code; free *ret_session. */
int host_open(const struct cli *cli, const char *named, uint32_t *owner, struct hostkit **ret_kit,
              char **ret_session);

/* The option --owner: a process that lives. Returns 0, or the exit code. */
int host_read_owner(const struct cli *cli, uint32_t *ret_owner);

enum { OPTION_OWNER = CLI_LONG_ONLY + 900 };
#define HOST_OWNER_OPTION                                                                          \
  {                                                                                                \
    .key = OPTION_OWNER, .name = "owner", .argument = "PID",                                       \
    .help = "The agent's process. Default: the session's host if this command runs below it, "     \
            "else the script that calls it."                                                       \
  }

#endif
