/* SPDX-License-Identifier: MIT
 *
 * probe_path.h: where the probe program is.
 */
#ifndef HOSTKIT_PROBE_PATH_H
#define HOSTKIT_PROBE_PATH_H

#include <tidings/abi.h>

/* `given`, else $TIDINGS_HOSTKIT_PROBE, else beside the file that this code is in (a build tree),
 * else where `cmake --install` puts it, seen from that file (a moved installation), else the place
 * configured. Errors: NOT_FOUND, NOMEM. */
int32_t hk_probe_path(const char *given, char **ret_path, struct tidings_error *error);

#endif
