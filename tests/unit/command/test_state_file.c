/* SPDX-License-Identifier: MIT
 *
 * test_state_file.c: tests who holds the lock beside a state file, and that a look at it takes the
 * lock from nobody.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/state_file.h"

static char folder[] = "/tmp/tidings-state-XXXXXX";
static char path[64];

static void make_folder(void) {
  cr_assert(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/one.lock", folder);
}

static void remove_folder(void) {
  (void)unlink(path);
  (void)rmdir(folder);
}

TestSuite(state_file, .init = make_folder, .fini = remove_folder);

Test(state_file, one_holds_it) {
  int first = -1, second = -1;
  cr_expect_not(state_file_is_held(path), "there is none");
  cr_assert_eq(state_file_hold(path, &first), 0);
  cr_expect(state_file_is_held(path));
  cr_expect_eq(state_file_hold(path, &second), EAGAIN);
  cr_expect_eq(second, -1);
  close(first);
  cr_expect_not(state_file_is_held(path), "it ended with its process");
  cr_assert_eq(state_file_hold(path, &second), 0);
  close(second);
}

static void look_often(void) {
  for (;;) (void)state_file_is_held(path);
}

Test(state_file, who_looks_is_in_nobodys_way) {
  pid_t looker = fork();
  cr_assert_geq(looker, 0);
  if (!looker) look_often();
  int refused = 0;
  for (int i = 0; i < 5000; i++) {
    int fd = -1;
    if (state_file_hold(path, &fd)) refused++;
    else close(fd);
  }
  kill(looker, SIGKILL);
  (void)waitpid(looker, NULL, 0);
  cr_expect_eq(refused, 0, "refused %d times", refused);
}

static void remove_often(void) {
  for (;;) (void)state_file_remove(path);
}

Test(state_file, a_lock_that_is_removed_at_that_moment_is_made_again) {
  pid_t cleaner = fork();
  cr_assert_geq(cleaner, 0);
  if (!cleaner) remove_often();
  int lost = 0;
  for (int i = 0; i < 5000; i++) {
    int fd = -1;
    if (state_file_hold(path, &fd)) continue;
    if (!state_file_is_held(path)) lost++;
    close(fd);
  }
  kill(cleaner, SIGKILL);
  (void)waitpid(cleaner, NULL, 0);
  cr_expect_eq(lost, 0, "%d locks have no file", lost);
}
