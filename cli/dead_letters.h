/* SPDX-License-Identifier: MIT
 *
 * dead_letters.h: notifications that ended and were never shown.
 */
#ifndef TIDINGS_CLI_DEAD_LETTERS_H
#define TIDINGS_CLI_DEAD_LETTERS_H

#include <jansson.h>
#include <stdint.h>

#include "command/cli.h"

/* Asks for the dead letters of the session, and prints the newest `limit` of those that ended after
 * since_ms, the oldest first. Returns 0 or the exit code. */
int verb_history_dead(const struct cli *cli, uint64_t limit, int64_t since_ms);
/* Warns if an answer of `history` lacks deliveries or turns after since_ms because of its limit. */
void verb_history_warn_if_cut(const struct cli *cli, const json_t *answer, uint64_t limit,
                              int64_t since_ms);
/* Prints the rest of an entry after its id: kind, level, message, and the reason below. */
void verb_history_print_ended(const json_t *item, int indent);

#endif
