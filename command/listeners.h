/* SPDX-License-Identifier: MIT
 *
 * command/listeners.h: lists the `tidings listen` processes that run on a store. Each keeps a file
 * in the store's folder "listen", and locks another file there for as long as it lives. A store in
 * a database has no such folder.
 */
#ifndef COMMAND_LISTENERS_H
#define COMMAND_LISTENERS_H

#include <jansson.h>

#include "command/cli.h"

struct listener; /* this process */

/* Makes the files of this process. Returns 0 or an errno; ENOTSUP: the store is in a database. */
int listeners_join(const struct cli *cli, struct listener **ret_listener);
/* Writes the state of this process; takes `status` over. Returns 0 or an errno. */
int listeners_say(const struct listener *listener, json_t *status);
/* Removes the files. NULL is allowed. */
void listeners_leave(struct listener *listener);

/* Returns an array with the last status of each living process, and removes the files of dead ones.
 * NULL: no memory. */
json_t *listeners_list(const struct cli *cli);

#endif
