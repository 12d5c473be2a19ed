/* SPDX-License-Identifier: MIT
 *
 * listen/server.h: the HTTP server, by libmicrohttpd. Each connection has a thread, so that
 * simultaneous requests share a commit of the store.
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

/* Sets the routes for the next requests. It takes over one use of them. */
void server_set_routes(struct server *server, struct routes *routes);
struct routes *server_routes(struct server *server); /* adds a use, which routes_drop ends */

/* Ends slow connections. Call it twice a second, and twenty times a second while it returns
 * true. */
bool server_tick(struct server *server);

/* Accepts no more connections, and waits, at most `patience_ms`, until the requests that have begun
 * are answered. */
void server_end(struct server *server, uint32_t patience_ms);

#endif
