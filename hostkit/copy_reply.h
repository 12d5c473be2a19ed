/* SPDX-License-Identifier: MIT
 *
 * copy_reply.h: a whole reply in one allocation.
 */
#ifndef HOSTKIT_COPY_REPLY_H
#define HOSTKIT_COPY_REPLY_H

#include <tidings/reply.h>

/* Every struct of the copy has the size that hostkit knows, with zeros for what the plugin did not
 * know, and every text has a NUL after it that its length does not count. Free with
 * hostkit_reply_free. NULL: out of memory. */
struct tidings_reply *hk_reply_copy(const struct tidings_reply *reply);

#endif
