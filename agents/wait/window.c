/* SPDX-License-Identifier: MIT
 *
 * agents/wait/window.c: neither a hook's input nor its environment nor the daemon names the window
 * that shows the session. The window is connected to the daemon, and a person types into it; this
 * decides. The choice is kept in a file beside the places of waiting processes: DAEMON-HASH.window.
 */
#include "agents/wait/window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/wait/clients.h"
#include "agents/wait/place.h"
#include "agents/wait/started.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"

enum { MOST_WINDOWS = 64, MOST_RECORD = 64, MOST_LINE = 4096 };
enum {
  TYPED_SHIFT = 3,
  JUST_NOW_S = 16
}; /* Linux rounds a terminal's times to 8 s, so that nobody can watch the typing */

static const char suffix[] = ".window";

/* A process that is connected to the daemon. */
struct window {
  uint32_t pid;
  uint64_t started;  /* in ticks since the machine was started */
  int64_t typed_s;   /* when its terminal was last read, to about 8 s; 0: it has none */
  bool in_folder;    /* it works in the session's folder */
  bool shows_others; /* it is known to show another session */
};

/* -- processes --------------------------------------------------------------------------------- */

/* Recognizes "codex app-server --listen unix://...", which serves windows. */
bool hook_window_is_of(const struct host *host, uint32_t pid) {
  char path[64], *line = NULL;
  size_t len = 0;
  bool serves = false, listens = false;
  if (!host->server_word || !pid) return false;
  (void)snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int reason = fd < 0 ? -1 : file_read_beyond(fd, MOST_LINE, &line, &len);
  if (fd >= 0) close(fd);
  if (reason) return false;
  for (const char *word = line; word < line + len; word += strlen(word) + 1) {
    serves = serves || strcmp(word, host->server_word) == 0;
    listens = listens || strcmp(word, "--listen") == 0 || strncmp(word, "--listen=", 9) == 0;
  }
  free(line);
  return serves && listens;
}

static bool is_in(uint32_t pid, const char *folder) {
  char path[64];
  struct stat there, wanted;
  (void)snprintf(path, sizeof path, "/proc/%u/cwd", pid);
  return !stat(path, &there) && !stat(folder, &wanted) && there.st_dev == wanted.st_dev &&
         there.st_ino == wanted.st_ino;
}

static int64_t typed_at(uint32_t pid) {
  char path[64];
  struct stat terminal;
  (void)snprintf(path, sizeof path, "/proc/%u/fd/0", pid);
  return !stat(path, &terminal) && S_ISCHR(terminal.st_mode) ? (int64_t)terminal.st_atime : 0;
}

/* -- what was chosen --------------------------------------------------------------------------- */

static char *record_path(const struct cli *cli, const struct hook_call *call, uint32_t daemon) {
  char *place = hook_place_path(cli, call, daemon), *path = NULL;
  if (place && asprintf(&path, "%s%s", place, suffix) < 0) path = NULL;
  free(place);
  return path;
}

/* A session's window, as its file describes it. */
struct record {
  uint32_t pid; /* 0: no window is known */
  uint64_t started;
  bool left;  /* it shows another session now */
  bool ended; /* it had ended before the session did */
  bool lives; /* it is still the same process */
};

static struct record read_record(const char *path) {
  struct record record = {.pid = 0};
  char *text = NULL, *end = NULL;
  size_t len = 0;
  if (file_read_whole(path, MOST_RECORD, &text, &len)) return record;
  record.pid = (uint32_t)strtoul(text, &end, 10);
  record.started = strtoull(end, &end, 10);
  record.left = strcmp(end, " left\n") == 0;
  record.ended = strcmp(end, " ended\n") == 0;
  record.lives = record.pid && record.started && hook_started_at(record.pid) == record.started;
  free(text);
  return record;
}

/* Puts a complete file in its place, because another hook may be reading. If this may not replace a
 * file, another hook's file stays. */
static int publish(const char *fresh, const char *path, bool replaces) {
  if (replaces) return rename(fresh, path) ? errno : 0;
  int reason = link(fresh, path) && errno != EEXIST ? errno : 0;
  (void)unlink(fresh);
  return reason;
}

