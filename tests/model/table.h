/* SPDX-License-Identifier: MIT
 *
 * tests/model/table.h: the machine's table, as found by exploring: all results of each event in
 * each state. table.py compares it with the table of docs/turns.md.
 */
#ifndef TESTS_MODEL_TABLE_H
#define TESTS_MODEL_TABLE_H

#include "moves.h"

/* Adds a step of the machine to the table. */
void table_record(const struct world *before, const struct move *move, enum turns_event event,
                  int code, const struct world *after, bool changed);

/* Prints a line for each cell and each kind of ids, with tabs between: event, state, ids, the
 * results for the session and for the named message, the phases and turns of a busy session, and
 * whether anything changed. */
void table_print(void);

#endif
