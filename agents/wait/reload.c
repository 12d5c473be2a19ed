/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/reload.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/deliver/status.h"
#include "agents/turn/turns.h"
#include "agents/wait/apart.h"
#include "agents/wait/place.h"
#include "agents/wait/wait.h"
#include "agents/wait/window.h"
#include "command/interrupt.h"
#include "command/json_value.h"
#include "common/fnv.h"

/* The daemon closes the transcript once all hooks for the session's end have ended, which may take
 * seconds. It opens the transcript again within some hundredths of a second. */
enum {
  CLOSES_MS = 10000,
  OPENS_MS = 2000,
  LOOK_MS = 50,
  TRIES = 20,
  BUSY_MS = 100,
  MOST_ANSWERED = 256
};

/* Has the daemon opened the file for writing? Other processes only read it. */
static bool is_written_by(uint32_t daemon, const char *path) {
  char descriptors[32];
  struct stat wanted, link, opened;
  bool found = false;
  (void)snprintf(descriptors, sizeof descriptors, "/proc/%u/fd", daemon);
  DIR *all = stat(path, &wanted) ? NULL : opendir(descriptors);
  for (const struct dirent *entry; all && !found && (entry = readdir(all));)
    found = !fstatat(dirfd(all), entry->d_name, &opened, 0) && opened.st_ino == wanted.st_ino &&
            opened.st_dev == wanted.st_dev &&
            !fstatat(dirfd(all), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) &&
            (link.st_mode & S_IWUSR);
  if (all) closedir(all);
  return found;
}

/* `closing` becomes readable when the transcript is closed; `ending`, when the daemon ends. */
static bool is_opened_again(int closing, int ending, uint32_t daemon, const char *path) {
  struct pollfd closed = {.fd = closing, .events = POLLIN},
                ended = {.fd = ending, .events = POLLIN};
  if (poll(&closed, 1, CLOSES_MS) <= 0) return false;
  for (int left_ms = OPENS_MS; left_ms > 0; left_ms -= LOOK_MS) {
    if (is_written_by(daemon, path)) return true;
    if (poll(&ended, 1, LOOK_MS)) return false;
  }
  return false;
}

/* Opens the session as the hook for a session's start does. The daemon calls that hook only at the
 * first prompt. */
static int32_t open_once(struct cli *cli, const struct hook_call *call, uint32_t window,
                         struct tidings_error *error) {
  struct hook_answer answer = {.output = NULL};
  struct hostkit *kit = NULL;
  int32_t code = kit_open(cli, TIDINGS_ROLE_HOST, window, &kit, error);
  if (!code) code = hook_answer_call(kit, call, window, &answer, error);
  json_decref(answer.output);
  kit_close(kit);
  return code;
}

/* If a window shows the session, starts a process that waits beside the window, and returns
 * true. */
static bool wait_in_window(struct cli *cli, struct hook_call *call, uint32_t daemon) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = TIDINGS_E_BUSY;
  call->moment = HOOK_SESSION_START;
  call->source = "resume";
  call->seen = NULL;
  uint32_t window = hook_window(cli, call, daemon);
  if (!call->moved) return false;
  interrupt_begin();
  for (int tries = TRIES; tries && code == TIDINGS_E_BUSY; tries--) {
    code = open_once(cli, call, window, &error);
    if (code == TIDINGS_E_BUSY) (void)interrupt_poll(NULL, 0, BUSY_MS);
  }
  if (code) hook_log("cannot wait: %s", error.text);
  else hook_wait_apart(cli, call, window);
  return true;
}

void hook_reload_watch(struct cli *cli, struct hook_call *call, uint32_t owner) {
  if (!hook_window_is_of(call->host, owner)) return;
  int closing = inotify_init1(IN_CLOEXEC), ending = (int)syscall(SYS_pidfd_open, (pid_t)owner, 0);
  bool watched = closing >= 0 && inotify_add_watch(closing, call->transcript, IN_CLOSE_WRITE) >= 0;
  if (watched && ending >= 0 && hook_fork_apart()) {
    if (is_opened_again(closing, ending, owner, call->transcript))
      (void)wait_in_window(cli, call, owner);
    _exit(EXIT_DONE);
  }
  if (closing >= 0) close(closing);
  if (ending >= 0) close(ending);
}

/* -- without a hook ---------------------------------------------------------------------------- */

/* *ret_left: the session is one of this agent's, and no process waits for it. Its owner may be a
 * living window that shows another session now. *ret_folder: where the session worked; free it;
 * NULL: that is not known. */
