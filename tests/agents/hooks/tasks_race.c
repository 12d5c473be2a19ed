/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/tasks_race.c: a process that changes the file of scheduled tasks is suspended
 * after it has read the file, and the agent takes its lock over. The linker replaces
 * file_read_whole, interrupt_poll, fsync and rename by wrappers, so that this happens each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/wait/tasks.h"
#include "command/interrupt.h"
#include "common/clock.h"
#include "common/file.h"
#include "tests/agents/hooks/race.h"

static char tasks[4200], lock[4220];
static bool agent_comes; /* after the file is read next */
static bool agent_holds;
static const char *agent_writes; /* when it gives its lock back; NULL: nothing */
static bool synced;

static void put(const char *text) { MUST(!file_write_whole(tasks, text, strlen(text))); }

static void agent_takes_lock(void) {
  MUST(unlink(lock) == 0);
  int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  MUST(fd >= 0);
  close(fd);
  agent_holds = true;
}

static void agent_ends(void) {
  MUST(access(lock, F_OK) == 0);
  if (agent_writes) put(agent_writes);
  MUST(unlink(lock) == 0);
  agent_holds = false;
}

int __real_file_read_whole(const char *path, size_t most, char **ret_text, size_t *ret_len);
int __wrap_file_read_whole(const char *path, size_t most, char **ret_text, size_t *ret_len);
int __wrap_file_read_whole(const char *path, size_t most, char **ret_text, size_t *ret_len) {
  int reason = __real_file_read_whole(path, most, ret_text, ret_len);
  bool comes = agent_comes;
  agent_comes = false;
  if (comes) agent_takes_lock();
  return reason;
}

int __wrap_interrupt_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_interrupt_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  MUST(!fds && !count && timeout_ms > 0 && agent_holds);
  agent_ends();
  return 0;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
  synced = true;
  return __real_fsync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
  if (strcmp(to, tasks) == 0) MUST(synced);
  synced = false;
  return __real_rename(from, to);
}

static json_t *task_of(const char *id, const char *name, const char *session) {
  json_t *task = json_pack("{s:s, s:s, s:s}", "id", id, "name", name, "sessionId", session);
  MUST(task);
  return task;
}

static void must_have(const char *wanted) {
  char ids[256] = "";
  json_t *all = json_load_file(tasks, 0, NULL), *one;
  size_t i;
  MUST(json_is_array(all));
  json_array_foreach(all, i, one) {
    size_t len = strlen(ids);
    (void)snprintf(ids + len, sizeof ids - len, "%s ",
                   json_string_value(json_object_get(one, "id")));
  }
  if (strcmp(ids, wanted) != 0) printf("# %s\n", ids);
  MUST(strcmp(ids, wanted) == 0);
  json_decref(all);
}

/* "tidings-PID-TIME-PROOF" */
static const char *id_of(char id[64], int64_t made_ms) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  char number[16] = "", *at = number + sizeof number - 1;
  for (int64_t left = made_ms; left; left /= 36) *--at = digits[left % 36];
  (void)snprintf(id, 64, "tidings-%d-%s-9c1m7t0b", (int)getpid(), at);
  return id;
}

int main(void) {
  char ours[64], left[64], other[64], ids[256];
  race_make_folder("tasks-race");
  (void)snprintf(tasks, sizeof tasks, "%s/scheduled_tasks.json", race_folder);
  (void)snprintf(lock, sizeof lock, "%s.lock", tasks);

  put("[{\"id\": \"a\"}]");
  agent_comes = true;
  agent_writes = "[{\"id\": \"a\"}, {\"id\": \"b\"}]";
  MUST(!hook_tasks_add(tasks, task_of("tidings-1-x", "tidings", "s")));
  MUST(!agent_comes && !agent_holds && access(lock, F_OK) != 0);
  must_have("a b tidings-1-x ");
  printf("ok 1 - what the agent writes after it has taken the lock over stays\n");

  agent_comes = true;
  agent_writes = NULL;
  MUST(!hook_tasks_remove(tasks, "unknown"));
  MUST(agent_holds && access(lock, F_OK) == 0);
  agent_ends();
  printf("ok 2 - the lock that the agent has taken over stays\n");

  int64_t now_ms = clock_wall_ms();
  (void)id_of(left, now_ms - 3600000);
  (void)id_of(other, now_ms - 1000);
  (void)id_of(ours, now_ms);
  json_t *all = json_pack("[o, o, o, o, o, o]", task_of("mine", "tidings", "s"),
                          task_of(left, "tidings", "t"), task_of(other, "tidings", "u"),
                          task_of("tidings-12-x", "", "t"), task_of("tidings-1-x", "tidings", "s"),
                          task_of("tidings", "", "s"));
  MUST(all && json_dump_file(all, tasks, 0) == 0);
  json_decref(all);
  MUST(!hook_tasks_add(tasks, task_of(ours, "tidings", "s")));
  (void)snprintf(ids, sizeof ids, "mine %s tidings-12-x tidings %s ", other, ours);
  must_have(ids);
  printf(
      "ok 3 - a task of the person's stays, whatever it is called; those of ours go that a killed "
      "process has left, and no other process's\n");

  bool was_run = true;
  MUST(!hook_tasks_was_run(tasks, ours, &was_run) && !was_run);
  MUST(!hook_tasks_remove(tasks, ours));
  MUST(hook_tasks_was_run(tasks, ours, &was_run) == EIDRM);
  MUST(unlink(tasks) == 0 && hook_tasks_was_run(tasks, ours, &was_run) == EIDRM);
  printf("ok 4 - a task that somebody has removed was not run\n1..4\n");
  return 0;
}
