/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/directory.c: may a store be in this folder? It must be a real directory of this
 * user, closed to others, on a local file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"

/* Locks or shared mappings of these do not hold between machines. FUSE is let in: fuse-overlayfs in
 * containers is local. Some of the numbers are in linux/magic.h, which not every C library comes
 * with. */
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

/* mkdir -p, 0700 for what is made. datafile_create syncs their entries. */
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

int directory_open(const char *path, int *ret_fd, struct tidings_error *error) {
  int code = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 &&
      (errno == ENOENT || errno == ENOTDIR)) { /* or a parent is no folder: that says which */
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
    return fail(error, TIDINGS_E_STORE, "store folder %s cannot be opened: %s", path,
                strerror(errno));
  }
  code = check(path, fd, error);
  if (code) {
    close(fd);
    return code;
  }
  *ret_fd = fd;
  return 0;
}
