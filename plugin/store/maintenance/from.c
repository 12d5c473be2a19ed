/* SPDX-License-Identifier: MIT
 */
#include "store/maintenance/from.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/rows/rows.h"

static int open_data(struct maintenance_from *from, struct tidings_error *error) {
  struct stat entry;
  from->data_fd =
      openat(from->directory_fd, "data.mdb", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (from->data_fd < 0 && errno == ENOENT)
    return fail(error, TIDINGS_E_NOT_FOUND, "%s is no store: it has no file data.mdb", from->path);
  if (from->data_fd < 0)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb cannot be opened: %s", from->path,
                errno == ELOOP ? "it is a symbolic link" : strerror(errno));
  if (fstat(from->data_fd, &entry) || !S_ISREG(entry.st_mode))
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb is not a file", from->path);
  return 0;
}

int maintenance_from_open(const char *path, struct maintenance_from *ret_from,
                          struct tidings_error *error) {
  struct maintenance_from from = {.path = path, .data_fd = -1, .alone_fd = -1};
  from.directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (from.directory_fd < 0)
    return fail(error, errno == ENOENT ? TIDINGS_E_NOT_FOUND : TIDINGS_E_STORE, "store %s: %s",
                path, errno == ENOENT ? "there is no such folder" : strerror(errno));
  int code = open_data(&from, error);
  if (!code)
    code = shared_alone(from.directory_fd, path, MAINTENANCE_BUDGET_MS, &from.alone_fd, &from.user,
                        error);
  if (code) maintenance_from_close(&from);
  else *ret_from = from;
  return code;
}

void maintenance_from_close(struct maintenance_from *from) {
  if (from->data_fd >= 0) close(from->data_fd);
  shared_leave(from->alone_fd);
  close(from->directory_fd);
}

int maintenance_from_unused(const struct maintenance_from *from, struct tidings_error *error) {
  if (!from->user) return 0;
  return fail(error, TIDINGS_E_STATE, "store %s is in use by process %u; end that process first",
              from->path, from->user);
}

void maintenance_count(struct maintenance_report *report, const struct db_key *key) {
  report->rows++;
  report->sessions += key->bytes[4] == ROW_NAME;
  report->notifications += key->bytes[4] == ROW_ITEM;
  report->messages += key->bytes[4] == ROW_MESSAGE;
}

void maintenance_find(struct maintenance_report *report, const uint64_t *page, const char *format,
                      ...) {
  va_list args;
  if (report->finding_count == MAINTENANCE_FINDINGS) return;
  struct maintenance_finding *finding = &report->findings[report->finding_count++];
  finding->has_page = page;
  finding->page = page ? *page : 0;
  va_start(args, format);
  (void)vsnprintf(finding->text, sizeof finding->text, format, args);
  va_end(args);
}
