/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/sign.h: the key of the markers, which is the store's.
 */
#ifndef AGENTS_DELIVER_SIGN_H
#define AGENTS_DELIVER_SIGN_H

#include "command/kit.h"

/* Before a marker is written or looked for: asks for the key, once in a process. Errors: the
 * query's. */
int32_t hook_sign_ready(struct hostkit *kit, struct tidings_error *error);

#endif
