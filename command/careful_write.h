/* SPDX-License-Identifier: MIT
 *
 * command/careful_write.h: writes in such a way that a signal can only stop it at a known place, so
 * that the caller can undo what depends on it.
 */
#ifndef COMMAND_CAREFUL_WRITE_H
#define COMMAND_CAREFUL_WRITE_H

#include <stddef.h>

/* Writes all of it; interrupt_begin was called before. Returns 0, EINTR (a signal came before the
 * last byte was written), or another errno. */
int careful_write(int fd, const char *bytes, size_t len);

#endif
