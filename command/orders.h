/* SPDX-License-Identifier: MIT
 *
 * command/orders.h: some recipes state an order, such as a run's number. This remembers, for each
 * key, the highest order that its events have had: an event with a lower order is overtaken. All
 * programs that push by recipes share these orders, in a file of the store's folder, and keep them
 * for RECIPES_REMEMBERED_DAYS. For a store in a database the file is in the user's own folder, so
 * each machine has its own.
 */
#ifndef COMMAND_ORDERS_H
#define COMMAND_ORDERS_H

#include <tidings/hostkit.h>

#include "command/cli.h"

struct orders; /* one use of the file, for which other processes wait */

/* Notes the order for the notification's session, source and key, or sets *ret_overtaken if a
 * higher order is known. The order is noted before the push, so that after a crash in between no
 * older notification replaces the pushed one. Until orders_leave no other process can note an
 * order. *ret_orders NULL: the file cannot be used, and the notification does not count as
 * overtaken. Errors: BUSY (another process does not leave). */
int32_t orders_enter(const struct cli *cli, const struct hostkit_notification *notification,
                     struct tidings_span order, struct orders **ret_orders, bool *ret_overtaken,
                     struct tidings_error *error);
/* NULL is allowed. `refused`: the store did not take the push, so the order before it is noted
 * again. */
void orders_leave(struct orders *orders, bool refused);

#endif
