/* SPDX-License-Identifier: MIT
 *
 * bench/listen/floor.c: libmicrohttpd alone, with the flags of tidings-listen: it reads a body and
 * answers 200. No server on it can do more.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 256, STACK_BYTES = 512 << 10 };

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request) {
  static char body[] = "{}\n", seen;
  (void)context, (void)url, (void)method, (void)version, (void)upload;
  if (!*request) {
    *request = &seen;
    return MHD_YES;
  }
  if (*upload_size) {
    *upload_size = 0;
    return MHD_YES;
  }
  struct MHD_Response *response =
      MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
  enum MHD_Result queued = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return queued;
}

int main(int argc, char **argv) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  sigset_t signals;
  int number = 0;
  if (argc == 2) address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC,
      0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)CONNECTIONS, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_END);
  if (!daemon) return 1;
  puts("ready");
  fflush(stdout);
  (void)sigwait(&signals, &number);
  MHD_stop_daemon(daemon);
  return 0;
}
