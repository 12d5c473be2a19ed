/* SPDX-License-Identifier: MIT
 */
#include "cli/run/log.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/paths.h"
#include "command/terminal.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/random.h"

enum { KEPT_LOGS = 200, KEPT_DAYS = 30, LONGEST_NAME = 40, ATTEMPTS = 16, LISTED_LOGS = 20 };

/* -- those that are there
 * ---------------------------------------------------------------------------------- */

struct log_file {
  char *handle;
  time_t written;
};

static int newest_first(const void *a, const void *b) {
  const struct log_file *one = a, *other = b;
  return one->written > other->written ? -1 : one->written < other->written;
}

/* Is it a name like "make-3f9a2c"? The folder also has other files, such as the hooks' log. */
static bool is_handle(const char *name, size_t len) {
  enum { RANDOM_DIGITS = 6 };
  if (len < RANDOM_DIGITS + 2 || name[0] == '.' || memchr(name, '/', len)) return false;
  const char *digits = name + len - RANDOM_DIGITS;
  return digits[-1] == '-' && strspn(digits, "0123456789abcdef") >= RANDOM_DIGITS;
}

/* Returns the handle if the file looks like a log of ours; otherwise, or without memory, NULL. */
static char *handle_of(int folder, const char *name, time_t *ret_written) {
  struct stat info;
  size_t len = strlen(name);
  if (len < 5 || strcmp(name + len - 4, ".log") != 0 || !is_handle(name, len - 4)) return NULL;
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode)) return NULL;
  *ret_written = info.st_mtime;
  return strndup(name, len - 4);
}

/* Lists the logs, the newest first, or as many as memory allows. `folder` NULL: there are none. */
static struct log_file *list_logs(DIR *folder, size_t *ret_count) {
  struct log_file *logs = NULL;
  size_t count = 0, room = 0;
  *ret_count = 0;
  if (!folder) return NULL;
  for (struct dirent *entry; (entry = readdir(folder));) {
    struct log_file log = {.handle = NULL};
    log.handle = handle_of(dirfd(folder), entry->d_name, &log.written);
    if (!log.handle) continue;
    if (count == room) {
      struct log_file *more = realloc(logs, (room = room ? room * 2 : 256) * sizeof *more);
      if (!more) {
        free(log.handle);
        break;
      }
      logs = more;
    }
    logs[count++] = log;
  }
  if (count) qsort(logs, count, sizeof *logs, newest_first);
  *ret_count = count;
  return logs;
}

static void free_logs(struct log_file *logs, size_t count) {
  for (size_t i = 0; i < count; i++) free(logs[i].handle);
  free(logs);
}

/* Opens the log; -1: there is none with that name. */
static int open_log(int folder, const char *handle) {
  struct stat info;
  char name[NAME_MAX + 1];
  int len = snprintf(name, sizeof name, "%s.log", handle);
  if (!is_handle(handle, strlen(handle)) || len < 0 || len > NAME_MAX) return -1;
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode))) {
    close(fd);
    fd = -1;
  }
  return fd;
}

/* Removes a log, unless its run still writes, and so holds the lock. */
static void remove_if_over(int folder, const char *handle) {
  char name[NAME_MAX + 1];
  int fd = open_log(folder, handle);
  if (fd < 0) return;
  (void)snprintf(name, sizeof name, "%s.log", handle);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) (void)unlinkat(folder, name, 0);
  close(fd);
}

static void prune(const char *path) {
  DIR *folder = opendir(path);
  size_t count = 0;
  if (!folder) return;
  struct log_file *logs = list_logs(folder, &count);
  time_t oldest = (time_t)(clock_wall_ms() / 1000) - (time_t)KEPT_DAYS * 86400;
  for (size_t i = 0; i < count; i++) {
    if (i >= KEPT_LOGS - 1 || logs[i].written < oldest)
      remove_if_over(dirfd(folder), logs[i].handle);
  }
  free_logs(logs, count);
  closedir(folder);
}

/* -- a new one --------------------------------------------------------------------------------- */

/* Makes a name that is safe in a shell, in a path and between backquotes. */
static void plain_name(const char *name, char plain[LONGEST_NAME + 1]) {
  size_t len = 0;
  for (; *name && len < LONGEST_NAME; name++) {
    bool fits = isalnum((unsigned char)*name) || *name == '_' || *name == '.' || *name == '-';
    if (fits && (len || isalnum((unsigned char)*name))) plain[len++] = *name;
    else if (!fits && len && plain[len - 1] != '-') plain[len++] = '-';
  }
  while (len && plain[len - 1] == '-') len--;
  if (!len) plain[len++] = 'r';
  plain[len] = '\0';
}

