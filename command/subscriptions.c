/* SPDX-License-Identifier: MIT
 */
#include "command/subscriptions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/file.h"
#include "common/store_url.h"

#define STATE_SUFFIX ".state"
enum { LARGEST_STATE = 1 << 16 };

char *subscriptions_folder(const struct cli *cli, char **ret_store) {
  char *store = kit_store_path(cli), *folder = NULL;
  if (store && store_url_is(store))
    folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings-subscribe");
  else if (store) folder = paths_join(store, "subscribe");
  if (folder) *ret_store = store;
  else free(store);
  return folder;
}

int subscriptions_say(const char *path, json_t *state) {
  char *text = state ? json_dumps(state, JSON_COMPACT) : NULL, *beside = NULL;
  json_decref(state);
  if (asprintf(&beside, "%s.new", path) < 0) beside = NULL;
  int reason = text && beside ? file_write_whole(beside, text, strlen(text)) : ENOMEM;
  if (!reason && rename(beside, path)) reason = errno;
  free(beside);
  free(text);
  return reason;
}

/* A lock that nobody holds is of a process that has ended. */
static bool is_held(const char *lock) {
  int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  bool held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
  close(fd);
  return held;
}

static json_t *read_state(const char *path) {
  static const struct json_rules rules = {.max_depth = 8, .large = true};
  struct tidings_error error = {.size = sizeof error};
  json_t *state = NULL;
  char *text = NULL;
  size_t len = 0;
  if (file_read_whole(path, LARGEST_STATE, &text, &len)) return NULL;
  if (json_value_read(&rules, span_of(text, len), "the file", &state, &error)) state = NULL;
  free(text);
  return state;
}

static void add_subscription(const char *folder, const char *name, const char *store,
                             json_t *list) {
  size_t len = strlen(name), suffix = sizeof STATE_SUFFIX - 1;
  char *file = NULL, *path = NULL, *lock = NULL;
  if (len <= suffix || strcmp(name + len - suffix, STATE_SUFFIX) != 0) return;
  if (asprintf(&file, "%s/%.*s", folder, (int)(len - suffix), name) < 0) return;
  if (asprintf(&path, "%s" STATE_SUFFIX, file) < 0) path = NULL;
  if (asprintf(&lock, "%s.json.lock", file) < 0) lock = NULL;
  json_t *state = path && lock ? read_state(path) : NULL;
  if (strcmp(json_value_text(state, "store"), store) == 0) {
    json_object_set_new(state, "alive", json_boolean(is_held(lock)));
    json_object_set_new(state, "file", json_string(file));
    json_array_append(list, state);
  }
  json_decref(state);
  free(file);
  free(path);
  free(lock);
}

json_t *subscriptions_list(const struct cli *cli) {
  char *store = NULL, *folder = subscriptions_folder(cli, &store);
  json_t *list = json_array();
  DIR *opened = folder && list ? opendir(folder) : NULL;
  for (struct dirent *entry; opened && (entry = readdir(opened));)
    add_subscription(folder, entry->d_name, store, list);
  if (opened) closedir(opened);
  free(folder);
  free(store);
  return list;
}
