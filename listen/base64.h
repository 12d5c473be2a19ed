/* SPDX-License-Identifier: MIT
 *
 * listen/base64.h: decodes base64 (RFC 4648, with or without padding). Pure.
 */
#ifndef LISTEN_BASE64_H
#define LISTEN_BASE64_H

#include "common/span.h"

enum { BASE64_MOST = 512 }; /* how many bytes; a longer text counts as invalid */

/* Returns how many bytes there are; 0: it is not base64, or too long. */
size_t base64_read(struct tidings_span text, unsigned char bytes[BASE64_MOST]);

#endif
