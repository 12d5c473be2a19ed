/* SPDX-License-Identifier: MIT
 *
 * agents/wait/tasks.c: a process holds the lock for some milliseconds. If a lock is older than two
 * seconds, its process was probably killed, and both Qwen Code and this module take it over. A
 * process that was only suspended then finds its lock gone. It has read an old file, so it writes
 * nothing and begins again.
 */
#include "agents/wait/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/interrupt.h"
#include "command/json_value.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/span.h"

enum { LARGEST_FILE = 16 << 20, RETRY_MS = 15, PATIENCE_MS = 3000, STALE_MS = 2000, TRIES = 5 };
enum { LEFT_MS = 60000 }; /* no process waits so long for one task */

/* -- the lock ---------------------------------------------------------------------------------- */

static bool is_stale(const char *lock) {
  struct stat found;
  if (stat(lock, &found)) return false;
  int64_t changed_ms = (int64_t)found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000;
  return clock_wall_ms() - changed_ms > STALE_MS;
}

/* Removes a stale lock. If another process has just done so and locked the file, puts its new lock
 * back. */
static void take_away(const char *lock) {
  char *away = NULL;
  if (asprintf(&away, "%s.stale.%d", lock, (int)getpid()) < 0) return;
  if (!rename(lock, away)) {
    if (!is_stale(away)) (void)!link(away, lock);
    (void)unlink(away);
  }
  free(away);
}

/* The descriptor stays open while the lock is held, so that no other file gets its inode number. */
struct lock {
  char *path;
  int fd;
};

/* Does this process still hold the lock? */
static bool is_held(const struct lock *lock) {
  struct stat named, held;
  return !lstat(lock->path, &named) && !fstat(lock->fd, &held) && named.st_dev == held.st_dev &&
         named.st_ino == held.st_ino;
}

static void unlock_file(const struct lock *lock) {
  if (is_held(lock)) (void)unlink(lock->path);
  close(lock->fd);
}

static int lock_file(struct lock *lock) {
  char pid[16];
  int len = snprintf(pid, sizeof pid, "%d", (int)getpid());
  for (int64_t until_ms = clock_mono_ms() + PATIENCE_MS;;) {
    lock->fd = open(lock->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock->fd >= 0) {
      (void)!write(lock->fd, pid, (size_t)len);
      return 0;
    }
    if (errno != EEXIST) return errno;
    if (clock_mono_ms() > until_ms) return EBUSY;
    if (is_stale(lock->path)) take_away(lock->path);
    else (void)interrupt_poll(NULL, 0, RETRY_MS);
  }
}

/* -- the file ---------------------------------------------------------------------------------- */

/* A missing file has no tasks. */
static int read_tasks(const char *path, json_t **ret_tasks) {
  static const struct json_rules rules = {.max_depth = 64, .nul = true, .repeats = true};
  struct tidings_error error = {.size = sizeof error};
  char *text = NULL;
  size_t len = 0;
  json_t *tasks = NULL;
  int reason = file_read_whole(path, LARGEST_FILE, &text, &len);
  if (reason == ENOENT) tasks = json_array();
  else if (!reason && json_value_read(&rules, span_of(text, len), path, &tasks, &error))
    reason = EBADMSG;
  free(text);
  if (reason && reason != ENOENT) return reason;
  if (!tasks) return ENOMEM;
  if (!json_is_array(tasks)) {
    json_decref(tasks);
    return EBADMSG;
  }
  *ret_tasks = tasks;
  return 0;
}

static int write_synced(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int reason = fd < 0 ? errno : file_write_all(fd, text, strlen(text));
  if (!reason && fsync(fd)) reason = errno;
  if (fd >= 0 && close(fd) && !reason) reason = errno;
  return reason;
}

