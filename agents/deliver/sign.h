/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/sign.h: the key of a session's markers, made of the store's key and the session's
 * id: a marker of one session is right in no other.
 */
#ifndef AGENTS_DELIVER_SIGN_H
#define AGENTS_DELIVER_SIGN_H

#include "command/kit.h"

/* Before a marker of this session is written or looked for; asks the store for its key, once in a
 * process. Errors: the query's, and NOMEM. */
int32_t hook_sign_ready(struct hostkit *kit, const char *session, struct tidings_error *error);

#endif
