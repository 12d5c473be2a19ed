/* SPDX-License-Identifier: MIT
 *
 * agents/wait/scheduler.c: the task is a monthly one that was due a day ago, so the window runs it
 * once, now. It is bound to a session, so no other window runs it. The agent records that it has
 * taken the task, and keeps it in memory until it idles; after the record the task is removed. If
 * this process is killed before that, the next one removes it.
 */
#include "agents/wait/scheduler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/call/owner.h"
#include "agents/wait/place.h"
#include "agents/wait/started.h"
#include "agents/wait/tasks.h"
#include "command/interrupt.h"
#include "command/owner.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/sha256.h"

enum {
  BEGINS_MS = 15000,
  AGAIN_MS = 100,
  TAKEN_MS = 10000,
  LOOK_MS = 50,
  MOST_RECORD = 512,
  MOST_PATH = 512,
  MOST_LINE = 4096,
  LARGEST_INFO = 16 << 20,
  LEVELS = 4,
  NAME_SIZE = 64
};
enum { DUE_S = 86400, MADE_S = 2 * 86400 }; /* far enough in the past for every time zone */

/* -- where ------------------------------------------------------------------------------------- */

/* Returns the agent's folder, from the transcript's path
 * "FOLDER/projects/PROJECT/chats/SESSION.jsonl". NULL: it is not known. */
static char *agent_folder(const struct hook_call *call) {
  size_t len = strlen(call->transcript);
  for (int level = 0; level < LEVELS; level++) {
    while (len && call->transcript[len] != '/') len--;
    if (!len) return NULL;
    if (level < LEVELS - 1) len--;
  }
  return strndup(call->transcript, len);
}

/* Returns the folder of the tasks of the window's project. NULL: not known, or out of memory. */
static char *tasks_folder(const struct hook_call *call) {
  unsigned char digest[SHA256_BYTES];
  char hex[2 * SHA256_BYTES + 1], *agent = agent_folder(call), *folder = NULL;
  struct sha256 sha;
  sha256_begin(&sha);
  sha256_add(&sha, span_text(call->cwd));
  sha256_end(&sha, digest);
  for (size_t i = 0; i < sizeof digest; i++)
    (void)snprintf(hex + 2 * i, sizeof hex - 2 * i, "%02x", digest[i]);
  if (agent && asprintf(&folder, "%s/tmp/%s", agent, hex) < 0) folder = NULL;
  free(agent);
  return folder;
}

/* -- whether it looks there -------------------------------------------------------------------- */

/* Returns the kernel's lines about an inotify descriptor: "inotify wd:1 ino:9e7e sdev:800013
 * mask:fce ...", in hexadecimal digits. Free it; NULL: the descriptor is of another kind, or is
 * gone. */
static char *read_watches(const char *path) {
  char *text = NULL;
  size_t len = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  int reason = file_read_all(fd, LARGEST_INFO, &text, &len);
  close(fd);
  if (!reason && strncmp(text, "pos:", 4) == 0 && strstr(text, "inotify wd:")) return text;
  free(text);
  return NULL;
}

/* Writes the text by which the kernel names the folder in each watch: " ino:9e7e sdev:800013 ". On
 * some file systems sdev is not st_dev, so it is read from our own watch; without one, the inode
 * alone must do. */