static void write_record(const char *path, const struct record *record, bool replaces) {
  char text[MOST_RECORD], *fresh = NULL, *folder = hook_place_folder();
  int len = snprintf(text, sizeof text, "%" PRIu32 " %" PRIu64 "%s\n", record->pid, record->started,
                     record->ended  ? " ended"
                     : record->left ? " left"
                                    : "");
  int reason = folder ? paths_make_folders(folder) : ENOMEM;
  if (asprintf(&fresh, "%s.%d", path, (int)getpid()) < 0) fresh = NULL;
  if (fresh && !reason) reason = file_write_whole(fresh, text, (size_t)len);
  if (fresh && !reason) reason = publish(fresh, path, replaces);
  if (!fresh || reason) hook_log("cannot write %s: %s", path, strerror(fresh ? reason : ENOMEM));
  free(fresh);
  free(folder);
}

struct records {
  char *folder, *own; /* the second is the record of this session */
  size_t prefix_len;  /* the length of "DAEMON-", with which all begin */
  DIR *all;
};

static int open_records(const char *record, struct records *ret_records) {
  const char *slash = strrchr(record, '/');
  struct records records = {.own = strdup(slash + 1),
                            .folder = strndup(record, (size_t)(slash - record))};
  records.all = records.folder ? opendir(records.folder) : NULL;
  if (!records.own || !records.all) {
    free(records.folder);
    free(records.own);
    return -1;
  }
  records.prefix_len = strcspn(records.own, "-") + 1;
  *ret_records = records;
  return 0;
}

/* Returns the path of the next record of another session of the daemon. Free it. NULL: there is
 * none. */
static char *next_record(const struct records *records) {
  char *path = NULL;
  for (const struct dirent *entry; (entry = readdir(records->all));) {
    const char *name = entry->d_name, *dot = strchr(name, '.');
    if (dot && strcmp(dot, suffix) == 0 && strcmp(name, records->own) != 0 &&
        strncmp(name, records->own, records->prefix_len) == 0)
      return asprintf(&path, "%s/%s", records->folder, name) < 0 ? NULL : path;
  }
  return NULL;
}

static void close_records(struct records *records) {
  closedir(records->all);
  free(records->folder);
  free(records->own);
}

static void mark_taken(const char *record, struct window *windows, size_t count) {
  struct records records;
  if (open_records(record, &records)) return;
  for (char *path; (path = next_record(&records)); free(path)) {
    const struct record other = read_record(path);
    for (size_t i = 0; i < count; i++)
      windows[i].shows_others =
          windows[i].shows_others || (other.pid == windows[i].pid && other.lives && !other.left);
  }
  close_records(&records);
}

/* Ends the process that waits beside the window for another session: the session of the record
 * DAEMON-HASH.window has the place WINDOW-HASH. */
static void end_waiter(const struct records *records, const char *path, uint32_t window) {
  char *place = NULL;
  const char *hash = path + strlen(records->folder) + 1 + records->prefix_len;
  int hash_len = (int)(strlen(hash) - strlen(suffix));
  if (asprintf(&place, "%s/%u-%.*s", records->folder, window, hash_len, hash) < 0) return;
  hook_place_say_at(place, PLACE_END);
  free(place);
}

/* Records that the window no longer shows other sessions, because it shows one at a time. */
static void leave_others(const char *record, uint32_t window) {
  struct records records;
  if (open_records(record, &records)) return;
  for (char *path; (path = next_record(&records)); free(path)) {
    struct record other = read_record(path);
    if (other.pid != window || other.left) continue;
    other.left = true;
    write_record(path, &other, true);
    end_waiter(&records, path, window);
  }
  close_records(&records);
}

/* -- choosing ---------------------------------------------------------------------------------- */

/* Is `a` the likelier window? */
static bool is_likelier(const struct window *a, const struct window *b) {
  int64_t a_typed = a->typed_s >> TYPED_SHIFT, b_typed = b->typed_s >> TYPED_SHIFT;
  if (a->in_folder != b->in_folder) return a->in_folder;
  if (a_typed != b_typed) return a_typed > b_typed;
  if (a->shows_others != b->shows_others) return b->shows_others;
  return a->started > b->started;
}

/* Returns the window in which a person most likely began the session or prompts it: rather one in
 * its folder, then the one that was typed into last, then one that shows no other session, then the
 * newest. NULL: there is none. */
static const struct window *choose_window(const struct window *windows, size_t count) {
  const struct window *best = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!best || is_likelier(&windows[i], best)) best = &windows[i];
  }
  return best;
}

