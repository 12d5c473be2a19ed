/* SPDX-License-Identifier: MIT
 *
 * listen/server.h: the HTTP server, on libmicrohttpd: one thread a connection, so that requests
 * that come at the same time share a commit of the store.
 */
#ifndef LISTEN_SERVER_H
#define LISTEN_SERVER_H

#include "listen/routes.h"
#include "listen/socket.h"
#include "listen/take.h"

struct server;

/* Takes the socket's descriptor over, and one use of the routes. Errors: STORE, NOMEM. */
int32_t server_begin(const struct take_place *place, struct routes *routes,
                     struct listen_socket *socket, struct server **ret_server,
                     struct tidings_error *error);

/* From the next request on. Takes one use over. */
void server_set_routes(struct server *server, struct routes *routes);
struct routes *server_routes(struct server *server); /* one use: routes_drop */

/* To be called twice a second, and twenty times while it returns true: ends the connections that
 * are too slow. */
bool server_tick(struct server *server);

/* Accepts nothing more, and waits until what has begun is answered, at most so long. */
void server_end(struct server *server, uint32_t patience_ms);

#endif
