/* SPDX-License-Identifier: MIT
 *
 * setup/change.c: see the header; the diff is in diff.c.
 */
#include "setup/change.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"

enum { LARGEST_FILE = 16 << 20 };

static int read_text(const struct cli *cli, const char *path, char **ret_text) {
  size_t len = 0;
  char *text = NULL;
  int reason = paths_read_file(path, LARGEST_FILE, &text, &len);
  if (reason == ENOENT) {
    *ret_text = NULL;
    return 0;
  }
  if (reason) return cli_fail(cli, "cannot read %s: %s", path, strerror(reason));
  if (strlen(text) != len) {
    free(text);
    return cli_fail(cli, "%s has a NUL byte in it; expected text", path);
  }
  *ret_text = text;
  return 0;
}

int change_begin(const struct cli *cli, char *path, struct change *ret_change) {
  struct change change = {.path = path};
  int code = path ? read_text(cli, path, &change.before) : cli_fail(cli, "out of memory");
  if (!code && change.before && !(change.after = strdup(change.before))) code = cli_fail(cli, "out of memory");
  if (code) change_finish(&change);
  else *ret_change = change;
  return code;
}

void change_finish(struct change *change) {
  free(change->path);
  free(change->before);
  free(change->after);
  *change = (struct change){.path = NULL};
}

bool change_is_none(const struct change *change) {
  if (!change->before || !change->after) return change->before == change->after;
  return strcmp(change->before, change->after) == 0;
}

/* -- writing ----------------------------------------------------------------------------------------------------------------------- */

/* Where the file really is: a link is followed, so that it stays one. */
static char *real_path(const char *path) {
  char *real = realpath(path, NULL);
  return real || errno != ENOENT ? real : strdup(path);
}

static int sync_folder(const char *path) {
  char *copy = strdup(path);
  int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  int reason = fd < 0 || fsync(fd) ? errno : 0;
  if (fd >= 0) close(fd);
  free(copy);
  return reason;
}

/* Whole under another name, then in one step. `mode` and the owner are those of the file that it replaces. */
static int write_file(const char *path, const char *text, const struct stat *like) {
  char *fresh = NULL;
  if (asprintf(&fresh, "%s.tidings-XXXXXX", path) < 0) return ENOMEM;
  int fd = mkostemp(fresh, O_CLOEXEC);
  int reason = fd < 0 ? errno : paths_write_all(fd, text, strlen(text));
  if (!reason && like && fchown(fd, like->st_uid, like->st_gid) && errno != EPERM) reason = errno;
  if (!reason && fchmod(fd, like ? like->st_mode & 07777 : 0644)) reason = errno;
  if (!reason && fsync(fd)) reason = errno;
  if (fd >= 0 && close(fd) && !reason) reason = errno;
  if (!reason && rename(fresh, path)) reason = errno;
  if (reason && fd >= 0) unlink(fresh);
  if (!reason) reason = sync_folder(path);
  free(fresh);
  return reason;
}

static int keep_old(const struct change *change, const char *real, const struct stat *like) {
  char *kept = NULL;
  if (asprintf(&kept, "%s.before-tidings", real) < 0) return ENOMEM;
  int reason = write_file(kept, change->before, like);
  free(kept);
  return reason;
}

static int make_folder_of(const char *path) {
  char *copy = strdup(path);
  int reason = copy ? paths_make_folders(dirname(copy)) : ENOMEM;
  free(copy);
  return reason;
}

static int write_change(const struct change *change, const char *real) {
  struct stat info;
  const struct stat *like = change->before && stat(real, &info) == 0 ? &info : NULL;
  int reason = change->before ? keep_old(change, real, like) : make_folder_of(real);
  if (reason) return reason;
  if (change->after) return write_file(real, change->after, like);
  return unlink(real) ? errno : sync_folder(real);
}

int change_write(const struct cli *cli, const struct change *change) {
  char *now = NULL, *real = NULL;
  if (!change->path || change_is_none(change)) return 0;
  int code = read_text(cli, change->path, &now);
  if (!code && (!now != !change->before || (now && strcmp(now, change->before) != 0)))
    code = cli_fail(cli, "%s was changed by somebody else just now; nothing was written to it, try again", change->path);
  if (!code && !(real = real_path(change->path))) code = cli_fail(cli, "cannot tell where %s is: %s", change->path, strerror(errno));
  int reason = code || !real ? 0 : write_change(change, real);
  if (reason) code = cli_fail(cli, "cannot write %s: %s", change->path, strerror(reason));
  free(now);
  free(real);
  return code;
}

int change_keep(const struct cli *cli, const struct change *change) {
  struct stat info;
  char *real = change->before ? real_path(change->path) : NULL;
  int reason = !change->before ? 0 : !real || stat(real, &info) ? errno : keep_old(change, real, &info);
  free(real);
  return reason ? cli_fail(cli, "cannot keep %s as it was: %s", change->path, strerror(reason)) : 0;
}
