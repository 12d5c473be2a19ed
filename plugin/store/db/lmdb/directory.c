/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/directory.c: may a store be in this folder? It must be a real directory of this
 * user, closed to others, on a local file system.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"

/* Locks or shared mappings do not work between machines on these file systems. FUSE is allowed,
 * because fuse-overlayfs in containers is local. Some of the numbers are in linux/magic.h, which
 * not every system has. */
bool directory_is_remote(uint64_t file_system) {
  static const uint32_t remote[] = {
      0x6969 /* nfs */,      0x517b /* smb */,        0xff534d42 /* cifs */,
      0xfe534d42 /* smb2 */, 0x5346414f /* afs */,    0x6b414653 /* kafs */,
      0x01021997 /* 9p */,   0x73757245 /* coda */,   0x00c36400 /* ceph */,
      0x01161970 /* gfs2 */, 0x0bd00bd0 /* lustre */, 0x7461636f /* ocfs2 */,
      0x564c /* ncp */,      0x19830326 /* beegfs */, 0x47504653 /* gpfs */,
  };
  for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
    if ((uint32_t)file_system == remote[i]) return true;
  }
  return false;
}

/* Makes the directory and its parents, with mode 0700. datafile_create syncs their entries. */
static int make_directories(const char *path, struct tidings_error *error) {
  char *copy = strdup(path);
  int code = 0;
  if (!copy) return fail(error, TIDINGS_E_NOMEM, "no memory for the path of the store");
  for (char *end = copy; *end && !code;) {
    end++;
    end += strcspn(end, "/");
    char was = *end;
    *end = '\0';
    if (mkdir(copy, 0700) && errno != EEXIST) {
      code = fail(error, TIDINGS_E_STORE,
                  "store folder %s: %s cannot be made: %s; make it, or name another folder", path,
                  copy, strerror(errno));
    }
    *end = was;
  }
  free(copy);
  return code;
}

/* Is this a name of a store's file? No store is made in a folder with other files, which was
 * probably named by mistake. Another process may have made data.mdb since the folder was looked
 * at. */
static bool is_of_a_store(const char *name) {
  static const char *const names[] = {".",        "..",         "creating",  "data.mdb",
                                      "lock.mdb", "shared",     "checked",   "logs",
                                      "waiting",  "lost+found", "unfinished"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return strncmp(name, "wake.", 5) == 0;
}

static int check_other_files(const char *path, int fd, struct tidings_error *error) {
  struct stat entry;
  if (fstatat(fd, "data.mdb", &entry, AT_SYMLINK_NOFOLLOW) == 0) return 0;
  int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = again < 0 ? NULL : fdopendir(again);
  if (!folder) {
    int reason = errno;
    if (again >= 0) close(again);
    return fail(error, TIDINGS_E_STORE, "store folder %s cannot be read: %s", path,
                strerror(reason));
  }
  const struct dirent *other = readdir(folder);
  while (other && is_of_a_store(other->d_name)) other = readdir(folder);
  int code = other ? fail(error, TIDINGS_E_STORE,
                          "store folder %s has no store but other files, such as %s; name an empty "
                          "folder, or one that does not exist yet",
                          path, quote(span_text(other->d_name)).text)
                   : 0;
  (void)closedir(folder);
  return code;
}

static int check(const char *path, int fd, struct tidings_error *error) {
  struct stat entry;
  struct statfs file_system;
  if (fstat(fd, &entry) || fstatfs(fd, &file_system))
    return fail(error, TIDINGS_E_STORE, "store folder %s: %s", path, strerror(errno));
  if (entry.st_uid != geteuid()) {
    return fail(error, TIDINGS_E_STORE,
                "store folder %s belongs to user %u, not to you (%u); name a folder of your own",
                path, entry.st_uid, geteuid());
  }
  int code = check_other_files(path, fd, error);
  if (code) return code;
  if (entry.st_mode & 077) {
    return fail(error, TIDINGS_E_STORE,
                "store folder %s is open to others (mode %04o); name a folder of your own, or run: "
                "chmod 700 %s",
                path, entry.st_mode & 07777, path);
  }
  if (directory_is_remote((uint64_t)file_system.f_type)) {
    return fail(error, TIDINGS_E_STORE,
                "store folder %s is on a network file system (type 0x%lx), where locks do not "
                "hold; name a folder on a local disk",
                path, (unsigned long)file_system.f_type);
  }
  return 0;
}

static int directory_refused(const char *path, int reason, struct tidings_error *error) {
  struct stat entry;
  if (reason != EACCES)
    return fail(error, TIDINGS_E_STORE, "store folder %s cannot be opened: %s", path,
                strerror(reason));
  if (lstat(path, &entry))
    return fail(error, TIDINGS_E_STORE,
                "store folder %s cannot be opened: you may not enter a folder above it; name a "
                "folder of your own",
                path);
  if (entry.st_uid != geteuid())
    return fail(error, TIDINGS_E_STORE,
                "store folder %s cannot be opened: it belongs to user %u, not to you (%u); name a "
                "folder of your own",
                path, entry.st_uid, geteuid());
  return fail(error, TIDINGS_E_STORE,
              "store folder %s cannot be opened: %s (mode %04o); run: chmod 700 %s", path,
              strerror(reason), entry.st_mode & 07777, path);
}

int directory_file_refused(const char *directory, const char *name, int reason,
                           struct tidings_error *error) {
  if (reason == ELOOP)
    return fail(error, TIDINGS_E_STORE,
                "store %s: %s is a symbolic link; put the file itself in its place", directory,
                name);
  const char *remedy = reason == EACCES || reason == EPERM || reason == EROFS
                           ? "; make the folder and its files yours and writable, or name another "
                             "folder"
                           : "";
  return fail(error, TIDINGS_E_STORE, "store %s: %s cannot be opened: %s%s", directory, name,
              strerror(reason), remedy);
}

int directory_open(const char *path, int *ret_fd, struct tidings_error *error) {
  int code = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 &&
      (errno == ENOENT || errno == ENOTDIR)) { /* if a parent is no folder, this names it */
    code = make_directories(path, error);
    if (code) return code;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  if (fd < 0) {
    struct stat entry;
    if ((errno == ELOOP || errno == ENOTDIR) && lstat(path, &entry) == 0 &&
        S_ISLNK(entry.st_mode)) {
      return fail(error, TIDINGS_E_STORE,
                  "store folder %s is a symbolic link; name the folder that it points to", path);
    }
    if (errno == ENOTDIR)
      return fail(error, TIDINGS_E_STORE,
                  "store folder %s is not a folder; name another, or move that file away", path);
    return directory_refused(path, errno, error);
  }
  code = check(path, fd, error);
  if (code) {
    close(fd);
    return code;
  }
  *ret_fd = fd;
  return 0;
}
