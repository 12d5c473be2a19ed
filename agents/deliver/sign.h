/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/sign.h: the key of a session's markers, made from the store's key and the
 * session's id, so that a marker is valid in only one session.
 */
#ifndef AGENTS_DELIVER_SIGN_H
#define AGENTS_DELIVER_SIGN_H

#include "command/kit.h"

/* Call it before a marker of this session is written or looked for. It asks the store for its key,
 * once in a process. Errors: those of queries, and NOMEM. */
int32_t hook_sign_ready(struct hostkit *kit, const char *session, struct tidings_error *error);

#endif
