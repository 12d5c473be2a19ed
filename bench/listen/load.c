/* SPDX-License-Identifier: MIT
 *
 * bench/listen/load.c: sends POST requests over many connections at once, each with a body of its
 * own, and waits for each answer before it sends the next one. Prints one line of JSON: how many
 * were answered with 200, how many otherwise, and how long the answers took.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"

enum { MOST_CONNECTIONS = 256, REQUEST_BYTES = 1024, ANSWER_BYTES = 2048, EVENTS = 64 };

struct connection {
  int fd;
  size_t got;
  uint64_t sent_ns;
  char answer[ANSWER_BYTES];
};

struct load {
  struct sockaddr_in address;
  const char *path, *token;
  int epoll;
  struct connection connections[MOST_CONNECTIONS];
  uint64_t serial, right, wrong;
  uint32_t *took_us;
  size_t took_count, took_capacity;
};

static void give_up(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void send_next(struct load *load, struct connection *connection) {
  char body[128], request[REQUEST_BYTES];
  int length =
      snprintf(body, sizeof body, "{\"message\":\"Build %llu failed.\",\"level\":\"error\"}",
               (unsigned long long)load->serial++);
  int size = snprintf(request, sizeof request,
                      "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                      "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                      load->path, load->token, length, body);
  connection->got = 0;
  connection->sent_ns = clock_mono_ns();
  if (write(connection->fd, request, (size_t)size) != size) give_up("write");
}

static void open_connection(struct load *load, struct connection *connection) {
  int one = 1;
  connection->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connection->fd < 0) give_up("socket");
  if (connect(connection->fd, (const struct sockaddr *)&load->address, sizeof load->address))
    give_up("connect");
  (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event)) give_up("epoll_ctl");
}

/* Is the answer complete? */
static bool is_whole(struct connection *connection) {
  connection->answer[connection->got] = '\0';
  const char *end = strstr(connection->answer, "\r\n\r\n"),
             *length = strcasestr(connection->answer, "content-length:");
  if (!end) return false;
  size_t wanted = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
  return connection->got >= (size_t)(end + 4 - connection->answer) + wanted;
}

static void note_answer(struct load *load, const struct connection *connection) {
  if (load->took_count == load->took_capacity) {
    load->took_capacity = load->took_capacity ? load->took_capacity * 2 : 65536;
    load->took_us = realloc(load->took_us, load->took_capacity * sizeof *load->took_us);
    if (!load->took_us) give_up("realloc");
  }
  load->took_us[load->took_count++] = (uint32_t)((clock_mono_ns() - connection->sent_ns) / 1000);
  if (strncmp(connection->answer, "HTTP/1.1 200", 12) == 0) load->right++;
  else if (!load->wrong++) fprintf(stderr, "load: %.80s\n", connection->answer);
}

/* If the server closes a connection, another one is opened, as in a pool of senders. */
static void take_answer(struct load *load, struct connection *connection, bool more) {
  ssize_t got = read(connection->fd, connection->answer + connection->got,
                     sizeof connection->answer - 1 - connection->got);
  if (got <= 0) {
    close(connection->fd);
    open_connection(load, connection);
    send_next(load, connection);
    return;
  }
  connection->got += (size_t)got;
  if (!is_whole(connection)) return;
  note_answer(load, connection);
  if (more) send_next(load, connection);
}

static int by_value(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static double percentile_ms(const struct load *load, double part) {
  return load->took_count ? load->took_us[(size_t)((double)(load->took_count - 1) * part)] / 1e3
                          : 0;
}

/* PORT PATH TOKEN CONNECTIONS SECONDS FIRST */
int main(int argc, char **argv) {
  static struct load load;
  struct epoll_event events[EVENTS];
  if (argc != 7) return 2;
  size_t count = strtoul(argv[4], NULL, 10);
  if (count > MOST_CONNECTIONS) return 2;
  load.address = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  load.path = argv[2];
  load.token = argv[3];
  load.serial = strtoull(argv[6], NULL, 10);
  load.epoll = epoll_create1(0);
  for (size_t i = 0; i < count; i++) open_connection(&load, &load.connections[i]);
  uint64_t begun = clock_mono_ns(), end = begun + (uint64_t)(strtod(argv[5], NULL) * 1e9),
           now = begun;
  for (size_t i = 0; i < count; i++) send_next(&load, &load.connections[i]);
  for (; now < end; now = clock_mono_ns()) {
    int ready = epoll_wait(load.epoll, events, EVENTS, 100);
    for (int i = 0; i < ready; i++) take_answer(&load, events[i].data.ptr, true);
  }
  qsort(load.took_us, load.took_count, sizeof *load.took_us, by_value);
  printf("{\"per_s\": %.0f, \"wrong\": %llu, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"last\": %llu}\n",
         (double)load.right / ((double)(now - begun) / 1e9), (unsigned long long)load.wrong,
         percentile_ms(&load, 0.5), percentile_ms(&load, 0.99), (unsigned long long)load.serial);
  return 0;
}
