/* SPDX-License-Identifier: MIT
 */
#include "subscribe/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/paths.h"
#include "command/state_file.h"
#include "command/subscriptions.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/fnv.h"
#include "common/store_url.h"

enum { LARGEST_SAVED = 1 << 20, LARGEST_PID = 16, PAUSE_MS = 1000 };

/* Returns the folder of the file. NULL: no memory, or no home. */
static char *find_folder(const struct cli *cli, uint64_t *key) {
  char *store = NULL, *folder = subscriptions_folder(cli, &store);
  if (folder && store_url_is(store)) /* several databases share that folder */
    *key = fnv_span(*key, span_text(store));
  free(store);
  return folder;
}

static int refuse_second(const struct cli *cli, const char *path) {
  char *pid = NULL;
  size_t len = 0;
  bool known = !file_read_whole(path, LARGEST_PID, &pid, &len) && len;
  int code = cli_fail(cli, "process %s already has this subscription", known ? pid : "(unknown)");
  free(pid);
  return code;
}

static int lock_file(const struct cli *cli, struct saved *saved) {
  char *path = NULL, pid[LARGEST_PID] = "";
  if (asprintf(&path, "%s.lock", saved->path) < 0) return cli_fail(cli, "out of memory");
  int code = 0, reason = state_file_hold(path, &saved->lock);
  if (reason == EAGAIN) {
    code = refuse_second(cli, path);
  } else if (reason) {
    code = cli_fail(cli, "cannot write '%s': %s", path, strerror(reason));
  } else {
    int written = snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (ftruncate(saved->lock, 0) || write(saved->lock, pid, (size_t)written) != written)
      code = cli_fail(cli, "cannot write '%s': %s", path, strerror(errno));
  }
  free(path);
  return code;
}

/* Reads the cursor. Unknown content is an error, so that the file is not overwritten and the user
 * can look at it. */
static int read_cursor(const struct cli *cli, struct saved *saved) {
  static const struct json_rules rules = {.max_depth = 4, .large = true};
  struct tidings_error error = {.size = sizeof error};
  json_t *value = NULL;
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_whole(saved->path, LARGEST_SAVED, &text, &len);
  if (reason == ENOENT) return 0;
  if (reason) return cli_fail(cli, "cannot read '%s': %s", saved->path, strerror(reason));
  int32_t refused = json_value_read(&rules, span_of(text, len), saved->path, &value, &error);
  free(text);
  int code = 0;
  if (refused) return cli_fail(cli, "%s; remove it to begin anew", error.text);
  const char *cursor = json_value_text(value, "cursor");
  saved->cursor = cursor[0] ? strdup(cursor) : NULL;
  if (!cursor[0]) code = cli_fail(cli, "'%s' has no cursor; remove it to begin anew", saved->path);
  else if (!saved->cursor) code = cli_fail(cli, "out of memory");
  json_decref(value);
  return code;
}

int saved_open(const struct cli *cli, uint64_t key, struct saved *saved) {
  saved->lock = -1;
  saved->folder = find_folder(cli, &key);
  if (!saved->folder) return cli_fail(cli, "cannot find a folder for what is to be remembered");
  int reason = paths_make_folders(saved->folder);
  if (reason) return cli_fail(cli, "cannot make '%s': %s", saved->folder, strerror(reason));
  if (asprintf(&saved->path, "%s/%016llx.json", saved->folder, (unsigned long long)key) < 0) {
    saved->path = NULL;
    return cli_fail(cli, "out of memory");
  }
  int code = lock_file(cli, saved);
  return code ? code : read_cursor(cli, saved);
}

void saved_follow(const struct cli *cli, struct saved *saved) {
  if (saved->lock >= 0) close(saved->lock);
  saved->lock = -1;
  int reason = paths_make_folders(saved->folder);
  if (reason) cli_warn(cli, "cannot make '%s': %s", saved->folder, strerror(reason));
  else (void)lock_file(cli, saved);
}

static int sync_path(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) return errno;
  int reason = fsync(fd) ? errno : 0;
  close(fd);
  return reason;
}

static int replace_file(const struct saved *saved, const char *text) {
  char *beside = NULL;
  if (asprintf(&beside, "%s.new", saved->path) < 0) return ENOMEM;
  int reason = file_write_whole(beside, text, strlen(text));
  if (!reason) reason = sync_path(beside, O_WRONLY);
  if (!reason && rename(beside, saved->path)) reason = errno;
  if (!reason) reason = sync_path(saved->folder, O_RDONLY | O_DIRECTORY);
  free(beside);
  return reason;
}

static int write_cursor(const struct saved *saved, const char *cursor) {
  json_t *value = json_pack("{s:s, s:s?, s:s, s:s}", "server", saved->server, "event", saved->event,
                            "to", saved->to, "cursor", cursor);
  char *text = value ? json_dumps(value, JSON_INDENT(2)) : NULL;
  int reason = !text                          ? ENOMEM
               : strlen(text) > LARGEST_SAVED ? EFBIG /* a larger one could not be read */
                                              : replace_file(saved, text);
  free(text);
  json_decref(value);
  return reason;
}

bool saved_note(struct saved *saved, struct tidings_span cursor) {
  saved->noted.len = 0;
  buffer_span(&saved->noted, cursor);
  buffer_byte(&saved->noted, '\0');
  return !saved->noted.failed;
}

void saved_keep(const struct cli *cli, struct saved *saved) {
  if (!saved->noted.len) return;
  int reason = write_cursor(saved, saved->noted.bytes);
  if (reason && !saved->failing)
    cli_warn(cli, "cannot write '%s', and tries again: %s", saved->path, strerror(reason));
  saved->failing = reason != 0;
  saved->tried_ms = clock_mono_ms();
  if (!reason) saved->noted.len = 0;
}

int saved_due(const struct saved *saved) {
  return saved->noted.len ? clock_ms_until(saved->tried_ms + PAUSE_MS) : -1;
}

void saved_close(struct saved *saved) {
  if (saved->lock >= 0) close(saved->lock);
  free(saved->path);
  free(saved->folder);
  free(saved->cursor);
  buffer_free(&saved->noted);
  *saved = (struct saved){.lock = -1};
}
