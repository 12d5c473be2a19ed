/* SPDX-License-Identifier: MIT
 *
 * command/orders.h: remembers the highest order, such as a run's number, that each key's events
 * have had, for recipes that state an order: an event with a lower one is overtaken. It is kept for
 * RECIPES_REMEMBERED_DAYS in a file of the store's folder, for all programs that push by recipes.
 * For a store in a database the file is in the user's own folder, so each machine has its own.
 */
#ifndef COMMAND_ORDERS_H
#define COMMAND_ORDERS_H

#include <tidings/hostkit.h>

#include "command/cli.h"

struct orders; /* one use of the file, for which other processes wait */

/* Notes the order for the notification's session, source and key; or sets *ret_overtaken if a later
 * one is known. The order is noted before the push, so that after a crash in between nothing older
 * replaces what was pushed. No other process notes one until orders_leave. If the file cannot be
 * used, it returns NULL, and the notification does not count as overtaken. */
struct orders *orders_enter(const struct cli *cli, const struct hostkit_notification *notification,
                            struct tidings_span order, bool *ret_overtaken);
/* NULL is allowed. `refused`: the store did not take the push, so what was noted before counts. */
void orders_leave(struct orders *orders, bool refused);

#endif
