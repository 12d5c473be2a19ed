/* SPDX-License-Identifier: MIT
 *
 * listen/socket.h: the socket on which the server listens, and the messages to systemd.
 */
#ifndef LISTEN_SOCKET_H
#define LISTEN_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "listen/options.h"

struct listen_socket {
  int fd;
  bool local; /* it is a Unix socket: its peers have no address, and no browser reaches it */
  char name[160];
  char *path; /* the path of a Unix socket that this process made; owned; NULL: none */
};

/* Opens the socket of the options, or else takes the socket that systemd hands over, or else opens
 * the default address. Errors: SCHEMA (the address), STORE (the system refuses). */
int32_t socket_open(const struct listen_options *options, struct listen_socket *ret_socket,
                    struct tidings_error *error);
/* Removes the file of a Unix socket. Call it while the server still listens: later the file may
 * belong to the next server. */
void socket_remove(struct listen_socket *socket);
void socket_close(struct listen_socket *socket);

/* Tells systemd "READY=1" or the like; does nothing without systemd. */
void socket_notify(const char *state);

#endif
