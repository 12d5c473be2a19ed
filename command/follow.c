/* SPDX-License-Identifier: MIT
 */
#include "command/follow.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "command/interrupt.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/store_url.h"

enum { LOOKS = 3, BLIND_MS = 1000 };

/* If the folder is moved, the kernel reports nothing about the file in it. */
static int watch_file(const struct cli *cli, const char *store, struct follow *follow) {
  char *file = paths_join(store, "data.mdb");
  int code = 0;
  follow->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (!file) code = cli_fail(cli, "out of memory");
  else if (follow->fd >= 0 &&
           inotify_add_watch(follow->fd, file, IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) < 0) {
    close(follow->fd);
    follow->fd = -1; /* no watch is left: the store is looked at like a database */
  }
  if (!code && follow->fd >= 0)
    (void)inotify_add_watch(follow->fd, store, IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
  free(file);
  return code;
}

int follow_begin(const struct cli *cli, struct follow *ret_follow) {
  struct follow follow = {.cli = cli, .fd = -1};
  char *store = kit_store_path(cli);
  kit_note_place(cli, &follow.place);
  int code = store ? 0 : cli_fail(cli, "there is no store");
  if (!code && !store_url_is(store)) code = watch_file(cli, store, &follow);
  free(store);
  if (code) return code;
  interrupt_begin();
  follow_look_again(&follow);
  *ret_follow = follow;
  return 0;
}

/* Plans the next look, after the one that was due. */
static void plan_next_look(struct follow *follow, int64_t now_ms) {
  static const int distances[LOOKS] = {20, 200, 2000};
  follow->looked_at_ms = now_ms;
  if (follow->fd < 0) follow->look_at_ms = now_ms + BLIND_MS;
  else follow->look_at_ms = follow->looks < LOOKS ? now_ms + distances[follow->looks++] : -1;
}

void follow_look_again(struct follow *follow) {
  follow->looks = 0;
  follow->look_at_ms = clock_mono_ms();
}

/* The earliest time of the next look, whatever is written. */
static int64_t free_ms(const struct follow *follow) {
  return follow->looked_at_ms + follow->pace_ms;
}

/* The earlier of two times or durations; -1 is none. */
static int64_t earlier(int64_t a, int64_t b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

static int64_t sleep_ms(const struct follow *follow, bool paused, int64_t most_ms) {
  if (interrupt_seen()) return 0; /* the signal came during another poll */
  int64_t until_ms = paused ? free_ms(follow) : follow->look_at_ms;
  int64_t ms = earlier(most_ms, until_ms < 0 ? -1 : clock_ms_until(until_ms));
  return ms > INT_MAX ? INT_MAX : ms;
}

static bool is_gone(const struct follow *follow) {
  struct kit_place now;
  kit_note_place(follow->cli, &now);
  return !kit_place_equal(&now, &follow->place);
}

/* Returns FOLLOW_GONE, or 0. */
static unsigned take_writes(struct follow *follow) {
  _Alignas(struct inotify_event) char events[4096];
  bool moved = false;
  for (ssize_t got; (got = read(follow->fd, events, sizeof events)) > 0;) {
    for (size_t at = 0; at < (size_t)got;) {
      const struct inotify_event *event = (const void *)(events + at);
      moved = moved || event->mask & (IN_MOVE_SELF | IN_DELETE_SELF);
      at += sizeof *event + event->len;
    }
  }
  follow_look_again(follow);
  return moved && is_gone(follow) ? FOLLOW_GONE : 0;
}

int follow_sleep(struct follow *follow, int input, int64_t most_ms, unsigned *ret_woke) {
  /* Until the next look is allowed, writes do not wake. */
  bool paused = clock_mono_ms() < free_ms(follow);
  struct pollfd fds[] = {{.fd = paused ? -1 : follow->fd, .events = POLLIN},
                         {.fd = input, .events = POLLIN}};
  unsigned woke = 0;
  int ready = interrupt_poll(fds, 2, (int)sleep_ms(follow, paused, most_ms));
  if (ready < 0 && errno != EINTR) return errno;
  if (interrupt_seen()) woke |= FOLLOW_OVER;
  if (ready > 0 && fds[0].revents) woke |= take_writes(follow);
  if (ready > 0 && fds[1].revents) woke |= FOLLOW_INPUT;
  int64_t now_ms = clock_mono_ms();
  if (follow->look_at_ms >= 0 && now_ms >= follow->look_at_ms && now_ms >= free_ms(follow)) {
    plan_next_look(follow, now_ms);
    woke |= FOLLOW_LOOK;
  }
  *ret_woke = woke;
  return 0;
}

void follow_end(struct follow *follow) {
  if (follow->fd >= 0) close(follow->fd);
  follow->fd = -1;
}

int follow_say_gone(const struct follow *follow) {
  char *store = kit_store_path(follow->cli);
  int code = cli_fail(follow->cli, "the store %s was moved away or removed", store ? store : "");
  free(store);
  return code;
}
