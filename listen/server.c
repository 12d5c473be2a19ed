/* SPDX-License-Identifier: MIT
 */
#include "listen/server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "listen/http_headers.h"
#include "listen/http_request.h"
#include "listen/peers.h"

enum { STACK_BYTES = 512 << 10, POOL_BYTES = 32 << 10, POLL_MS = 20 };

struct server {
  struct MHD_Daemon *daemon;
  struct peers *peers;
  struct http_context context;
  pthread_mutex_t mutex; /* guards context.routes */
  int fd;
};

struct routes *server_routes(struct server *server) {
  pthread_mutex_lock(&server->mutex);
  struct routes *routes = routes_use(server->context.routes);
  pthread_mutex_unlock(&server->mutex);
  return routes;
}

void server_set_routes(struct server *server, struct routes *routes) {
  pthread_mutex_lock(&server->mutex);
  struct routes *before = server->context.routes;
  server->context.routes = routes;
  pthread_mutex_unlock(&server->mutex);
  routes_drop(before);
}

/* -- what the library calls -------------------------------------------------------------------- */

static enum MHD_Result admit(void *context, const struct sockaddr *address, socklen_t len) {
  struct server *server = context;
  (void)len;
  return peers_admit(server->peers, address) ? MHD_YES : MHD_NO;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
  struct server *server = context;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    if (*socket_context) peers_remove(server->peers, *socket_context);
    *socket_context = NULL;
    return;
  }
  /* Copy it now: libmicrohttpd 1.0 writes each answer over the one before. */
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  const bool has_fd = info != NULL;
  const int fd = has_fd ? info->connect_fd : -1;
  info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  *socket_context = has_fd ? peers_add(server->peers, fd, info ? info->client_addr : NULL) : NULL;
}

static struct peer *peer_of(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static void enter(struct server *server, struct MHD_Connection *connection, enum peer_phase phase) {
  struct peer *peer = peer_of(connection);
  if (peer) peers_enter(server->peers, peer, phase);
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *upload, size_t *upload_size,
                                      void **request_context) {
  struct server *server = context;
  struct http_request *request = *request_context;
  (void)version;
  if (!request) {
    struct routes *routes = server_routes(server);
    request = http_begin(&server->context, routes, connection, url, method);
    if (!request) routes_drop(routes);
    if (!request) return MHD_NO;
    *request_context = request;
    bool at_once = http_answers_at_once(request);
    enter(server, connection, at_once ? PEER_ANSWERS : PEER_READS_BODY);
    return at_once ? http_answer(request) : MHD_YES;
  }
  if (*upload_size) {
    struct peer *peer = peer_of(connection);
    if (peer) peers_hear(server->peers, peer);
    http_add(request, upload, *upload_size);
    *upload_size = 0;
    return MHD_YES;
  }
  enter(server, connection, PEER_ANSWERS);
  return http_answer(request);
}

static void complete(void *context, struct MHD_Connection *connection, void **request_context,
                     enum MHD_RequestTerminationCode code) {
  struct server *server = context;
  (void)code;
  if (*request_context) http_free(*request_context);
  *request_context = NULL;
  enter(server, connection, PEER_WAITS);
}

/* The library calls this after the first line of a request. */
static void *note_first_line(void *context, const char *url, struct MHD_Connection *connection) {
  (void)url;
  enter(context, connection, PEER_READS_HEAD);
  return NULL;
}

static size_t unescape(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return http_headers_decode(text);
}

/* Keeps the library from printing the mistakes of peers. */
static void say_nothing(void *context, const char *format, va_list arguments) {
  (void)context;
  (void)format;
  (void)arguments;
}

/* -- begin and end ----------------------------------------------------------------------------- */

/* The library closes a silent connection without an answer, so it waits for longer than
 * peers_end_slow, which answers 408. */
static struct MHD_Daemon *start(struct server *server) {
  enum { SILENT_S = PEERS_BODY_MS / 1000 + 5 };
  return MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
          MHD_USE_ERROR_LOG,
      0, admit, server, handle_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
      MHD_OPTION_LISTEN_SOCKET, server->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)PEERS_MOST,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)POOL_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
      MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_URI_LOG_CALLBACK,
      note_first_line, server, MHD_OPTION_NOTIFY_COMPLETED, complete, server, MHD_OPTION_END);
}

int32_t server_begin(const struct take_place *place, struct routes *routes,
                     struct listen_socket *socket, struct server **ret_server,
                     struct tidings_error *error) {
  struct server *server = calloc(1, sizeof *server);
  if (!server) return kit_no_memory(error);
  (void)pthread_mutex_init(&server->mutex, NULL);
  server->context =
      (struct http_context){.place = *place, .routes = routes, .local = socket->local};
  server->fd = socket->fd;
  server->peers = peers_make();
  server->daemon = server->peers ? start(server) : NULL;
  if (!server->daemon) {
    peers_free(server->peers);
    free(server);
    return kit_error(error, TIDINGS_E_STORE, "cannot start the server on %s", socket->name);
  }
  socket->fd = -1;
  *ret_server = server;
  return TIDINGS_OK;
}

bool server_tick(struct server *server) {
  bool crowd;
  unsigned slow = peers_end_slow(server->peers, clock_mono_ms(), &crowd);
  struct routes *routes = server_routes(server);
  for (; slow; slow--) counts_refused(&routes->elsewhere, 408);
  routes_drop(routes);
  return crowd;
}

void server_end(struct server *server, uint32_t patience_ms) {
  int64_t end_ms = clock_mono_ms() + patience_ms;
  int fd = MHD_quiesce_daemon(server->daemon);
  if (fd != MHD_INVALID_SOCKET) close(fd); /* otherwise peers would wait in its queue */
  atomic_store(&server->context.stopping, true);
  while (peers_answering(server->peers) && clock_mono_ms() < end_ms) {
    (void)server_tick(server);
    clock_sleep_ms(POLL_MS);
  }
  MHD_stop_daemon(server->daemon);
  routes_drop(server->context.routes);
  peers_free(server->peers);
  pthread_mutex_destroy(&server->mutex);
  free(server);
}
