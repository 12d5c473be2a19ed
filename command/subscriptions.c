/* SPDX-License-Identifier: MIT
 */
#include "command/subscriptions.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/kit.h"
#include "command/paths.h"
#include "command/state_file.h"
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

static void add_subscription(const char *folder, const char *name, const char *store,
                             json_t *list) {
  size_t len = strlen(name), suffix = sizeof STATE_SUFFIX - 1;
  char *file = NULL, *path = NULL, *lock = NULL;
  if (len <= suffix || strcmp(name + len - suffix, STATE_SUFFIX) != 0) return;
  if (asprintf(&file, "%s/%.*s", folder, (int)(len - suffix), name) < 0) return;
  if (asprintf(&path, "%s" STATE_SUFFIX, file) < 0) path = NULL;
  if (asprintf(&lock, "%s.json.lock", file) < 0) lock = NULL;
  json_t *state = path && lock ? state_file_read(path, LARGEST_STATE) : NULL;
  if (strcmp(json_value_text(state, "store"), store) == 0) {
    json_object_set_new(state, "alive", json_boolean(state_file_is_held(lock)));
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
