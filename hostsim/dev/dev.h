/* SPDX-License-Identifier: MIT
 *
 * dev/dev.h: `hostsim dev`, the plugin developer's loop.
 */
#ifndef HOSTSIM_DEV_DEV_H
#define HOSTSIM_DEV_DEV_H

#include "command/cli.h"

extern const struct cli_verb verb_dev;

#endif
