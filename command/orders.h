/* SPDX-License-Identifier: MIT
 *
 * command/orders.h: how far the events of each key have come, for recipes that say an order, such
 * as a run's number: what comes before one that is known is overtaken. A file of the store's folder
 * has it for RECIPES_REMEMBERED_DAYS, for all programs that push by recipes; for a store in a
 * database it is in the user's own folder, so there each machine has its own.
 */
#ifndef COMMAND_ORDERS_H
#define COMMAND_ORDERS_H

#include <tidings/hostkit.h>

#include "command/cli.h"

struct orders; /* one look at the file: others wait */

/* Notes the order for the notification's session, source and key, or finds that a later one is
 * known: *ret_overtaken. It is noted before the push: after a crash between the two, nothing older
 * replaces what was pushed. Until orders_leave nobody else notes one. If that fails, nothing is
 * kept out: NULL, and not overtaken. */
struct orders *orders_enter(const struct cli *cli, const struct hostkit_notification *notification,
                            struct tidings_span order, bool *ret_overtaken);
/* NULL is allowed. `refused`: the store did not take the push, so what was noted before counts. */
void orders_leave(struct orders *orders, bool refused);

#endif
