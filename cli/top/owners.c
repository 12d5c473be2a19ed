/* SPDX-License-Identifier: MIT
 */
#include "cli/top/owners.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command/json_value.h"

/* Adds a descriptor. Level-triggered for keys, because unread keys must be reported again;
 * edge-triggered for ends, which are reported once. */
static int add(const struct owners *owners, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data = {.fd = fd}};
  return epoll_ctl(owners->fd, EPOLL_CTL_ADD, fd, &event) ? errno : 0;
}

int owners_begin(int input, struct owners *ret_owners) {
  struct owners owners = {.fd = epoll_create1(EPOLL_CLOEXEC)};
  if (owners.fd < 0) return errno;
  int code = add(&owners, input, EPOLLIN);
  if (code) close(owners.fd);
  else *ret_owners = owners;
  return code;
}

static bool is_owner(const json_t *session, uint32_t pid) {
  return json_is_true(json_object_get(session, "alive")) &&
         !json_value_text(session, "machine")[0] && json_value_count(session, "pid") == pid;
}

static void forget_others(struct owners *owners, const json_t *sessions) {
  size_t kept = 0;
  for (size_t i = 0; i < owners->count; i++) {
    const json_t *session = NULL;
    size_t j = 0;
    bool found = false;
    json_array_foreach(sessions, j, session) found |= is_owner(session, owners->watched[i].pid);
    if (found) owners->watched[kept++] = owners->watched[i];
    else close(owners->watched[i].fd);
  }
  owners->count = kept;
}

static void watch_owner(struct owners *owners, uint32_t pid) {
  for (size_t i = 0; i < owners->count; i++)
    if (owners->watched[i].pid == pid) return;
  if (owners->count == OWNERS_MOST) return;
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return;
  if (add(owners, fd, EPOLLIN | EPOLLET)) close(fd);
  else owners->watched[owners->count++] = (struct owner_watch){.pid = pid, .fd = fd};
}

void owners_watch(struct owners *owners, const json_t *sessions) {
  const json_t *session = NULL;
  size_t i = 0;
  forget_others(owners, sessions);
  json_array_foreach(sessions, i, session) {
    uint32_t pid = (uint32_t)json_value_count(session, "pid");
    if (is_owner(session, pid)) watch_owner(owners, pid);
  }
}

bool owners_ended(struct owners *owners) {
  struct epoll_event events[OWNERS_MOST + 1];
  bool ended = false;
  int count = epoll_wait(owners->fd, events, OWNERS_MOST + 1, 0);
  for (int i = 0; i < count; i++)
    for (size_t j = 0; j < owners->count; j++) ended |= events[i].data.fd == owners->watched[j].fd;
  return ended;
}

void owners_finish(struct owners *owners) {
  for (size_t i = 0; i < owners->count; i++) close(owners->watched[i].fd);
  if (owners->fd >= 0) close(owners->fd);
  *owners = (struct owners){.fd = -1};
}