static void name_watch(const char *folder, const struct stat *found, char ret_name[NAME_SIZE]) {
  char path[64];
  int fd = inotify_init1(IN_CLOEXEC);
  (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  char *text =
      fd >= 0 && inotify_add_watch(fd, folder, IN_DELETE_SELF) >= 0 ? read_watches(path) : NULL;
  const char *begin = text ? strstr(text, " ino:") : NULL,
             *end = begin ? strstr(begin, "mask:") : NULL;
  if (end) (void)snprintf(ret_name, NAME_SIZE, "%.*s", (int)(end - begin), begin);
  else (void)snprintf(ret_name, NAME_SIZE, " ino:%" PRIx64 " ", (uint64_t)found->st_ino);
  if (fd >= 0) close(fd);
  free(text);
}

static bool has_watch(const char *path, const char *name) {
  char *text = read_watches(path);
  bool has = text && strstr(text, name);
  free(text);
  return has;
}

/* A window that a setting keeps from running tasks does not watch them. */
static bool is_watched(uint32_t owner, const char *folder) {
  char path[64], one[MOST_PATH], name[NAME_SIZE];
  struct stat found;
  bool watched = false;
  (void)snprintf(path, sizeof path, "/proc/%u/fdinfo", owner);
  DIR *all = stat(folder, &found) ? NULL : opendir(path);
  if (all) name_watch(folder, &found, name);
  for (const struct dirent *entry; all && !watched && (entry = readdir(all));) {
    if (entry->d_name[0] == '.') continue;
    (void)snprintf(one, sizeof one, "%s/%s", path, entry->d_name);
    watched = has_watch(one, name);
  }
  if (all) closedir(all);
  return watched;
}

/* Does the command's file exist in the settings' `folder`, which is taken over? */
static bool has_command(const struct host *host, char *folder, const char *ending,
                        struct stat *ret_file) {
  char *file = NULL;
  const char *name = host->scheduler->command_file, *dot = strrchr(name, '.');
  if (folder && asprintf(&file, "%s/%.*s%s", folder, (int)(dot - name), name, ending) < 0)
    file = NULL;
  bool has = file && stat(file, ret_file) == 0;
  free(file);
  free(folder);
  return has;
}

/* Would the window run our command? A project's command of the same name would be run instead. In
 * the user's home both are the same file. */
static bool knows_command(const struct hook_call *call) {
  const struct host *host = call->host;
  struct stat users, other;
  bool replaced = false;
  if (!has_command(host, host_home(host), ".md", &users)) return false;
  if (has_command(host, paths_join(call->cwd, host->home_folder), ".md", &other))
    replaced = other.st_dev != users.st_dev || other.st_ino != users.st_ino;
  return !replaced && !has_command(host, host_home(host), ".toml", &other) &&
         !has_command(host, paths_join(call->cwd, host->home_folder), ".toml", &other);
}

static bool is_of_this_user(const char *pid) {
  char path[64];
  struct stat process;
  (void)snprintf(path, sizeof path, "/proc/%.20s", pid);
  return stat(path, &process) == 0 && process.st_uid == geteuid();
}

static bool has_argument(const char *pid, const char *wanted) {
  char path[64], *line = NULL;
  size_t len = 0;
  bool has = false;
  (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int reason = fd < 0 ? errno : file_read_beyond(fd, MOST_LINE, &line, &len);
  if (fd >= 0) close(fd);
  if (reason) return false;
  for (const char *word = line; word < line + len; word += strlen(word) + 1)
    has = has || strcmp(word, wanted) == 0;
  free(line);
  return has;
}

static bool runs_the_agent(const struct host *host, uint32_t pid) {
  char program[OWNER_NAME_SIZE], script[OWNER_NAME_SIZE];
  if (hook_owner_is(pid, host)) return true;
  owner_program(pid, program);
  owner_script(pid, program, script);
  return fnmatch(host->scheduler->server_script, script, 0) == 0;
}

/* Recognizes "node /usr/lib/node_modules/@qwen-code/qwen-code/cli.js serve". */
static bool is_server(const struct host *host, const char *pid) {
  return is_of_this_user(pid) && has_argument(pid, host->scheduler->server_word) &&
         runs_the_agent(host, (uint32_t)strtoul(pid, NULL, 10));
}

/* Does the user run the agent's daemon? It would also run the task. */
static bool is_served(const struct host *host) {
  DIR *all = opendir("/proc");
  bool served = false;
  for (const struct dirent *entry; all && !served && (entry = readdir(all));)
    served = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_server(host, entry->d_name);
  if (all) closedir(all);
  return served;
}

bool hook_scheduler_may_take(const struct hook_call *call) {
  const struct host_scheduler *scheduler = call->host->scheduler;
  const char *window = scheduler ? getenv(scheduler->window_variable) : NULL;
  return window && window[0] && !call->of_subagent && knows_command(call);
}

bool hook_scheduler_takes(const struct hook_call *call, uint32_t owner) {
  char *folder = owner && hook_scheduler_may_take(call) ? tasks_folder(call) : NULL;
  bool takes = folder && is_watched(owner, folder) && !is_served(call->host);
  free(folder);
  return takes;
}

bool hook_scheduler_begins(const struct hook_call *call, uint32_t owner) {
  struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)owner, 0), .events = POLLIN};
  bool takes = false;
  for (int left_ms = BEGINS_MS; ended.fd >= 0 && left_ms > 0 && !takes; left_ms -= AGAIN_MS) {
    takes = hook_scheduler_takes(call, owner);
    if (!takes && interrupt_poll(&ended, 1, AGAIN_MS)) break;
  }
  if (ended.fd >= 0) close(ended.fd);
  return takes;
}

/* -- under which session ----------------------------------------------------------------------- */

