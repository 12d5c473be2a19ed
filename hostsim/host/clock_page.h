/* SPDX-License-Identifier: MIT
 *
 * host/clock_page.h: a file that hostsim and the clock plugin (in a host that is not hostsim) map.
 * hostsim writes it before each request, and sends the next request only after the host's answer.
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
  uint64_t seed;         /* the seed of randomness for the next open */
  char plugin[PATH_MAX]; /* the plugin under test; NUL-terminated */
};

#endif
