/* SPDX-License-Identifier: MIT
 *
 * listen/attempt.h: the option --try prints the notifications that a recipe makes of a request in a
 * file.
 */
#ifndef LISTEN_ATTEMPT_H
#define LISTEN_ATTEMPT_H

#include "command/cli.h"

/* Returns the exit code of the program. */
int attempt(const struct cli *cli, const char *recipe_name, const char *path);

#endif
