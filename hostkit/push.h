/* SPDX-License-Identifier: MIT
 *
 * push.h: hostkit_push for the flat functions, whose kind is one text.
 */
#ifndef HOSTKIT_PUSH_H
#define HOSTKIT_PUSH_H

#include <tidings/hostkit.h>

/* `note` has today's length. `kind` ("tool.failed") replaces the note's own kind, unless its ptr is
 * NULL. Errors: as hostkit_push. */
int32_t hk_push(struct hostkit *kit, const struct hostkit_notification *note,
                struct tidings_span kind, struct tidings_reply **ret_reply,
                struct tidings_error *error);

#endif