static int32_t ask_whether_left(const struct cli *cli, const struct hook_call *call, bool *ret_left,
                                char **ret_folder) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *kit = NULL;
  json_t *status = NULL;
  int32_t code = kit_open(cli, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  if (!code) code = hook_status(kit, call, &status, &error);
  const json_t *attachment = json_object_get(status, "attachment");
  uint32_t pid = (uint32_t)json_value_count(attachment, "pid");
  *ret_left = strcmp(json_value_text(attachment, "host"), call->host->title) == 0 &&
              (!json_is_true(json_object_get(attachment, "alive")) ||
               !hook_place_is_taken(cli, call->session, pid));
  const char *folder = json_value_text(attachment, "cwd");
  *ret_folder = folder[0] ? strdup(folder) : NULL;
  json_decref(status);
  kit_close(kit);
  return code;
}

/* The state of hook_reload_find. */
struct finder {
  struct cli *cli;
  const struct host *host;
  uint32_t daemon;
  uint64_t answered[MOST_ANSWERED]; /* hashes of the transcripts about which the store was asked */
  size_t answered_count;
};

static bool is_answered(const struct finder *finder, uint64_t transcript) {
  for (size_t i = 0; i < finder->answered_count; i++) {
    if (finder->answered[i] == transcript) return true;
  }
  return false;
}

/* The daemon starts this process in the folder of one session, but may load others at the same
 * time. If a window in the session's own folder shows no other session, it shows this one;
 * otherwise the session may have been resumed in this process's folder. */
static void wait_if_left(struct finder *finder, struct hook_call *call) {
  char *folder = NULL;
  uint64_t transcript = fnv_span(FNV_START, span_text(call->transcript));
  bool left = false;
  if (!call->known || is_answered(finder, transcript) || finder->answered_count == MOST_ANSWERED ||
      hook_window_is_loaded(finder->cli, call, finder->daemon))
    return;
  int32_t code = ask_whether_left(finder->cli, call, &left, &folder);
  if (left && folder && hook_window_is_free_in(finder->cli, call, finder->daemon, folder))
    call->cwd = folder;
  if (code != TIDINGS_E_BUSY) finder->answered[finder->answered_count++] = transcript;
  if (!code && (!left || !wait_in_window(finder->cli, call, finder->daemon)))
    hook_window_loaded(finder->cli, call, finder->daemon);
  free(folder);
}

/* `path`: a transcript that the daemon has opened. */
static void look_at_transcript(struct finder *finder, const char *path) {
  char folder[PATH_MAX];
  struct tidings_error error = {.size = sizeof error};
  struct hook_call call;
  const struct host *host = finder->host;
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  if (!slash || !dot || dot <= slash + 1 + host->session_at || !getcwd(folder, sizeof folder))
    return;
  const char *session = slash + 1 + host->session_at;
  json_t *input = json_pack("{s:s, s:s#, s:s, s:s}", "hook_event_name",
                            host_event(host, HOOK_SESSION_START), "session_id", session,
                            (int)(dot - session), "transcript_path", path, "cwd", folder);
  if (hook_call_take(host, input, &call, &error)) return;
  wait_if_left(finder, &call);
  hook_call_finish(&call);
}

static void look_at_transcripts(struct finder *finder) {
  char descriptors[32], path[PATH_MAX];
  struct stat link;
  (void)snprintf(descriptors, sizeof descriptors, "/proc/%u/fd", finder->daemon);
  DIR *all = opendir(descriptors);
  for (const struct dirent *entry; all && (entry = readdir(all));) {
    ssize_t len = readlinkat(dirfd(all), entry->d_name, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    if (len > 0 && fnmatch(finder->host->caller.transcript, path, 0) == 0 &&
        !fstatat(dirfd(all), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) && (link.st_mode & S_IWUSR))
      look_at_transcript(finder, path);
  }
  if (all) closedir(all);
}

void hook_reload_find(struct cli *cli, const struct host *host, uint32_t daemon) {
  struct finder finder = {.cli = cli, .host = host, .daemon = daemon};
  struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)daemon, 0), .events = POLLIN};
  if (ended.fd < 0) return;
  for (int left_ms = OPENS_MS; left_ms > 0; left_ms -= LOOK_MS) {
    look_at_transcripts(&finder);
    if (poll(&ended, 1, LOOK_MS)) break;
  }
  close(ended.fd);
}
