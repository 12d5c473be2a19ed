/* SPDX-License-Identifier: MIT
 *
 * host/wire.h: JSON values over a stream socket: four bytes of length, then the text.
 */
#ifndef HOSTSIM_WIRE_H
#define HOSTSIM_WIRE_H

#include <jansson.h>

enum wire_outcome {
  WIRE_OK,
  WIRE_CLOSED, /* the other side has ended, or sends nonsense */
  WIRE_TIMEOUT,
  WIRE_TOO_LONG,    /* the value was not sent */
  WIRE_INTERRUPTED, /* SIGINT or SIGTERM, see interrupt.h */
};

enum wire_outcome wire_send(int fd, const json_t *value);

/* Waits at most timeout_ms (negative: for ever) for a whole value. */
enum wire_outcome wire_receive(int fd, int timeout_ms, json_t **ret_value);

#endif
