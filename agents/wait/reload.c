/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/reload.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/turn/turns.h"
#include "agents/wait/apart.h"
#include "agents/wait/place.h"
#include "agents/wait/wait.h"
#include "agents/wait/window.h"
#include "command/interrupt.h"

/* The daemon closes the transcript once all hooks for the session's end have ended, which may take
 * seconds. It opens the transcript again within some hundredths of a second. */
enum { CLOSES_MS = 10000, OPENS_MS = 2000, LOOK_MS = 50, TRIES = 20, BUSY_MS = 100 };

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

/* `closing`: is readable when the transcript was closed; `ending`: when the daemon has ended. */
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

static void wait_in_window(struct cli *cli, struct hook_call *call, uint32_t daemon) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = TIDINGS_E_BUSY;
  call->moment = HOOK_SESSION_START;
  call->source = "resume";
  call->seen = NULL;
  uint32_t window = hook_window(cli, call, daemon);
  if (!call->moved) return;
  interrupt_begin();
  for (int tries = TRIES; tries && code == TIDINGS_E_BUSY; tries--) {
    code = open_once(cli, call, window, &error);
    if (code == TIDINGS_E_BUSY) (void)interrupt_poll(NULL, 0, BUSY_MS);
  }
  if (code) hook_log("cannot wait: %s", error.text);
  else hook_wait_stay(cli, call, window);
}

void hook_reload_watch(struct cli *cli, struct hook_call *call, uint32_t owner) {
  if (!hook_window_is_of(call, owner)) return;
  int closing = inotify_init1(IN_CLOEXEC), ending = (int)syscall(SYS_pidfd_open, (pid_t)owner, 0);
  bool watched = closing >= 0 && inotify_add_watch(closing, call->transcript, IN_CLOSE_WRITE) >= 0;
  if (watched && ending >= 0 && hook_fork_apart()) {
    if (is_opened_again(closing, ending, owner, call->transcript)) wait_in_window(cli, call, owner);
    _exit(EXIT_DONE);
  }
  if (closing >= 0) close(closing);
  if (ending >= 0) close(ending);
}
