/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_owner.c: whether an owner is alive. If a living owner were taken for dead, its
 * notifications would be delivered twice, so a process counts as dead only if that is certain.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

TestSuite(owner, .init = kit_begin, .fini = kit_end);

static struct owner owner_of(uint32_t pid) {
  struct owner owner;
  cr_assert_eq(owner_of_process(pid, &owner), 0);
  return owner;
}

Test(owner, this_process_lives_and_is_itself) {
  struct owner self = owner_of(0), again = owner_of((uint32_t)getpid()),
               parent = owner_of((uint32_t)getppid());
  cr_assert_eq(self.pid, (uint32_t)getpid());
  cr_assert(owner_equal(&self, &again));
  cr_assert(owner_alive(&self));
  cr_assert(!owner_equal(&self, &parent));
  cr_assert(owner_alive(&parent));
}

Test(owner, nobody_is_not_alive) {
  struct owner nobody = {.pid = 0};
  cr_assert(!owner_alive(&nobody));
}

Test(owner, the_dead_and_the_zombies_are_not_alive) {
  struct child child = child_living();
  struct owner owner = owner_of((uint32_t)child.pid);
  siginfo_t info;
  cr_assert(owner_alive(&owner));
  cr_assert_eq(kill(child.pid, SIGSTOP), 0);
  cr_assert_eq(waitid(P_PID, (id_t)child.pid, &info, WSTOPPED | WNOWAIT), 0);
  cr_assert(owner_alive(&owner), "a stopped process lives");
  cr_assert_eq(kill(child.pid, SIGKILL), 0);
  cr_assert_eq(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
  cr_assert(!owner_alive(&owner), "a zombie");
  child_kill(&child);
  cr_assert(!owner_alive(&owner), "reaped");
  struct owner none;
  cr_assert_eq(owner_of_process((uint32_t)child.pid, &none), -1);
}

static bool main_thread_is_zombie(void) {
  char path[64], text[512] = "";
  (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  FILE *file = fopen(path, "re");
  if (!file) return false;
  (void)fgets(text, sizeof text, file);
  (void)fclose(file);
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[2] == 'Z';
}

static void *go_on_alone(void *context) {
  struct child *self = context;
  while (!main_thread_is_zombie()) (void)sched_yield();
  child_signal_test(self);
  child_await_test(self);
  _exit(0);
}

/* The remaining thread reads a copy, because the stack of the other one ends with it. */
static int end_main_thread(struct child *self, void *context) {
  static struct child kept;
  pthread_t other;
  (void)context;
  kept = *self;
  if (pthread_create(&other, NULL, go_on_alone, &kept)) return 1;
  pthread_exit(NULL);
}

Test(owner, a_process_whose_main_thread_has_ended_lives_while_others_run) {
  struct child child = child_start(end_main_thread, NULL);
  struct owner before = owner_of((uint32_t)child.pid);
  child_await(&child);
  struct owner owner = owner_of((uint32_t)child.pid);
  cr_assert(owner_equal(&before, &owner));
  cr_assert(owner_alive(&owner));
  child_kill(&child);
  cr_assert(!owner_alive(&owner));
}

Test(owner, another_start_time_boot_or_namespace_is_another_process) {
  struct owner self = owner_of(0), other = self;
  other.start_time++;
  cr_assert(!owner_alive(&other));
  cr_assert(!owner_equal(&self, &other));
  other = self;
  other.boot_id[15] ^= 1;
  cr_assert(!owner_alive(&other));
  cr_assert(!owner_equal(&self, &other));
  other = self;
  other.pid_namespace++;
  cr_assert(!owner_alive(&other));
  cr_assert(!owner_equal(&self, &other));
}

/* A process whose name looks like the end of the field. */
static int renamed(struct child *self, void *context) {
  (void)context;
  (void)pthread_setname_np(pthread_self(), ") Z 1 2 (");
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(owner, a_name_with_parentheses_misleads_nobody) {
  struct child child = child_start(renamed, NULL);
  struct owner before = owner_of((uint32_t)child.pid);
  child_await(&child);
  struct owner owner = owner_of((uint32_t)child.pid);
  cr_assert(owner_equal(&before, &owner));
  cr_assert(owner_alive(&owner));
  child_kill(&child);
}

/* Without free descriptors the process can learn nothing about other processes, so it must
 * declare nobody dead. */
Test(owner, without_descriptors_nobody_is_declared_dead) {
  struct owner self = owner_of(0);
  struct rlimit before, none;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  bool alive = owner_alive(&self);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
  cr_assert(alive);
}

/* The same in practice: another host has the session, and no descriptor is left. */
Test(owner, without_descriptors_no_session_is_taken_over) {
  struct child other = child_living();
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  push(plugin, "s", "one");
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct rlimit before, none;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  struct got got = tool_result(plugin, "s");
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
  cr_assert_eq(got.code, TIDINGS_E_OWNED, "%d %s", got.code, got.messages);
  plugin_end(plugin);
  child_kill(&other);
}

/* A tool's process that the host has just forked has all the host's descriptors until it runs its
 * program. */
Test(owner, a_forked_child_does_not_keep_a_closed_store) {
  plugin_end(plugin_at(kit_store, (struct plugin_words){0}));
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct child child = child_living();
  plugin_end(plugin);
  plugin_end(plugin_at(kit_store, (struct plugin_words){0}));
  child_kill(&child);
}
