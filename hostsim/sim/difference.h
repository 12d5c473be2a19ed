/* SPDX-License-Identifier: MIT
 *
 * sim/difference.h: two JSON values of the same meaning against each other, and in words where they
 * differ. A call that has nothing to say that must be done ("optional") may have answered no reply
 * at all.
 */
#ifndef HOSTSIM_SIM_DIFFERENCE_H
#define HOSTSIM_SIM_DIFFERENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

bool difference_none(const json_t *expected, const json_t *got);

/* Prints a line for each place that differs: "WHAT.PATH: expected … got …". */
void difference_write(json_t *expected, json_t *got, const char *what, FILE *out);

#endif
