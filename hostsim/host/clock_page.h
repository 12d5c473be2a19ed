/* SPDX-License-Identifier: MIT
 *
 * host/clock_page.h: what hostsim shares with the clock plugin in a host that is not hostsim: a
 * file that both map. hostsim writes it before each request, and the host answers before the next.
 */
#ifndef HOSTSIM_CLOCK_PAGE_H
#define HOSTSIM_CLOCK_PAGE_H

#include <limits.h>
#include <stdint.h>

/* The variable with the path of the file. */
#define CLOCK_PAGE_VARIABLE "TIDINGS_HOSTSIM_CLOCK"

struct clock_page {
  int64_t now_ms;
  uint64_t mono_ns;
  uint64_t seed;         /* of the randomness of the next open */
  char plugin[PATH_MAX]; /* the plugin under test; NUL-terminated */
};

#endif
