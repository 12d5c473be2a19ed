/* SPDX-License-Identifier: MIT
 *
 * store/db/owner.c: tells processes apart. A pid alone may be reused; a pid with its boot, PID
 * namespace and start time is not. File locks would not do: an OFD lock lives on in a forked child
 * of a dead host, and during a hot swap a living host holds none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/owner.h"

/* 0, or errno. */
static int read_file(const char *path, char *buffer, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  ssize_t len = read(fd, buffer, size - 1);
  int err = len < 0 ? errno : len == 0 ? EIO : 0;
  close(fd);
  if (!err) buffer[len] = '\0';
  return err;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static const char boot_id_file[] = "/proc/sys/kernel/random/boot_id",
                  pid_namespace_file[] = "/proc/self/ns/pid";

/* Reads the boot id once, because it stays the same while this process lives. */
static int read_boot_id(uint8_t ret_id[16]) {
  static _Atomic uint64_t known[2]; /* 0: not yet */
  char text[64] = "";
  uint64_t halves[2] = {atomic_load(&known[0]), atomic_load(&known[1])};
  if (halves[0] && halves[1]) {
    memcpy(ret_id, halves, sizeof halves);
    return 0;
  }
  if (read_file(boot_id_file, text, sizeof text)) return -1;
  size_t digits = 0;
  for (const char *c = text; *c && digits < 32; c++) {
    int digit = hex_digit(*c);
    if (digit < 0) continue;
    if (digits % 2 == 0) ret_id[digits / 2] = (uint8_t)(digit << 4);
    else ret_id[digits / 2] |= (uint8_t)digit;
    digits++;
  }
  if (digits != 32) return -1;
  memcpy(halves, ret_id, sizeof halves);
  atomic_store(&known[0], halves[0]);
  atomic_store(&known[1], halves[1]);
  return 0;
}

/* Reads whether a process is over, and when it started. It reads the stat of the main thread:
 * fields 3 (state), 20 (threads) and 22 (start), counted after the command, which may have spaces
 * and parentheses. A main thread that has ended is a zombie while other threads run: then the
 * process is not over. The stat of the process itself is not read, because qemu makes it up for a
 * program that it runs. Returns 0 or errno: ENOENT or ESRCH if there is no such process. */
static int read_process(uint32_t pid, bool *ret_over, uint64_t *ret_start_time) {
  char path[64], text[1024];
  (void)snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, pid);
  int err = read_file(path, text, sizeof text);
  if (err) return err;
  const char *at = strrchr(text, ')');
  if (!at || at[1] != ' ' || !at[2]) return EIO;
  bool ended = at[2] == 'Z' || at[2] == 'X';
  at += 2;
  for (int field = 3; field < 22; field++) {
    if (field == 20 && strtoul(at, NULL, 10) > 1) ended = false;
    at = strchr(at, ' ');
    if (!at) return EIO;
    at++;
  }
  *ret_over = ended;
  *ret_start_time = strtoull(at, NULL, 10);
  return 0;
}

bool owner_proc_is_ours(void) {
  char text[32];
  ssize_t len = readlink("/proc/self", text, sizeof text - 1);
  if (len <= 0) return false;
  text[len] = '\0';
  return strtoul(text, NULL, 10) == (unsigned long)getpid();
}

int owner_of_process(uint32_t pid, struct owner *ret_owner) {
  struct owner owner = {.pid = pid ? pid : (uint32_t)getpid()};
  struct stat space;
  bool over;
  if (read_boot_id(owner.boot_id)) return -1;
  if (stat(pid_namespace_file, &space)) return -1;
  owner.pid_namespace = space.st_ino;
  if (read_process(owner.pid, &over, &owner.start_time)) return -1;
  *ret_owner = owner;
  return 0;
}

void owner_reason(uint32_t pid, char ret_text[OWNER_REASON_BYTES]) {
  const char *file = access(boot_id_file, R_OK)         ? boot_id_file
                     : access(pid_namespace_file, F_OK) ? pid_namespace_file
                                                        : NULL;
  if (file)
    (void)snprintf(ret_text, OWNER_REASON_BYTES,
                   "%s cannot be read (%s): mount the whole of /proc, without subset=pid", file,
                   strerror(errno));
  else
    (void)snprintf(ret_text, OWNER_REASON_BYTES,
                   "there is no process %u, or /proc hides it (hidepid)", pid);
}

bool owner_equal(const struct owner *a, const struct owner *b) {
  return a->pid == b->pid && a->start_time == b->start_time &&
         a->pid_namespace == b->pid_namespace &&
         memcmp(a->boot_id, b->boot_id, sizeof a->boot_id) == 0;
}

/* A process that cannot be examined (no descriptor left, no memory) counts as alive. If it lived
 * and counted as dead, its notifications would be shown twice. */
bool owner_alive(const struct owner *owner) {
  uint8_t boot_id[16];
  uint64_t start_time;
  bool over;
  struct stat space;
  if (!owner->pid) return false;
  if (read_boot_id(boot_id)) return true;
  if (memcmp(boot_id, owner->boot_id, sizeof boot_id) != 0) return false;
  if (stat(pid_namespace_file, &space)) return true;
  /* A store is never open in two namespaces at once, so an owner in another namespace is dead. */
  if (space.st_ino != owner->pid_namespace) return false;
  int err = read_process(owner->pid, &over, &start_time);
  if (err) return err != ENOENT && err != ESRCH;
  return start_time == owner->start_time && !over;
}

void owner_machine(const struct owner *owner, char ret_name[OWNER_MACHINE_BYTES]) {
  const uint64_t first_namespace = 0xEFFFFFFC; /* the kernel's PROC_PID_INIT_INO */
  const uint8_t *id = owner->boot_id;
  int len = snprintf(ret_name, OWNER_MACHINE_BYTES, "%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
  if (owner->pid_namespace != first_namespace)
    (void)snprintf(ret_name + len, OWNER_MACHINE_BYTES - (size_t)len, "/%llu",
                   (unsigned long long)owner->pid_namespace);
}