/* ESTALE: another process has taken the lock over, and may have written meanwhile. */
static int write_tasks(const char *path, const struct lock *lock, const json_t *tasks) {
  char *text = json_dumps(tasks, JSON_INDENT(2)), *fresh = NULL;
  if (asprintf(&fresh, "%s.%d.tmp", path, (int)getpid()) < 0) fresh = NULL;
  int reason = text && fresh ? write_synced(fresh, text) : ENOMEM;
  if (!reason && !is_held(lock)) reason = ESTALE;
  if (!reason && rename(fresh, path)) reason = errno;
  if (reason && fresh) (void)unlink(fresh);
  free(fresh);
  free(text);
  return reason;
}

/* Returns the index of a task; the array's size if there is none. */
static size_t find_task(const json_t *tasks, const char *id) {
  size_t i = 0;
  while (i < json_array_size(tasks) &&
         strcmp(json_value_text(json_array_get(tasks, i), "id"), id) != 0)
    i++;
  return i;
}

static bool is_alike(const json_t *one, const json_t *other, const char *member) {
  return strcmp(json_value_text(one, member), json_value_text(other, member)) == 0;
}

static const char our_ids[] = "tidings-";

/* Is it a task of tidings? A person's task has an id that the agent has chosen. */
static bool is_of_tidings(const json_t *task) {
  return strncmp(json_value_text(task, "id"), our_ids, sizeof our_ids - 1) == 0;
}

/* Was its process probably killed? The time in the id "tidings-PID-TIME-PROOF" decides. The pid
 * cannot, because another process may have it now, or this process may not see it. A process that
 * was only suspended tries again. */
static bool is_overdue(const json_t *task) {
  char *at = NULL;
  if (!is_of_tidings(task)) return false;
  (void)strtoull(json_value_text(task, "id") + sizeof our_ids - 1, &at, 10);
  int64_t made_ms = *at == '-' ? (int64_t)strtoull(at + 1, &at, 36) : 0;
  return made_ms > 0 && *at == '-' && clock_wall_ms() - made_ms > LEFT_MS;
}

/* Removes tasks of processes that were killed before they could remove them. */
static void remove_left(json_t *tasks, const json_t *task) {
  for (size_t i = json_array_size(tasks); i-- > 0;) {
    const json_t *one = json_array_get(tasks, i);
    if (is_overdue(one) || (is_of_tidings(one) && is_alike(one, task, "sessionId")))
      (void)json_array_remove(tasks, i);
  }
}

static int change_once(const char *path, struct lock *lock, const char *id, json_t *task) {
  json_t *tasks = NULL;
  int reason = lock_file(lock);
  if (reason) return reason;
  reason = read_tasks(path, &tasks);
  size_t at = find_task(tasks, id);
  bool there = at < json_array_size(tasks);
  if (!reason && there) (void)json_array_remove(tasks, at);
  if (!reason && task) remove_left(tasks, task);
  if (!reason && task && json_array_append(tasks, task)) reason = ENOMEM;
  if (!reason && (task || there)) reason = write_tasks(path, lock, tasks);
  unlock_file(lock);
  json_decref(tasks);
  return reason;
}

/* `task` NULL: the one of that id is removed. */
static int change(const char *path, const char *id, json_t *task) {
  struct lock lock = {.path = NULL};
  int reason = ESTALE;
  if (asprintf(&lock.path, "%s.lock", path) < 0) return ENOMEM;
  for (int tries_left = TRIES; tries_left && reason == ESTALE; tries_left--)
    reason = change_once(path, &lock, id, task);
  free(lock.path);
  return reason;
}

int hook_tasks_add(const char *path, json_t *task) {
  int reason = task ? change(path, json_value_text(task, "id"), task) : ENOMEM;
  json_decref(task);
  return reason;
}

int hook_tasks_remove(const char *path, const char *id) { return change(path, id, NULL); }

int hook_tasks_was_run(const char *path, const char *id, bool *ret_was) {
  json_t *tasks = NULL;
  int reason = read_tasks(path, &tasks);
  if (reason) return reason;
  const json_t *task = json_array_get(tasks, find_task(tasks, id));
  if (task) *ret_was = json_is_number(json_object_get(task, "lastFiredAt"));
  else reason = EIDRM;
  json_decref(tasks);
  return reason;
}
