/* SPDX-License-Identifier: MIT
 */
#include "command/careful_write.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "command/interrupt.h"

/* Writes at once only as much as a pipe certainly takes after poll. So the write never waits, and a
 * signal can arrive only in poll. */
int careful_write(int fd, const char *bytes, size_t len) {
  while (len) {
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (interrupt_poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    if (interrupt_seen()) return EINTR;
    if (!ready.revents) continue;
    ssize_t put = write(fd, bytes, len < PIPE_BUF ? len : PIPE_BUF);
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) return errno;
    bytes += put;
    len -= (size_t)put;
  }
  return 0;
}
