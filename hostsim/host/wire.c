/* SPDX-License-Identifier: MIT
 *
 * host/wire.c: JSON values over a stream socket: four bytes of length, then the text.
 */
#include "host/wire.h"

#include "command/interrupt.h"
#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#define FRAME_MAX (64u << 20)

static enum wire_outcome send_all(int fd, const char *bytes, size_t len) {
  while (len > 0) {
    ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      if (interrupt_seen()) return WIRE_INTERRUPTED;
      continue;
    }
    if (sent < 0) return WIRE_CLOSED;
    bytes += sent;
    len -= (size_t)sent;
  }
  return WIRE_OK;
}

enum wire_outcome wire_send(int fd, const json_t *value) {
  char *text = json_dumps(value, JSON_COMPACT);
  if (!text) return WIRE_CLOSED;
  size_t len = json_dumpb(value, NULL, 0, JSON_COMPACT);
  unsigned char header[4] = {(unsigned char)(len >> 24), (unsigned char)(len >> 16),
                             (unsigned char)(len >> 8), (unsigned char)len};
  enum wire_outcome outcome =
      len > FRAME_MAX ? WIRE_TOO_LONG : send_all(fd, (const char *)header, sizeof header);
  if (outcome == WIRE_OK) outcome = send_all(fd, text, len);
  free(text);
  return outcome;
}

static enum wire_outcome receive_all(int fd, int64_t deadline, char *bytes, size_t len) {
  while (len > 0) {
    int wait = -1;
    if (deadline >= 0) {
      int64_t left = deadline - clock_mono_ms();
      wait = left > 0 ? (int)left : 0;
    }
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    int ready = poll(&readable, 1, wait);
    if (interrupt_seen()) return WIRE_INTERRUPTED;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return WIRE_TIMEOUT;
    ssize_t got = ready < 0 ? -1 : recv(fd, bytes, len, 0);
    if (got <= 0) return WIRE_CLOSED;
    bytes += got;
    len -= (size_t)got;
  }
  return WIRE_OK;
}

enum wire_outcome wire_receive(int fd, int timeout_ms, json_t **ret_value) {
  int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
  unsigned char header[4];
  enum wire_outcome outcome = receive_all(fd, deadline, (char *)header, sizeof header);
  if (outcome != WIRE_OK) return outcome;
  size_t len =
      (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
  char *text = len <= FRAME_MAX ? malloc(len + 1) : NULL;
  if (!text) return WIRE_CLOSED;
  outcome = receive_all(fd, deadline, text, len);
  if (outcome == WIRE_OK) {
    json_t *value = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    if (value) *ret_value = value;
    else outcome = WIRE_CLOSED;
  }
  free(text);
  return outcome;
}