/* Returns how many windows; -1: that cannot be known. */
static int find_windows(const struct hook_call *call, uint32_t daemon, const char *record,
                        struct window *windows) {
  uint32_t pids[MOST_WINDOWS];
  int found = hook_clients(daemon, pids, MOST_WINDOWS), count = 0;
  for (int i = 0; i < found; i++) {
    struct window window = {.pid = pids[i], .started = hook_started_at(pids[i])};
    window.typed_s = typed_at(window.pid);
    window.in_folder = is_in(window.pid, call->cwd);
    if (window.started) windows[count++] = window;
  }
  if (found < 0) return -1;
  mark_taken(record, windows, (size_t)count);
  return count;
}

bool hook_window_is_free_in(const struct cli *cli, const struct hook_call *call, uint32_t daemon,
                            const char *folder) {
  struct window windows[MOST_WINDOWS];
  struct hook_call there = *call;
  char *path = record_path(cli, call, daemon);
  there.cwd = folder;
  int count = path ? find_windows(&there, daemon, path, windows) : 0;
  bool found = false;
  for (int i = 0; i < count; i++)
    found = found || (windows[i].in_folder && !windows[i].shows_others);
  free(path);
  return found;
}

/* If a session's window was closed, the prompt may come from no person. So a window that shows
 * another session stays only if a person has just typed into it. */
static int leave_out_taken(struct window *windows, int count) {
  int left = 0;
  int64_t now_s = clock_wall_ms() / 1000;
  for (int i = 0; i < count; i++) {
    if (!windows[i].shows_others || now_s - windows[i].typed_s <= JUST_NOW_S)
      windows[left++] = windows[i];
  }
  return left;
}

static bool begins(const struct hook_call *call) {
  return call->moment == HOOK_SESSION_START && strcmp(call->source, "compact") != 0;
}

/* Returns the window; 0: none shows the session. */
static uint32_t choose(const struct hook_call *call, uint32_t daemon, const char *path,
                       bool was_closed) {
  struct window windows[MOST_WINDOWS];
  int count = find_windows(call, daemon, path, windows);
  if (count > 0 && was_closed) count = leave_out_taken(windows, count);
  const struct window *window = count > 0 ? choose_window(windows, (size_t)count) : NULL;
  if (!window) return 0;
  const struct record record = {.pid = window->pid, .started = window->started};
  write_record(path, &record, true);
  leave_others(path, window->pid);
  return window->pid;
}

/* If no window can be seen, the daemon is the session's process. A turn that nobody sees any more
 * stays with one process, so that not each call has to find out what the model got: with the window
 * that has left it while that lives, else with the daemon. */
uint32_t hook_window(const struct cli *cli, struct hook_call *call, uint32_t owner) {
  if (!hook_window_is_of(call->host, owner)) return owner;
  char *path = record_path(cli, call, owner);
  const struct record record = path ? read_record(path) : (struct record){.pid = 0};
  bool shown = record.lives && !record.left, prompted = call->moment == HOOK_PROMPT && !shown;
  uint32_t window = 0;
  if (path && (begins(call) || prompted || !record.pid))
    window = choose(call, owner, path, record.pid && !shown);
  free(path);
  call->moved = window != 0;
  call->unseen = !window && record.pid && !shown;
  if (window) return window;
  call->of_daemon = !record.lives;
  return record.lives ? record.pid : owner;
}

bool hook_window_is_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon) {
  char *path = record_path(cli, call, daemon);
  bool loaded = path && access(path, F_OK) == 0 && !read_record(path).ended;
  free(path);
  return loaded;
}

/* Any record says that the session is loaded, even without a window. A hook that records the window
 * at the same moment knows more, so its record stays. */
void hook_window_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon) {
  char *path = record_path(cli, call, daemon);
  struct record record = path ? read_record(path) : (struct record){.pid = 0};
  bool replaces = record.ended;
  record.ended = false;
  if (path) write_record(path, &record, replaces);
  free(path);
}

/* If the window ended before the session, its record stays, because the turn that it left may still
 * end. */
void hook_window_forget(const struct cli *cli, const struct hook_call *call, uint32_t owner) {
  if (!hook_window_is_of(call->host, owner)) return;
  char *path = record_path(cli, call, owner);
  struct record record = path ? read_record(path) : (struct record){.pid = 0};
  record.ended = true;
  if (path && record.pid && !record.lives) write_record(path, &record, true);
  else if (path) (void)unlink(path);
  free(path);
}
