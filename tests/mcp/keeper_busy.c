/* SPDX-License-Identifier: MIT
 *
 * tests/mcp/keeper_busy.c: messages pass in both directions while the wrapper has to wait for the
 * store, to open a session and to settle a delivery. The linker replaces those two calls by the
 * functions below, which return only after the messages have passed. So a wrapper that waits for
 * them never ends, and an alarm kills it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/news.h"
#include "mcp/wrap.h"

enum { DEADLINE_S = 120 };

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      dprintf(report, "not ok - %s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int report; /* the stdout of the test; descriptor 1 belongs to the wrapper */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool opens, settles, passed;

static void wait_for_messages(bool *begun) {
  pthread_mutex_lock(&lock);
  *begun = true;
  pthread_cond_broadcast(&changed);
  while (!passed) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void __wrap_mcp_news_open(struct mcp_news *news, const char *named);
void __wrap_mcp_news_open(struct mcp_news *news, const char *named) {
  (void)news;
  (void)named;
  wait_for_messages(&opens);
}

void __wrap_mcp_news_settle(struct mcp_news *news);
void __wrap_mcp_news_settle(struct mcp_news *news) {
  (void)news;
  wait_for_messages(&settles);
}

/* Answers as if a delivery had been read. */
bool __wrap_mcp_news_is_to_settle(struct mcp_news *news);
bool __wrap_mcp_news_is_to_settle(struct mcp_news *news) {
  (void)news;
  return true;
}

static void *wrap(void *context) {
  static char program[] = "cat", *argv[] = {program, NULL};
  static const struct cli_program own = {.name = "test"};
  const struct cli cli = {.program = &own};
  (void)context;
  MUST(mcp_wrap(&cli, "echo", argv) == 0);
  return NULL;
}

/* The server answers with the same line. */
static void exchange(int host, int server, const char *line) {
  char got[256] = "";
  size_t len = 0;
  MUST(write(host, line, strlen(line)) == (ssize_t)strlen(line));
  while (len < strlen(line)) {
    ssize_t more = read(server, got + len, sizeof got - 1 - len);
    MUST(more > 0);
    len += (size_t)more;
  }
  MUST(strcmp(got, line) == 0);
}

static void wait_until(const bool *begun) {
  pthread_mutex_lock(&lock);
  while (!*begun) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  int in[2], out[2];
  pthread_t thread;
  report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  (void)alarm(DEADLINE_S);
  MUST(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  MUST(dup2(in[0], STDIN_FILENO) == STDIN_FILENO && dup2(out[1], STDOUT_FILENO) == STDOUT_FILENO);
  MUST(pthread_create(&thread, NULL, wrap, NULL) == 0);
  exchange(in[1], out[0], "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n");
  wait_until(&settles);
  exchange(in[1], out[0], "{\"id\":2,\"method\":\"ping\"}\n");
  pthread_mutex_lock(&lock);
  passed = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  wait_until(&opens);
  close(in[1]);
  MUST(pthread_join(thread, NULL) == 0);
  dprintf(report, "ok 1 - messages go on while the store keeps the wrapper waiting\n1..1\n");
  return 0;
}
