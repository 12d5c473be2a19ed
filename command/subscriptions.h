/* SPDX-License-Identifier: MIT
 *
 * command/subscriptions.h: the subscriptions of a store (`tidings subscribe`): each has small files
 * in the store's folder "subscribe", or for a store in a database in one beside the default store:
 * NAME.json has its position; NAME.state has its state, for people; NAME.json.lock is held by its
 * process while that lives.
 */
#ifndef COMMAND_SUBSCRIPTIONS_H
#define COMMAND_SUBSCRIPTIONS_H

#include <jansson.h>

#include "command/cli.h"

/* The folder; *ret_store is the store, which tells the files of several stores in databases apart.
 * Free both. NULL: out of memory, or there is no home. */
char *subscriptions_folder(const struct cli *cli, char **ret_store);

/* An array with the last state of each: its members, "alive" and "file", the path without a suffix.
 * NULL: no memory. */
json_t *subscriptions_list(const struct cli *cli);

#endif
