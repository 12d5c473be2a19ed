/* SPDX-License-Identifier: MIT
 */
#include "command/listeners.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/kit.h"
#include "command/paths.h"
#include "command/state_file.h"
#include "common/store_url.h"

enum { LARGEST = 1 << 20 };

struct listener {
  char *file, *lock;
  int fd; /* of the lock */
};

/* NULL: no memory, no home, or a store in a database. */
static char *find_listen_folder(const struct cli *cli) {
  char *store = kit_store_path(cli), *folder = NULL;
  if (store && !store_url_is(store)) folder = paths_join(store, "listen");
  free(store);
  return folder;
}

static char *name_listen_file(const char *folder, const char *name, const char *suffix) {
  char *path = NULL;
  return asprintf(&path, "%s/%s%s", folder, name, suffix) < 0 ? NULL : path;
}

int listeners_join(const struct cli *cli, struct listener **ret_listener) {
  char *folder = find_listen_folder(cli), pid[16];
  struct listener *listener = folder ? calloc(1, sizeof *listener) : NULL;
  (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
  if (!folder) return ENOTSUP;
  int reason = listener ? 0 : ENOMEM;
  if (!reason && mkdir(folder, 0700) && errno != EEXIST) reason = errno;
  if (!reason) {
    listener->fd = -1;
    listener->file = name_listen_file(folder, pid, ".json");
    listener->lock = name_listen_file(folder, pid, ".lock");
    reason = ENOMEM;
    if (listener->file && listener->lock) reason = state_file_hold(listener->lock, &listener->fd);
  }
  free(folder);
  if (!reason) *ret_listener = listener;
  else if (listener) listeners_leave(listener);
  return reason;
}

int listeners_say(const struct listener *listener, json_t *status) {
  return state_file_write(listener->file, status);
}

void listeners_leave(struct listener *listener) {
  if (!listener) return;
  if (listener->fd >= 0 && listener->file && listener->lock) {
    unlink(listener->file);
    unlink(listener->lock);
    close(listener->fd);
  }
  free(listener->file);
  free(listener->lock);
  free(listener);
}

/* -- who lives --------------------------------------------------------------------------------- */

static void look_at(const char *folder, const char *name, json_t *list) {
  size_t len = strlen(name);
  if (len < 6 || strcmp(name + len - 5, ".lock") != 0) return;
  char *stem = strndup(name, len - 5);
  char *lock = stem ? name_listen_file(folder, stem, ".lock") : NULL;
  char *file = stem ? name_listen_file(folder, stem, ".json") : NULL;
  if (lock && file && state_file_is_held(lock)) {
    json_t *status = state_file_read(file, LARGEST);
    if (status) json_array_append_new(list, status);
  } else if (lock && file && !state_file_remove(lock)) {
    unlink(file);
  }
  free(stem);
  free(lock);
  free(file);
}

json_t *listeners_list(const struct cli *cli) {
  char *folder = find_listen_folder(cli);
  json_t *list = json_array();
  DIR *opened = folder && list ? opendir(folder) : NULL;
  for (struct dirent *entry; opened && (entry = readdir(opened));)
    look_at(folder, entry->d_name, list);
  if (opened) closedir(opened);
  free(folder);
  return list;
}