static char *first_path(uint32_t owner) {
  char *folder = hook_place_folder(), *path = NULL;
  if (folder && asprintf(&path, "%s/%u-first", folder, owner) < 0) path = NULL;
  free(folder);
  return path;
}

/* Reads the noted session, "STARTED SESSION". Free it; NULL: nothing was noted for this process. */
static char *first_session(uint32_t owner) {
  char *path = first_path(owner), *text = NULL, *end = NULL, *session = NULL;
  size_t len = 0;
  if (path && !file_read_whole(path, MOST_RECORD, &text, &len)) {
    bool same = strtoull(text, &end, 10) == hook_started_at(owner) && *end == ' ';
    if (same) session = strndup(end + 1, strcspn(end + 1, "\n"));
  }
  free(text);
  free(path);
  return session;
}

void hook_scheduler_note(const struct hook_call *call, uint32_t owner) {
  char *noted = call->host->scheduler && owner ? first_session(owner) : NULL,
       *path = first_path(owner), *folder = hook_place_folder(), text[MOST_RECORD];
  int len = snprintf(text, sizeof text, "%" PRIu64 " %s\n", hook_started_at(owner), call->session);
  bool notes = call->host->scheduler && owner && !noted && path && folder && len > 0 &&
               (size_t)len < sizeof text;
  int reason = notes ? paths_make_folders(folder) : 0;
  if (notes && !reason) reason = file_write_whole(path, text, (size_t)len);
  if (reason) hook_log("cannot write %s: %s", path, strerror(reason));
  free(folder);
  free(path);
  free(noted);
}

/* -- running it -------------------------------------------------------------------------------- */

static json_t *new_task(const struct host_scheduler *scheduler, const char *id, const char *session,
                        const char *mark) {
  char when[64];
  json_int_t now_s = clock_wall_ms() / 1000;
  time_t due_s = (time_t)(now_s - DUE_S);
  struct tm due;
  if (!localtime_r(&due_s, &due)) return NULL;
  (void)snprintf(when, sizeof when, "%d %d %d * *", due.tm_min, due.tm_hour, due.tm_mday);
  return json_pack("{s:s, s:s, s:o, s:b, s:I, s:n, s:s, s:s}", "id", id, "cron", when, "prompt",
                   json_sprintf("%s %s", scheduler->command, mark), "recurring", 1, "createdAt",
                   (now_s - MADE_S) * 1000, "lastFiredAt", "sessionId", session, "name", "tidings");
}

/* Returns 0 or an errno, such as ETIMEDOUT. */
static int wait_until_run(const char *path, const char *id, int ended) {
  struct pollfd agent = {.fd = ended, .events = POLLIN};
  bool was_run = false;
  int reason = 0;
  for (int left_ms = TAKEN_MS; !reason && !was_run; left_ms -= LOOK_MS) {
    reason = hook_tasks_was_run(path, id, &was_run);
    if (reason || was_run) break;
    if (left_ms <= 0) return ETIMEDOUT;
    if (interrupt_poll(&agent, 1, LOOK_MS)) return ECANCELED;
  }
  return reason;
}

static const char *said(int reason) {
  return reason == ETIMEDOUT   ? "the window does not take it"
         : reason == ENOTCONN  ? "no window looks there, or a daemon does, too"
         : reason == EBADMSG   ? "it is not a list of tasks"
         : reason == ECANCELED ? "the agent has ended"
                               : strerror(reason);
}

int hook_scheduler_run(const struct hook_call *call, uint32_t owner, const char *mark, int ended) {
  const struct host_scheduler *scheduler = call->host->scheduler;
  char *folder = tasks_folder(call), *path = folder ? paths_join(folder, scheduler->tasks) : NULL,
       *first = first_session(owner), id[64];
  const char *session = first ? first : call->session;
  (void)snprintf(id, sizeof id, "tidings-%u-%s", owner, mark);
  int reason = !path ? ENOMEM
               : !hook_scheduler_takes(call, owner)
                   ? ENOTCONN
                   : hook_tasks_add(path, new_task(scheduler, id, session, mark));
  bool added = !reason;
  if (added) reason = wait_until_run(path, id, ended);
  int stays = added ? hook_tasks_remove(path, id) : 0;
  if (reason && reason != ECANCELED)
    hook_log("cannot wake the agent by %s: %s", path ? path : scheduler->tasks, said(reason));
  if (stays) hook_log("cannot remove the task %s from %s: %s", id, path, said(stays));
  free(first);
  free(path);
  free(folder);
  return reason ? -1 : 0;
}
