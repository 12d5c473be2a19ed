/* SPDX-License-Identifier: MIT
 *
 * run/signal_name.h: what a signal is called.
 */
#ifndef CLI_RUN_SIGNAL_NAME_H
#define CLI_RUN_SIGNAL_NAME_H

/* "KILL"; NULL: it has no name. */
const char *signal_name(int number);

#endif
