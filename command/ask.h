/* SPDX-License-Identifier: MIT
 *
 * command/ask.h: sends a query to the plugin, and prints errors.
 */
#ifndef COMMAND_ASK_H
#define COMMAND_ASK_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "command/cli.h"

/* Takes `request` over; a NULL request means out of memory, or a text that is not UTF-8. Returns 0
 * or the exit code. */
int ask(const struct cli *cli, struct hostkit *kit, json_t *request, json_t **ret_answer);

/* Opens the plugin as a producer, chooses the session, adds it to `request`, which it takes over,
 * asks, and closes. */
int ask_about_session(const struct cli *cli, json_t *request, json_t **ret_answer);

#endif
