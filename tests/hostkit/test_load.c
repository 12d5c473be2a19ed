/* SPDX-License-Identifier: MIT
 *
 * test_load.c: tests where a sound plugin is loaded from, what hostkit knows about it, and that
 * unloading it leaves no trace.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kit.h"

int real_statvfs(const char *path, struct statvfs *ret_status) __asm__("__real_statvfs");
int statvfs_of_full_folder(const char *path, struct statvfs *ret_status) __asm__("__wrap_statvfs");

static const char *full_folder; /* the linker hands hostkit's calls of statvfs to this program */

int statvfs_of_full_folder(const char *path, struct statvfs *ret_status) {
  int failed = real_statvfs(path, ret_status);
  if (full_folder && strcmp(path, full_folder) == 0) ret_status->f_bavail = 0;
  return failed;
}

Test(load, tells_what_it_loaded) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct hostkit_info info = {.size = sizeof info};
  cr_assert_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
  cr_expect_str_eq(info.name, "good");
  cr_expect_str_eq(info.version, "1.2.3");
  cr_expect_str_eq(info.build_id, "A");
  cr_expect_eq(info.generation, 1);
  cr_expect_eq(info.abi_major, TIDINGS_ABI_MAJOR);
  cr_expect_eq(info.abi_minor, TIDINGS_ABI_MINOR);
  cr_expect_eq(info.has_query, 1);
  cr_expect_eq(info.has_wake, 1);
  cr_expect_eq(hostkit_info(hostkit, NULL), TIDINGS_E_INVAL);
  info.size = 0;
  cr_expect_eq(hostkit_info(hostkit, &info), TIDINGS_E_INVAL);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* An older host's struct is filled as far as it goes. */
Test(load, fills_a_short_info) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct hostkit_info info;
  memset(&info, 0x55, sizeof info);
  info.size = offsetof(struct hostkit_info, name);
  cr_assert_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
  cr_expect_eq(info.generation, 1);
  cr_expect_eq(info.size, offsetof(struct hostkit_info, name));
  cr_expect_eq(info.name[0], 0x55);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(load, is_unmapped_after_close) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags &= ~HOSTKIT_KEEP_MAPPED;
  for (int i = 0; i < 3; i++) {
    struct hostkit *hostkit = kit_open(&kit, "good_a");
    cr_assert(kit_is_mapped("/good_a.so"), "the private copy keeps the base name");
    cr_assert(!kit_is_mapped("/tests/plugins/good_a.so"), "the original is not mapped");
    cr_assert_eq(kit_count_entries(kit.copies), 0,
                 "the copy has no name any more once it is loaded");
    cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
    cr_assert(!kit_is_mapped("/good_a.so"));
  }
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
  cr_assert_null(kit_finish(&kit));
}

Test(load, warns_of_an_image_that_stays) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags &= ~HOSTKIT_KEEP_MAPPED;
  struct hostkit *hostkit = kit_open(&kit, "good_nodelete");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit.warnings, 1);
  cr_expect_not_null(
      strstr(kit.last_warning, "good_nodelete.so is still mapped after it was unloaded"), "%s",
      kit.last_warning);
  cr_assert_null(kit_finish(&kit));
}

Test(load, keeps_it_mapped_when_told) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags |= HOSTKIT_KEEP_MAPPED;
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect(kit_is_mapped("/good_a.so"));
  cr_expect_eq(kit.warnings, 0);
  cr_assert_null(kit_finish(&kit));
}

