/* SPDX-License-Identifier: MIT
 *
 * open/refusals.c: tests places that cannot be a store, and stores that are already in use.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "open/parts.h"

enum { SOMEBODY = 65534 };

/* Checks that opening is refused with STORE, in a sentence that contains `word`. */
static void refused(struct rig *rig, const char *store, const char *what, const char *word) {
  struct tidings_error error = RIG_ERROR;
  int32_t code = rig_open(rig, &(struct rig_open){.store = store}, &error);
  if (code != TIDINGS_E_STORE) fail("%s: %s", what, rig_why(code, &error));
  else if (!strcasestr(error.text, word))
    fail("%s: the sentence lacks \"%s\": %s", what, word, error.text);
  else printf("%s: %s\n", what, error.text);
  if (code == 0) (void)rig_close(rig, &error);
}

static void make(const char *path, mode_t mode) {
  if (mkdir(path, 0700) != 0 || chmod(path, mode) != 0) die("%s: %s", path, strerror(errno));
}

static void refuse_shapes(struct rig *rig, const char *folder) {
  char path[FOLDER_PATH_MAX], target[FOLDER_PATH_MAX], data[FOLDER_PATH_MAX],
      moved[FOLDER_PATH_MAX];
  folder_join(target, folder, "target");
  fill_store(rig, target);

  folder_join(path, folder, "link");
  if (symlink(target, path) != 0) die("symlink: %s", strerror(errno));
  refused(rig, path, "a symbolic link", "symbolic link");

  folder_join(path, folder, "file");
  file_write(path, "x", 1);
  refused(rig, path, "a file", "not a folder");

  folder_join(path, folder, "file/below");
  refused(rig, path, "below a file", "Not a directory");

  folder_join(path, folder, "group");
  make(path, 0770);
  refused(rig, path, "a group-writable folder", "chmod 700");
  if (chmod(path, 0705) != 0) die("chmod");
  refused(rig, path, "a folder that all can read", "chmod 700");

  folder_join(data, target, "data.mdb");
  folder_join(moved, folder, "elsewhere.mdb");
  if (rename(data, moved) != 0 || symlink(moved, data) != 0) die("%s: %s", data, strerror(errno));
  refused(rig, target, "a symbolic link as data.mdb", "data.mdb");
  if (unlink(data) != 0 || mkdir(data, 0700) != 0) die("%s: %s", data, strerror(errno));
  refused(rig, target, "a folder as data.mdb", "data.mdb");
}

static void as_somebody(struct rig *rig, const char *folder) {
  char path[FOLDER_PATH_MAX], made[FOLDER_PATH_MAX];
  if (setgid(SOMEBODY) != 0 || setuid(SOMEBODY) != 0) die("setuid: %s", strerror(errno));
  folder_join(path, folder, "somebody");
  folder_join(made, path, "unreadable");
  make(made, 0000);
  refused(rig, made, "a folder that may not be read", "ermission");
  folder_join(made, path, "read-only");
  make(made, 0500);
  refused(rig, made, "a new store in a read-only folder", "ermission");
  folder_join(made, path, "read-only/below");
  refused(rig, made, "a new folder in a read-only one", "ermission");
  exit(failures() ? 1 : 0);
}

static void read_only_mount(struct rig *rig, const char *folder) {
  char store[FOLDER_PATH_MAX];
  folder_join(store, folder, "mounted");
  fill_store(rig, store);
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount(store, store, NULL, MS_BIND, NULL) != 0 ||
      mount("none", store, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0) {
    printf("skipped: no right to mount (%s)\n", strerror(errno));
    exit(0);
  }
  refused(rig, store, "a store on a read-only file system", "ead-only");
  exit(failures() ? 1 : 0);
}

static void in_child(struct rig *rig, const char *folder, void (*body)(struct rig *, const char *),
                     const char *what) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child == 0) {
    body(rig, folder);
    exit(failures() ? 1 : 0);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    fail("%s: status 0x%x", what, (unsigned)status);
}

void part_refusals(const struct arguments *arguments, const char *folder) {
  static struct rig rig;
  char path[FOLDER_PATH_MAX];
  rig_load(&rig, arguments->plugin);
  refuse_shapes(&rig, folder);
  if (geteuid() != 0) {
    printf("skipped: folders of other users need root\n");
    rig_unload(&rig);
    return;
  }
  folder_join(path, folder, "theirs");
  make(path, 0700);
  if (chown(path, SOMEBODY, SOMEBODY) != 0) die("chown: %s", strerror(errno));
  refused(&rig, path, "somebody else's folder", "belongs to");
  folder_join(path, folder, "somebody");
  make(path, 0700);
  if (chown(path, SOMEBODY, SOMEBODY) != 0 || chmod(folder, 0711) != 0)
    die("chown: %s", strerror(errno));
  in_child(&rig, folder, as_somebody, "as another user");
  in_child(&rig, folder, read_only_mount, "a read-only mount");
  rig_unload(&rig);
}

/* -- already open ------------------------------------------------------------------------------ */

static void refused_as_open(struct rig *rig, const char *store, const char *what) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_plugin *first = rig->plugin;
  int32_t code = rig_open(rig, &(struct rig_open){.store = store}, &error);
  if (code != TIDINGS_E_STORE || !strcasestr(error.text, "open"))
    fail("%s: %s", what, rig_why(code, &error));
  else printf("%s: %s\n", what, error.text);
  rig->plugin = first;
}

void part_twice(const struct arguments *arguments, const char *folder) {
  static struct rig rig, copy, other;
  char store[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX], image[FOLDER_PATH_MAX];
  struct tidings_error error = RIG_ERROR;
  size_t length;
  folder_join(store, folder, "twice");
  folder_join(image, folder, "copy.so");
  uint8_t *bytes = file_read(arguments->plugin, &length);
  file_write(image, bytes, length);
  free(bytes);
  rig_load(&rig, arguments->plugin);
  rig_load(&other, arguments->plugin);
  rig_load(&copy, image);
  if (copy.entry == rig.entry) die("the copy of the image is not a copy");
  fill_store(&rig, store);
  if (rig_open(&rig, &(struct rig_open){.store = store}, &error) != 0) die("open: %s", error.text);

  refused_as_open(&other, store, "a second time");
  folder_join(path, folder, "twice/");
  refused_as_open(&other, path, "a second time, with a slash");
  folder_join(path, folder, "way");
  if (symlink(folder, path) != 0) die("symlink: %s", strerror(errno));
  folder_join(path, folder, "way/twice");
  refused_as_open(&other, path, "a second time, by another way");
  refused_as_open(&copy, store, "by another copy of the plugin");

  /* Checks that the refusals have not released the first user's locks. */
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    struct rig late = {0};
    rig_load(&late, image);
    int32_t code =
        rig_open(&late, &(struct rig_open){.store = store, .role = TIDINGS_ROLE_PRODUCER}, &error);
    if (code == 0) code = rig_push(&late, "s1", 1, true, NULL, &error);
    if (code != 0) fail("another process meanwhile: %s", rig_why(code, &error));
    _exit(failures() ? 1 : 0);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    fail("another process meanwhile: status 0x%x", (unsigned)status);
  if (rig_push(&rig, "s2", 2, true, NULL, &error) != 0)
    fail("the first instance afterwards: %s", error.text);
  if (rig_close(&rig, &error) != 0) fail("close: %s", error.text);

  expect_whole(&copy, store, "the copy, after the first was closed");
  rig_unload(&rig);
  rig_unload(&other);
  rig_unload(&copy);
}
