/* SPDX-License-Identifier: MIT
 *
 * command/careful_write.h: writing that a signal can stop at a known place, so that what depends on
 * it can be undone in order.
 */
#ifndef COMMAND_CAREFUL_WRITE_H
#define COMMAND_CAREFUL_WRITE_H

#include <stddef.h>

/* Writes all of it; interrupt_begin was called before. Returns 0, EINTR (a signal came before the
 * last byte was written), or another errno. */
int careful_write(int fd, const char *bytes, size_t len);

#endif
