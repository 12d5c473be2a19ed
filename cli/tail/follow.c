/* SPDX-License-Identifier: MIT
 *
 * tail/follow.c: see the header.
 */
#include "cli/tail/follow.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "command/interrupt.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/store_url.h"

enum { LOOKS = 3, BLIND_MS = 1000 };

static int watch_file(const struct cli *cli, const char *store, struct follow *follow) {
  char *file = paths_join(store, "data.mdb");
  int code = 0;
  follow->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (!file) code = cli_fail(cli, "out of memory");
  else if (follow->fd >= 0 &&
           inotify_add_watch(follow->fd, file, IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) < 0) {
    close(follow->fd);
    follow->fd = -1; /* no watch is left: it is looked at like a database */
  }
  free(file);
  return code;
}

int follow_begin(const struct cli *cli, struct follow *ret_follow) {
  struct follow follow = {.fd = -1};
  char *store = kit_store_path(cli);
  int code = store ? 0 : cli_fail(cli, "there is no store");
  if (!code && !store_url_is(store)) code = watch_file(cli, store, &follow);
  free(store);
  if (code) return code;
  interrupt_begin();
  *ret_follow = follow;
  return 0;
}

/* How long until the next look; -1: for ever. */
static int next_look_ms(const struct follow *follow) {
  static const int distances[LOOKS] = {20, 200, 2000};
  if (follow->fd < 0) return BLIND_MS;
  return follow->looks < LOOKS ? distances[follow->looks] : -1;
}

int follow_sleep(const struct cli *cli, struct follow *follow, int input, int most_ms,
                 bool *ret_over) {
  struct pollfd fds[] = {{.fd = follow->fd, .events = POLLIN}, {.fd = input, .events = POLLIN}};
  char events[4096];
  int next_ms = next_look_ms(follow);
  bool sooner = most_ms >= 0 && (next_ms < 0 || most_ms < next_ms);
  int ready = interrupt_poll(fds, 2, sooner ? most_ms : next_ms);
  *ret_over = interrupt_seen() != 0;
  if (ready < 0 && errno != EINTR) return cli_fail(cli, "cannot wait: %s", strerror(errno));
  if (ready == 0 && !sooner) follow->looks++;
  if (ready > 0 && fds[0].revents) {
    while (read(follow->fd, events, sizeof events) > 0) continue;
    follow->looks = 0;
  }
  return 0;
}

void follow_end(struct follow *follow) {
  if (follow->fd >= 0) close(follow->fd);
  follow->fd = -1;
}
