/* SPDX-License-Identifier: MIT
 *
 * agents/setup/change.c: plans and makes changes; diff.c prints them.
 */
#include "agents/setup/change.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/paths.h"
#include "common/file.h"

/* Is the text empty, or an empty object? */
static bool is_empty(const char *text) { return !text[strspn(text, " \t\r\n{}")]; }

static bool is_link(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static int read_text(const struct cli *cli, const char *path, char **ret_text) {
  size_t len = 0;
  char *text = NULL;
  int reason = file_read_whole(path, SETUP_LARGEST_FILE, &text, &len);
  if (reason == ENOENT) {
    if (is_link(path))
      return cli_fail(cli,
                      "%s is a symbolic link to a file that does not exist; create the "
                      "file, or remove the link",
                      path);
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
  if (!code && change.before && !(change.after = strdup(change.before)))
    code = cli_fail(cli, "out of memory");
  if (code) change_finish(&change);
  else *ret_change = change;
  return code;
}

void change_finish(struct change *change) {
  free(change->path);
  free(change->before);
  free(change->after);
  free(change->saved_rest);
  *change = (struct change){.path = NULL};
}

bool change_is_none(const struct change *change) {
  if (!change->before || !change->after) return change->before == change->after;
  return strcmp(change->before, change->after) == 0;
}

/* -- removing ---------------------------------------------------------------------------------- */

/* Returns the file's real path. A link is followed, so that it stays a link. */
static char *real_path(const char *path) {
  char *real = realpath(path, NULL);
  return real || errno != ENOENT ? real : strdup(path);
}

static char *copy_path(const char *real) {
  char *copy = NULL;
  return asprintf(&copy, "%s.before-tidings", real) < 0 ? NULL : copy;
}

char *change_saved(const struct change *change) {
  char *real = real_path(change->path), *copy = real ? copy_path(real) : NULL, *text = NULL;
  size_t len = 0;
  if (copy && file_read_whole(copy, SETUP_LARGEST_FILE, &text, &len)) text = NULL;
  free(real);
  free(copy);
  return text;
}

static size_t without_last_line_ends(const char *text) {
  size_t len = strlen(text);
  while (len && strchr("\r\n", text[len - 1])) len--;
  return len;
}

static bool alike(const char *one, const char *other) {
  const char *one_end = one + without_last_line_ends(one),
             *other_end = other + without_last_line_ends(other);
  for (;;) {
    while (one < one_end && *one == '\r') one++;
    while (other < other_end && *other == '\r') other++;
    if (one == one_end || other == other_end) return one == one_end && other == other_end;
    if (*one++ != *other++) return false;
  }
}

int change_to_rest(const struct cli *cli, struct change *change, char *rest, bool empty) {
  if (!rest) return cli_fail(cli, "out of memory");
  char *copy = change_saved(change);
  const char *saved_rest = change->saved_rest ? change->saved_rest : copy;
  change->without_ours = true;
  free(change->after);
  change->after = NULL;
  if (copy && (alike(copy, rest) || alike(saved_rest, rest) || (empty && is_empty(copy)))) {
    change->after = copy;
    copy = NULL;
  } else if (!empty || is_link(change->path)) {
    change->after = rest;
    rest = NULL;
  }
  free(copy);
  free(rest);
  return 0;
}

/* -- writing ----------------------------------------------------------------------------------- */

static int sync_folder(const char *path) {
  char *copy = strdup(path);
  int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  int reason = fd < 0 || fsync(fd) ? errno : 0;
  if (fd >= 0) close(fd);
  free(copy);
  return reason;
}

/* Writes the whole file under another name, and then renames it. Mode and owner are those of the
 * replaced file. */
static int write_file(const char *path, const char *text, const struct stat *like) {
  char *fresh = NULL;
  if (asprintf(&fresh, "%s.tidings-XXXXXX", path) < 0) return ENOMEM;
  int fd = mkostemp(fresh, O_CLOEXEC);
  int reason = fd < 0 ? errno : file_write_all(fd, text, strlen(text));
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
  char *copy = copy_path(real);
  if (!copy) return ENOMEM;
  int reason = write_file(copy, change->before, like);
  free(copy);
  return reason;
}

/* Removes the saved copy when the file has its former text again. A copy with another text stays,
 * because the file has changed since. */
static int drop_copy(const struct change *change, const char *real) {
  size_t len = 0;
  char *copy = copy_path(real), *text = NULL;
  int reason = copy ? file_read_whole(copy, SETUP_LARGEST_FILE, &text, &len) : ENOMEM;
  bool same = !reason && change->after && strcmp(text, change->after) == 0;
  if (same) reason = unlink(copy) ? errno : sync_folder(copy);
  else if (!reason) printf("%s stays: it differs from what %s holds now.\n", copy, change->path);
  free(text);
  free(copy);
  return reason == ENOENT ? 0 : reason;
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
  int reason = !change->before    ? make_folder_of(real)
               : change->has_ours ? 0
                                  : keep_old(change, real, like);
  if (!reason && change->after) reason = write_file(real, change->after, like);
  else if (!reason) reason = unlink(real) ? errno : sync_folder(real);
  return reason || !change->without_ours ? reason : drop_copy(change, real);
}

int change_write(const struct cli *cli, const struct change *change) {
  char *now = NULL, *real = NULL;
  if (!change->path || change_is_none(change)) return 0;
  int code = read_text(cli, change->path, &now);
  if (!code && (!now != !change->before || (now && strcmp(now, change->before) != 0)))
    code = cli_fail(cli,
                    "%s was changed by another program just now; nothing was written to it, "
                    "try again",
                    change->path);
  if (!code && !(real = real_path(change->path)))
    code = cli_fail(cli, "cannot resolve the path %s: %s", change->path, strerror(errno));
  int reason = code || !real ? 0 : write_change(change, real);
  if (reason) code = cli_fail(cli, "cannot write %s: %s", change->path, strerror(reason));
  free(now);
  free(real);
  return code;
}
