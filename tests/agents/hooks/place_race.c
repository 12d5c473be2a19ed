/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/place_race.c: after a process has opened a waiting place, and before it locks
 * it, another process removes the place, or makes it again. The linker replaces flock by
 * __wrap_flock, so that this happens each time.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/wait/place.h"
#include "tests/agents/hooks/race.h"

enum { NO_PROCESS = INT_MAX }; /* Linux gives out no such pid */

static const struct cli cli = {.store = "/store"};
static const struct hook_call call = {.session = "s"};

static char folder[4096], mine[4200], left[4200];
static uint32_t self;

/* The act of another process, once, just before the place of this name is locked. */
static const char *watched;
static void (*meanwhile)(const char *path);
static int of_another = -1; /* the place that another process has locked */

static bool is_at(int fd, const char *path) {
  struct stat opened, named;
  return !fstat(fd, &opened) && !lstat(path, &named) && opened.st_ino == named.st_ino;
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation) {
  if (meanwhile && is_at(fd, watched)) {
    void (*act)(const char *path) = meanwhile;
    meanwhile = NULL;
    act(watched);
  }
  return __real_flock(fd, operation);
}

static void make(const char *path) { MUST(mkfifo(path, 0600) == 0); }

static void take_away(const char *path) { MUST(unlink(path) == 0); }

static void make_anew(const char *path) {
  take_away(path);
  make(path);
}

static void make_anew_and_lock(const char *path) {
  make_anew(path);
  of_another = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  MUST(of_another >= 0 && __real_flock(of_another, LOCK_EX | LOCK_NB) == 0);
}

static void lock_and_take_away(const char *path) {
  of_another = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  MUST(of_another >= 0 && __real_flock(of_another, LOCK_EX | LOCK_NB) == 0);
  take_away(path);
}

static int take_while(const char *path, void (*act)(const char *path)) {
  watched = path;
  meanwhile = act;
  int fd = hook_place_take(&cli, &call, self, 'l');
  MUST(!meanwhile);
  return fd;
}

static void find_mine(void) {
  int fd = hook_place_take(&cli, &call, self, 'l');
  DIR *places = opendir(folder);
  MUST(fd >= 0 && places);
  for (const struct dirent *entry; (entry = readdir(places));)
    if (entry->d_name[0] != '.')
      (void)snprintf(mine, sizeof mine, "%.40s/%.60s", folder, entry->d_name);
  closedir(places);
  MUST(is_at(fd, mine));
  hook_place_leave(&cli, &call, self, fd);
  MUST(access(mine, F_OK));
}

static void take_what_another_has_left(void) {
  int fd = take_while(mine, take_away);
  MUST(fd >= 0 && is_at(fd, mine));
  hook_place_leave(&cli, &call, self, fd);
  fd = take_while(mine, make_anew);
  MUST(fd >= 0 && is_at(fd, mine));
  hook_place_leave(&cli, &call, self, fd);
  printf("ok 1 - a place that is removed, or made anew, just before it is locked\n");
}

static void take_what_another_has(void) {
  MUST(take_while(mine, make_anew_and_lock) < 0);
  MUST(is_at(of_another, mine));
  MUST(hook_place_hear(of_another) == 'l' && !hook_place_hear(of_another));
  hook_place_say(&cli, &call, self, 'v');
  hook_place_say(&cli, &call, self, 'w');
  MUST(hook_place_hear(of_another) == 'w' && !hook_place_hear(of_another));
  hook_place_say(&cli, &call, self, 'x');
  MUST(hook_place_leave(&cli, &call, self, of_another) == 'x');
  printf("ok 2 - one that another process has made anew and locked stays its own\n");
}

static void take_what_another_leaves(void) {
  make(mine);
  int fd = take_while(mine, lock_and_take_away);
  MUST(fd >= 0 && is_at(fd, mine));
  close(of_another);
  MUST(!hook_place_leave(&cli, &call, self, fd) && access(mine, F_OK));
  printf("ok 3 - one that another process has left when it is said a word is taken\n");
}

static void remove_what_is_left(void) {
  make(left);
  int fd = take_while(left, make_anew);
  MUST(fd >= 0 && access(left, F_OK) == 0);
  hook_place_leave(&cli, &call, self, fd);
  fd = hook_place_take(&cli, &call, self, 'l');
  MUST(fd >= 0 && access(left, F_OK));
  hook_place_leave(&cli, &call, self, fd);
  printf("ok 4 - the place of an agent that has ended is removed, unless it was made anew\n");
}

int main(void) {
  self = (uint32_t)getpid();
  race_make_folder("place-race");
  MUST(setenv("XDG_STATE_HOME", race_folder, 1) == 0);
  (void)snprintf(folder, sizeof folder, "%s/tidings/waiting", race_folder);
  (void)snprintf(left, sizeof left, "%s/%d-0123456789abcdef", folder, NO_PROCESS);
  find_mine();
  take_what_another_has_left();
  take_what_another_has();
  take_what_another_leaves();
  remove_what_is_left();
  printf("1..4\n");
  return 0;
}
