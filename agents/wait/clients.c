/* SPDX-License-Identifier: MIT
 *
 * agents/wait/clients.c: finds the processes that are connected to a socket. NETLINK_SOCK_DIAG
 * lists the connections of sockets, and /proc the processes that have a socket. The messages are
 * declared here as in Linux's headers sock_diag.h and unix_diag.h, which a C library may lack.
 */
#include "agents/wait/clients.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { SOCK_DIAG_PROTOCOL = 4, DIAG_BY_FAMILY = 20, REQUEST = 1, DUMP = 0x300 };
enum { MESSAGE_ERROR = 2, MESSAGE_DONE = 3 };
enum { ESTABLISHED = 1, SHOW_NAME = 1, SHOW_PEER = 4, HAS_NAME = 0, HAS_PEER = 2 };
enum { MOST_SOCKETS = 256, ANSWER_MS = 200 };

struct message_head {
  uint32_t len;
  uint16_t type, flags;
  uint32_t sequence, port;
};

struct question {
  struct message_head head;
  uint8_t family, protocol;
  uint16_t padding;
  uint32_t states, inode, show, cookie[2];
};

struct socket_head {
  uint8_t family, type, state, padding;
  uint32_t inode, cookie[2];
};

struct attribute_head {
  uint16_t len, type;
};

struct inodes {
  uint32_t all[MOST_SOCKETS];
  size_t count;
};

static bool has(const struct inodes *inodes, uint32_t inode) {
  for (size_t i = 0; i < inodes->count; i++) {
    if (inodes->all[i] == inode) return true;
  }
  return false;
}

static void add(struct inodes *inodes, uint32_t inode) {
  if (inodes->count < MOST_SOCKETS) inodes->all[inodes->count++] = inode;
}

/* -- whose sockets ----------------------------------------------------------------------------- */

/* Returns the inode of a socket; 0: the descriptor is no socket. */
static uint32_t inode_of(int folder, const char *descriptor) {
  char link[64];
  unsigned long inode = 0;
  ssize_t len = readlinkat(folder, descriptor, link, sizeof link - 1);
  link[len > 0 ? len : 0] = '\0';
  if (strncmp(link, "socket:[", 8) == 0) inode = strtoul(link + 8, NULL, 10);
  return (uint32_t)inode;
}

/* Opens the folder of a process's descriptors. NULL: it has ended, or belongs to another user. */
static DIR *open_descriptors(int proc, const char *pid) {
  char path[32];
  snprintf(path, sizeof path, "%.16s/fd", pid);
  int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (!folder && fd >= 0) close(fd);
  return folder;
}

static void read_sockets(int proc, uint32_t pid, struct inodes *ret_inodes) {
  char name[16];
  snprintf(name, sizeof name, "%u", pid);
  DIR *folder = open_descriptors(proc, name);
  if (!folder) return;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    uint32_t inode = inode_of(dirfd(folder), entry->d_name);
    if (inode) add(ret_inodes, inode);
  }
  closedir(folder);
}

static bool holds_any(int proc, const char *pid, const struct inodes *wanted) {
  bool found = false;
  DIR *folder = open_descriptors(proc, pid);
  for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    uint32_t inode = inode_of(dirfd(folder), entry->d_name);
    found = inode && has(wanted, inode);
  }
  if (folder) closedir(folder);
  return found;
}

static int find_holders(int proc, const struct inodes *wanted, uint32_t *pids, size_t most) {
  int listed = dup(proc);
  DIR *all = listed < 0 ? NULL : fdopendir(listed);
  size_t count = 0;
  if (!all && listed >= 0) close(listed);
  if (!all) return -1;
  for (const struct dirent *entry; count < most && (entry = readdir(all));) {
    if (isdigit((unsigned char)entry->d_name[0]) && holds_any(proc, entry->d_name, wanted))
      pids[count++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
  }
  closedir(all);
  return (int)count;
}

/* -- which is connected to which --------------------------------------------------------------- */

/* Returns the peer of a connection that a socket of `own` has accepted: such a socket has the
 * listening socket's name. 0: this is no such connection. */
static uint32_t peer_in(const char *body, size_t len, const struct inodes *own) {
  struct socket_head socket;
  struct attribute_head attribute;
  uint32_t peer = 0;
  bool named = false;
  if (len < sizeof socket) return 0;
  memcpy(&socket, body, sizeof socket);
  for (size_t at = sizeof socket; at + sizeof attribute <= len;) {
    memcpy(&attribute, body + at, sizeof attribute);
    if (attribute.len < sizeof attribute || attribute.len > len - at) break;
    named = named || attribute.type == HAS_NAME;
    if (attribute.type == HAS_PEER && attribute.len >= sizeof attribute + sizeof peer)
      memcpy(&peer, body + at + sizeof attribute, sizeof peer);
    at += (attribute.len + 3u) & ~3u;
  }
  return named && has(own, socket.inode) && !has(own, peer) ? peer : 0;
}

/* Reads an answer. Returns whether more follow; *ret_failed: the kernel refused. */
static bool take_answer(const char *answer, size_t len, const struct inodes *own,
                        struct inodes *peers, bool *ret_failed) {
  struct message_head head;
  for (size_t at = 0; at + sizeof head <= len;) {
    memcpy(&head, answer + at, sizeof head);
    if (head.len < sizeof head || head.len > len - at) return false;
    if (head.type == MESSAGE_ERROR) *ret_failed = true;
    if (head.type == MESSAGE_ERROR || head.type == MESSAGE_DONE) return false;
    uint32_t peer = peer_in(answer + at + sizeof head, head.len - sizeof head, own);
    if (peer) add(peers, peer);
    at += (head.len + 3u) & ~3u;
  }
  return true;
}

/* Asks the kernel for the peers. Returns 0; or -1: the kernel does not answer. */
static int ask_peers(const struct inodes *own, struct inodes *ret_peers) {
  const struct question question = {.head = {.len = sizeof question,
                                             .type = DIAG_BY_FAMILY,
                                             .flags = REQUEST | DUMP,
                                             .sequence = 1},
                                    .family = AF_UNIX,
                                    .states = 1u << ESTABLISHED,
                                    .show = SHOW_NAME | SHOW_PEER};
  const struct timeval patience = {.tv_usec = ANSWER_MS * 1000L};
  static char answer[32768];
  bool failed = false, more = true;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, SOCK_DIAG_PROTOCOL);
  if (fd < 0) return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  failed = send(fd, &question, sizeof question, 0) != (ssize_t)sizeof question;
  while (!failed && more) {
    ssize_t got = recv(fd, answer, sizeof answer, 0);
    failed = got <= 0;
    if (!failed) more = take_answer(answer, (size_t)got, own, ret_peers, &failed);
  }
  close(fd);
  return failed ? -1 : 0;
}

int hook_clients(uint32_t daemon, uint32_t *pids, size_t most) {
  struct inodes own = {.count = 0}, peers = {.count = 0};
  int count = -1, proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return -1;
  read_sockets(proc, daemon, &own);
  if (own.count && !ask_peers(&own, &peers)) count = peers.count ? 0 : -1;
  if (!count) count = find_holders(proc, &peers, pids, most);
  close(proc);
  return count;
}
