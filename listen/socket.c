/* SPDX-License-Identifier: MIT
 */
#include "listen/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command/kit.h"

enum { BACKLOG = 1024, FIRST_FD = 3 };

static int32_t refuse_address(const char *text, struct tidings_error *error) {
  return kit_error(error, TIDINGS_E_SCHEMA,
                   "--bind: '%s' is not ADDRESS:PORT, such as 127.0.0.1:8787 or [::1]:8787", text);
}

static int32_t cannot(const char *what, const char *name, struct tidings_error *error) {
  return kit_error(error, TIDINGS_E_STORE, "cannot %s %s: %s", what, name, strerror(errno));
}

static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
  uint32_t number = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
  return number >> 24 == 127;
}

/* Reads "[::1]:80" or "127.0.0.1:80". Only numbers are allowed, so that no name is looked up. */
static int32_t parse_bind(const char *text, struct addrinfo **ret_found,
                          struct tidings_error *error) {
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                 .ai_socktype = SOCK_STREAM};
  char host[64];
  const char *colon = strrchr(text, ':');
  size_t len = colon ? (size_t)(colon - text) : 0;
  bool bracketed = len > 2 && text[0] == '[' && text[len - 1] == ']';
  if (!len || len >= sizeof host || !colon[1] || (!bracketed && memchr(text, ':', len)))
    return refuse_address(text, error);
  (void)snprintf(host, sizeof host, "%.*s", (int)(bracketed ? len - 2 : len),
                 text + (bracketed ? 1 : 0));
  return getaddrinfo(host, colon + 1, &hints, ret_found) ? refuse_address(text, error) : TIDINGS_OK;
}

/* Writes the address of the socket. With port 0 the system has chosen the port. */
static void name_bound(int fd, char name[160]) {
  struct sockaddr_storage bound;
  char host[64] = "?", port[16] = "?";
  socklen_t len = sizeof bound;
  if (!getsockname(fd, (struct sockaddr *)&bound, &len))
    (void)getnameinfo((struct sockaddr *)&bound, len, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
  (void)snprintf(name, 160, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

static int32_t open_tcp(const char *text, bool anywhere, struct listen_socket *socket_,
                        struct tidings_error *error) {
  struct addrinfo *found = NULL;
  int one = 1;
  int32_t code = parse_bind(text, &found, error);
  if (code || !found) return code;
  if (!anywhere && !is_loopback(found->ai_addr))
    code = kit_error(error, TIDINGS_E_SCHEMA,
                     "--bind: %s is not a loopback address; requests there are not encrypted, and "
                     "anybody may send them: say --bind-anywhere too if you want that",
                     text);
  if (!code) {
    socket_->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_->fd >= 0) setsockopt(socket_->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (socket_->fd < 0 || bind(socket_->fd, found->ai_addr, found->ai_addrlen) ||
        listen(socket_->fd, BACKLOG))
      code = cannot("listen on", text, error);
    else name_bound(socket_->fd, socket_->name);
  }
  freeaddrinfo(found);
  return code;
}

/* Is it a socket's file on which nobody listens any more? The type is checked because other files
 * refuse connections too. */
static bool is_left_over(const struct sockaddr_un *address) {
  struct stat info;
  if (lstat(address->sun_path, &info) || !S_ISSOCK(info.st_mode)) return false;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) &&
                 errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return refused;
}

static int32_t open_unix(const char *path, struct listen_socket *socket_,
                         struct tidings_error *error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return kit_error(error, TIDINGS_E_SCHEMA,
                     "--unix: the path has %zu bytes; expected at most %zu", strlen(path),
                     sizeof address.sun_path - 1);
  (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  (void)snprintf(socket_->name, sizeof socket_->name, "%s", path);
  socket_->local = true;
  socket_->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_->fd < 0) return cannot("make the socket", path, error);
  mode_t before = umask(0177);
  int failed = bind(socket_->fd, (const struct sockaddr *)&address, sizeof address);
  if (failed && errno == EADDRINUSE && is_left_over(&address) && !unlink(path))
    failed = bind(socket_->fd, (const struct sockaddr *)&address, sizeof address);
  umask(before);
  if (failed || listen(socket_->fd, BACKLOG)) return cannot("listen on", path, error);
  socket_->path = strdup(path);
  return socket_->path ? TIDINGS_OK : kit_no_memory(error);
}

/* Did systemd hand over exactly one socket to this process? See sd_listen_fds(3). */
static bool was_handed_over(void) {
  const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
  return pid && count && strtol(pid, NULL, 10) == getpid() && strcmp(count, "1") == 0;
}

static int32_t take_handed_over(struct listen_socket *socket_, struct tidings_error *error) {
  struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
  socklen_t len = sizeof bound;
  socket_->fd = FIRST_FD;
  if (fcntl(socket_->fd, F_SETFD, FD_CLOEXEC) ||
      getsockname(socket_->fd, (struct sockaddr *)&bound, &len))
    return cannot("use", "the socket that systemd hands over", error);
  socket_->local = bound.ss_family == AF_UNIX;
  if (socket_->local) (void)snprintf(socket_->name, sizeof socket_->name, "a socket of systemd");
  else name_bound(socket_->fd, socket_->name);
  return TIDINGS_OK;
}

int32_t socket_open(const struct listen_options *options, struct listen_socket *ret_socket,
                    struct tidings_error *error) {
  struct listen_socket opened = {.fd = -1};
  int32_t code = TIDINGS_OK;
  if (options->unix_path) code = open_unix(options->unix_path, &opened, error);
  else if (!options->bind && was_handed_over()) code = take_handed_over(&opened, error);
  else
    code = open_tcp(options->bind ? options->bind : "127.0.0.1:8787", options->bind_anywhere,
                    &opened, error);
  if (code) socket_close(&opened);
  else *ret_socket = opened;
  return code;
}

void socket_remove(struct listen_socket *socket_) {
  if (socket_->path) unlink(socket_->path);
  free(socket_->path);
  socket_->path = NULL;
}

void socket_close(struct listen_socket *socket_) {
  socket_remove(socket_);
  if (socket_->fd >= 0) close(socket_->fd);
  *socket_ = (struct listen_socket){.fd = -1};
}

void socket_notify(const char *state) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
    return;
  size_t len = strlen(path);
  memcpy(address.sun_path, path, len);
  if (path[0] == '@') address.sun_path[0] = '\0';
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
  close(fd);
}