static int try_name(const char *folder, const char *plain, struct run_log *log) {
  uint32_t bits = 0;
  int reason = random_fill(&bits, sizeof bits);
  if (reason) return reason;
  if (asprintf(&log->handle, "%s-%06x", plain, bits & 0xffffff) < 0) log->handle = NULL;
  if (!log->handle || asprintf(&log->path, "%s/%s.log", folder, log->handle) < 0) log->path = NULL;
  if (!log->path) return ENOMEM;
  log->fd = open(log->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (log->fd < 0) return errno;
  (void)flock(log->fd, LOCK_EX | LOCK_NB); /* this works, because no other process uses it yet */
  return 0;
}

static int make(const char *folder, const char *name, struct run_log *ret_log) {
  char plain[LONGEST_NAME + 1];
  int reason = EEXIST;
  plain_name(name, plain);
  for (int i = 0; reason == EEXIST && i < ATTEMPTS; i++) {
    struct run_log log = {.fd = -1};
    reason = try_name(folder, plain, &log);
    if (reason) {
      free(log.handle);
      free(log.path);
    } else {
      *ret_log = log;
    }
  }
  return reason;
}

static int find_folder(const struct cli *cli, char **ret_folder) {
  char *folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs");
  if (!folder) {
    (void)cli_fail(cli, "neither XDG_STATE_HOME nor HOME is set, so there is no place for the log");
    return EXIT_REFUSED;
  }
  *ret_folder = folder;
  return 0;
}

int run_log_open(const struct cli *cli, const char *name, uint64_t limit, struct run_log *ret_log) {
  char *folder = NULL;
  if (find_folder(cli, &folder)) return EXIT_REFUSED;
  int reason = paths_make_folders(folder);
  if (!reason) {
    prune(folder);
    reason = make(folder, name, ret_log);
  }
  if (!reason) ret_log->limit = limit;
  int code = reason ? cli_fail(cli, "cannot make a log in %s: %s", folder, strerror(reason)) : 0;
  free(folder);
  return code;
}

void run_log_write(struct run_log *log, const char *bytes, size_t len) {
  uint64_t left = log->limit - log->size;
  size_t kept = len < left ? len : (size_t)left;
  if (log->failed || log->full) return;
  log->failed = file_write_all(log->fd, bytes, kept);
  log->size += kept;
  if (kept == len || log->failed) return;
  char line[128];
  int line_len = snprintf(line, sizeof line,
                          "\n[tidings: the log ends here, at its limit of %llu bytes; the command "
                          "goes on]\n",
                          (unsigned long long)log->limit);
  log->full = true;
  log->failed = file_write_all(log->fd, line, (size_t)line_len);
}

uint64_t run_log_lines(const struct run_log *log) {
  static char bytes[65536];
  uint64_t count = 0, at = 0;
  if (!log->full && !log->failed) return UINT64_MAX;
  int fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  for (ssize_t got; fd >= 0 && at < log->size && (got = read(fd, bytes, sizeof bytes)) > 0;) {
    size_t len = log->size - at < (uint64_t)got ? (size_t)(log->size - at) : (size_t)got;
    for (size_t i = 0; i < len; i++) count += bytes[i] == '\n';
    at += len;
  }
  if (fd >= 0) close(fd);
  return count;
}

void run_log_remove(struct run_log *log) { (void)unlink(log->path); }

void run_log_close(struct run_log *log) {
  if (log->fd >= 0) close(log->fd);
  free(log->handle);
  free(log->path);
  *log = (struct run_log){.fd = -1};
}

/* -- one that is there ------------------------------------------------------------------------- */

static int unknown(const struct cli *cli, DIR *folder, const char *path, const char *handle) {
  size_t count = 0;
  struct log_file *logs = list_logs(folder, &count);
  if (!count)
    (void)cli_fail(cli, "no run has the handle '%s': there is no log in %s", handle, path);
  else (void)cli_fail(cli, "no run has the handle '%s'. The known handles are:", handle);
  for (size_t i = 0; i < count && i < LISTED_LOGS; i++) {
    fputs("  ", stderr);
    terminal_text(stderr, logs[i].handle);
    fputc('\n', stderr);
  }
  if (count > LISTED_LOGS) fprintf(stderr, "  and %zu more\n", count - LISTED_LOGS);
  free_logs(logs, count);
  return EXIT_REFUSED;
}

/* Completes a handle if only one begins so. Free it; NULL: none or several do. */
static char *find_handle(DIR *folder, const char *beginning) {
  size_t count = 0, found = 0;
  struct log_file *logs = list_logs(folder, &count);
  char *handle = NULL;
  for (size_t i = 0; i < count; i++) {
    if (strncmp(logs[i].handle, beginning, strlen(beginning)) != 0) continue;
    if (!found++) handle = strdup(logs[i].handle);
  }
  free_logs(logs, count);
  if (found == 1) return handle;
  free(handle);
  if (folder) rewinddir(folder);
  return NULL;
}

int run_log_find(const struct cli *cli, const char *typed, char **ret_handle, char **ret_path,
                 int *ret_fd) {
  char *path = NULL;
  if (find_folder(cli, &path)) return EXIT_REFUSED;
  DIR *folder = opendir(path);
  int code = 0, fd = folder ? open_log(dirfd(folder), typed) : -1;
  char *log = NULL, *handle = fd < 0 ? find_handle(folder, typed) : strdup(typed);
  if (fd < 0 && handle) fd = open_log(dirfd(folder), handle);
  if (fd < 0) code = unknown(cli, folder, path, typed);
  else if (!handle || asprintf(&log, "%s/%s.log", path, handle) < 0)
    code = cli_fail(cli, "out of memory");
  if (!code) {
    *ret_handle = handle;
    *ret_path = log;
    *ret_fd = fd;
  } else {
    free(handle);
    if (fd >= 0) close(fd);
  }
  if (folder) closedir(folder);
  free(path);
  return code;
}

bool run_log_grows(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB)) return errno == EWOULDBLOCK;
  (void)flock(fd, LOCK_UN);
  return false;
}
