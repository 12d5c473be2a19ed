/* SPDX-License-Identifier: MIT
 *
 * command/subscriptions.h: lists the subscriptions of a store (`tidings subscribe`). Each has small
 * files in the store's folder "subscribe", or, for a store in a database, in a folder beside the
 * default store: NAME.json has its position; NAME.state has its state, for people; NAME.json.lock
 * is held by its process while that lives.
 */
#ifndef COMMAND_SUBSCRIPTIONS_H
#define COMMAND_SUBSCRIPTIONS_H

#include <jansson.h>

#include "command/cli.h"

/* Returns the folder of these files. *ret_store is the store's name, which tells apart the files of
 * several stores in databases. Free both. NULL: out of memory, or there is no home. */
char *subscriptions_folder(const struct cli *cli, char **ret_store);

/* Returns an array with the last state of each subscription, to which "alive" and "file", the path
 * without a suffix, are added. NULL: no memory. */
json_t *subscriptions_list(const struct cli *cli);

#endif