/* The file may be overwritten in place under a running host. */
Test(load, does_not_use_the_file_itself) {
  struct kit kit;
  kit_init(&kit);
  kit_build_own(&kit, "good_a");
  struct hostkit *hostkit = NULL;
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
  cr_assert_eq(truncate(kit.plugin, 0), 0);
  cr_expect_eq(kit_event(hostkit, "hello", NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A event hello"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* Commands load like this: nothing is written to a folder, and yet the file may be overwritten. */
Test(load, a_copy_in_memory) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags = HOSTKIT_NO_PROBE | HOSTKIT_COPY_IN_MEMORY;
  kit.options.copy_dir = "/nowhere";
  kit_build_own(&kit, "good_a");
  struct hostkit *hostkit = NULL;
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
  cr_expect(kit_is_mapped("/memfd:tidings.so"));
  cr_assert_eq(truncate(kit.plugin, 0), 0);
  cr_expect_eq(kit_event(hostkit, "hello", NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A event hello"), 1);
  kit_build_own(&kit, "good_b");
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit_event(hostkit, "again", NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "B event again"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect(!kit_is_mapped("/memfd:tidings.so"));
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
  cr_assert_null(kit_finish(&kit));
}

/* The plugin is only quiesced, and keeps everything that close would free. */
Test(load, what_is_left_to_the_exit) {
  static struct hostkit *hostkit; /* a leak checker finds it here */
  struct hostkit *other = NULL;
  struct kit kit;
  kit_init(&kit);
  kit.options.flags = HOSTKIT_NO_PROBE | HOSTKIT_COPY_IN_MEMORY | HOSTKIT_LEAVE_TO_EXIT;
  kit_build_own(&kit, "good_a");
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
  kit_build_own(&kit, "good_b");
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, NULL), TIDINGS_OK, "a swap closes the old one");
  cr_assert_eq(kit_event(hostkit, "keep", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_E_BUSY);
  cr_assert_eq(kit_event(hostkit, "give back", NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_expect(kit_is_mapped("/memfd:tidings.so"));
  cr_expect_eq(hostkit_open(&kit.options, &other, NULL), TIDINGS_E_STORE,
               "it has the store's lock");
  cr_expect_eq(kit.warnings, 0, "%s", kit.last_warning);
}

/* A plugin older than 1.2 does not allow a host to leave it quiesced. */
Test(load, nothing_of_an_older_plugin_is_left_to_the_exit) {
  struct hostkit *hostkit = NULL;
  struct kit kit;
  kit_init(&kit);
  kit.options.flags = HOSTKIT_NO_PROBE | HOSTKIT_COPY_IN_MEMORY | HOSTKIT_LEAVE_TO_EXIT;
  for (int round = 0; round < 2; round++) {
    kit_build_own(&kit, "good_older");
    cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK, "the store is free");
    cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
    cr_expect(!kit_is_mapped("/memfd:tidings.so"));
  }
  cr_assert_null(kit_finish(&kit));
}

/* The next copy gets the same descriptor as the copy of an image that stays mapped. It must have
 * another path nevertheless, because otherwise the loader would take it for the first copy. */
Test(load, copies_in_memory_of_images_that_stay) {
  static const char *const builds[] = {"good_b", "good_newer", "good_a"};
  static const char *const ids[] = {"B", "newer", "A"};
  struct kit kit;
  kit_init(&kit);
  kit.options.flags = HOSTKIT_NO_PROBE | HOSTKIT_COPY_IN_MEMORY | HOSTKIT_KEEP_MAPPED;
  kit_build_own(&kit, "good_a");
  for (int round = 0; round < 2; round++) {
    struct hostkit *hostkit = NULL;
    cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
    for (size_t i = 0; i < sizeof builds / sizeof builds[0]; i++) {
      struct hostkit_info info = {.size = sizeof info};
      kit_build_own(&kit, builds[i]);
      cr_assert_eq(hostkit_swap(hostkit, NULL, 0, NULL), TIDINGS_OK);
      cr_assert_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
      cr_expect_str_eq(info.build_id, ids[i]);
    }
    cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  }
  cr_expect(kit_is_mapped("/memfd:tidings.so"));
  cr_assert_null(kit_finish(&kit));
}

/* Two plugins are loaded from one file at once; each has its own image. */
Test(load, twice_in_a_process) {
  struct kit kit;
  char other[128];
  kit_init(&kit);
  struct hostkit *first = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *second = NULL;
  cr_expect_eq(hostkit_open(&kit.options, &second, &error), TIDINGS_E_STORE);
  cr_expect_str_eq(error.text, "the store is open in this process already");
  (void)snprintf(other, sizeof other, "%s/other", kit.root);
  kit.options.store_dir = other;
  cr_assert_eq(hostkit_open(&kit.options, &second, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_eq(hostkit_close(first, 0, NULL), TIDINGS_OK);
  cr_expect_eq(kit_event(second, "alive", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_close(second, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(load, a_later_minor) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_newer");
  struct hostkit_info info = {.size = sizeof info};
  cr_assert_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
  cr_expect_eq(info.abi_minor, TIDINGS_ABI_MINOR + 7);
  struct tidings_tool_result result = {.size = sizeof result, .session = kit_span("full")};
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_tool_result(hostkit, &result, &reply, NULL), TIDINGS_OK);
  cr_expect_eq(reply->size, sizeof *reply, "the copy has the size that this side knows");
  cr_expect_eq(reply->wake_at_ms, 56);
  hostkit_reply_free(reply);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(load, with_the_systems_clocks_when_there_is_no_host) {
  struct kit kit;
  kit_init(&kit);
  kit.options.host = NULL;
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* A host that changes its working directory finds plugin and store again, and TIDINGS_HOSTKIT_PROBE
 * names the probe. */
Test(load, relative_paths) {
  struct kit kit;
  kit_init(&kit);
  kit_build_own(&kit, "good_a");
  cr_assert_eq(chdir(kit.root), 0);
  kit.options.plugin_path = "own.so";
  kit.options.store_dir = "store";
  kit.options.copy_dir = "copies";
  kit.options.probe_path = NULL;
  setenv("TIDINGS_HOSTKIT_PROBE", kit.probe, 1);
  struct hostkit *hostkit = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, &error), TIDINGS_OK, "%s", error.text);
  cr_assert_eq(chdir("/"), 0);
  cr_expect_eq(hostkit_swap(hostkit, NULL, 0, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_eq(kit_event(hostkit, "hello", NULL), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "A event hello"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* Without copy_dir the first usable of three places is taken. */
Test(load, looks_for_a_place_for_its_copies) {
  struct kit kit;
  kit_init(&kit);
  kit_plugin(&kit, "open_fails");
  kit.options.copy_dir = NULL;
  setenv("XDG_RUNTIME_DIR", "/proc", 1); /* noexec */
  setenv("TMPDIR", kit.copies, 1);
  cr_assert_eq(chmod(kit.copies, 0700), 0);
  struct hostkit *hostkit = NULL;
  kit_plugin(&kit, "good_a");
  kit.options.flags |= HOSTKIT_KEEP_MAPPED;
  cr_assert_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_OK);
  cr_expect(kit_is_mapped("/copies/tidings-"));
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* A user's XDG_RUNTIME_DIR is small, and other programs fill it. */
Test(load, avoids_a_full_folder_unless_it_is_the_only_one) {
  struct kit kit;
  kit_init(&kit);
  char full[sizeof kit.root + 8];
  (void)snprintf(full, sizeof full, "%s/full", kit.root);
  cr_assert_eq(mkdir(full, 0700), 0);
  full_folder = full;
  kit.options.copy_dir = NULL;
  kit.options.flags |= HOSTKIT_KEEP_MAPPED;
  setenv("XDG_RUNTIME_DIR", full, 1);
  setenv("TMPDIR", kit.copies, 1);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  cr_expect(kit_is_mapped("/copies/tidings-"));
  cr_expect(!kit_is_mapped("/full/tidings-"));
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  kit.options.copy_dir = full;
  hostkit = kit_open(&kit, "good_a");
  cr_expect(kit_is_mapped("/full/tidings-"));
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  full_folder = NULL;
  cr_assert_null(kit_finish(&kit));
}

/* The probed plugin gets none of the host's open files and no terminal, even if the host has no
 * descriptors 0 to 2. */
Test(load, without_standard_descriptors) {
  struct kit kit;
  kit_init(&kit);
  int kept[3];
  for (int fd = 0; fd < 3; fd++) {
    kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    close(fd);
  }
  struct hostkit *hostkit = NULL;
  kit_plugin(&kit, "good_a");
  int32_t code = hostkit_open(&kit.options, &hostkit, NULL);
  int32_t closed = hostkit_close(hostkit, 0, NULL);
  for (int fd = 0; fd < 3; fd++) {
    cr_assert_eq(dup2(kept[fd], fd), fd);
    close(kept[fd]);
  }
  cr_assert_eq(code, TIDINGS_OK);
  cr_assert_eq(closed, TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(close, of_nothing) { cr_assert_eq(hostkit_close(NULL, 0, NULL), TIDINGS_OK); }

static void *wait_in_a_call(void *hostkit) {
  cr_expect_eq(kit_event(hostkit, "wait", NULL), TIDINGS_OK);
  return NULL;
}

Test(close, waits_for_calls_and_says_how_many_there_are) {
  struct kit kit;
  pthread_t thread;
  kit_init(&kit);
  kit_make_gate(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  thread = kit_start(wait_in_a_call, hostkit);
  int gate = kit_hold_gate(&kit);
  cr_expect_eq(hostkit_close(hostkit, 20, &error), TIDINGS_E_BUSY);
  cr_expect_str_eq(error.text, "1 call was still under way after 20 ms");
  cr_expect_eq(kit_event(hostkit, "still open", NULL), TIDINGS_OK,
               "on BUSY everything is as it was");
  close(gate);
  cr_expect_eq(hostkit_close(hostkit, 60000, &error), TIDINGS_OK, "%s", error.text);
  pthread_join(thread, NULL);
  cr_assert_null(kit_finish(&kit));
}

Test(close, passes_on_why_the_plugin_refuses) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(kit_event(hostkit, "keep", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_close(hostkit, 0, &error), TIDINGS_E_BUSY);
  cr_expect_str_eq(error.text, "1 reply is out");
  cr_expect_eq(kit_event(hostkit, "give back", NULL), TIDINGS_OK);
  cr_expect_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}
