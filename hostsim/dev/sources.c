/* SPDX-License-Identifier: MIT
 */
#include "dev/sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/paths.h"

enum { WRITTEN = IN_MOVED_TO | IN_CLOSE_WRITE, FOLDERS_AT_FIRST = 64 };

/* Is it the name of a source? Editors also write files such as .x.c.swp, x.c~, 4913 and #x.c#
 * beside the file that is saved. */
static bool is_source(const char *name) {
  static const char *const ends[] = {".c",   ".cc",    ".h",    ".sql", ".json",
                                     ".txt", ".cmake", ".toml", ".map", ".js"};
  const char *end = strrchr(name, '.');
  for (size_t i = 0; end && name[0] != '.' && i < sizeof ends / sizeof *ends; i++)
    if (strcmp(end, ends[i]) == 0) return name[0] != '#';
  return false;
}

/* Takes the path over, also on failure. */
static int add_folder(struct sources *sources, char *path, bool tree) {
  if (!path) return ENOMEM;
  if (sources->count == sources->capacity) {
    size_t capacity = sources->capacity ? 2 * sources->capacity : FOLDERS_AT_FIRST;
    struct sources_folder *folders = realloc(sources->folders, capacity * sizeof *folders);
    if (!folders) {
      free(path);
      return ENOMEM;
    }
    sources->folders = folders;
    sources->capacity = capacity;
  }
  int watch =
      inotify_add_watch(sources->fd, path, WRITTEN | (tree ? IN_CREATE | IN_ONLYDIR : IN_ONLYDIR));
  if (watch < 0) {
    int reason = errno;
    free(path);
    return reason;
  }
  sources->folders[sources->count++] = (struct sources_folder){watch, path, tree};
  return 0;
}

int sources_begin(const char *plugin, struct sources *ret_sources) {
  const char *slash = strrchr(plugin, '/');
  struct sources sources = {.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (sources.fd < 0) return errno;
  char *folder =
      slash ? strndup(plugin, slash == plugin ? 1 : (size_t)(slash - plugin)) : strdup(".");
  int reason = add_folder(&sources, folder, false);
  if (!reason && !(sources.plugin = strdup(slash ? slash + 1 : plugin))) reason = ENOMEM;
  if (reason) sources_finish(&sources);
  else *ret_sources = sources;
  return reason;
}

static bool is_folder(const char *path) {
  struct stat status;
  return !lstat(path, &status) && S_ISDIR(status.st_mode);
}

int sources_add(struct sources *sources, const char *folder) {
  int reason = add_folder(sources, strdup(folder), true);
  DIR *listing = reason ? NULL : opendir(folder);
  if (!reason && !listing) return errno;
  for (struct dirent *entry; !reason && (entry = readdir(listing));) {
    if (entry->d_name[0] == '.') continue;
    char *path = paths_join(folder, entry->d_name);
    if (!path) reason = ENOMEM;
    else if (is_folder(path)) reason = sources_add(sources, path);
    free(path);
  }
  if (listing) closedir(listing);
  return reason;
}

void sources_finish(struct sources *sources) {
  for (size_t i = 0; i < sources->count; i++) free(sources->folders[i].path);
  free(sources->folders);
  free(sources->plugin);
  if (sources->fd >= 0) close(sources->fd);
  *sources = (struct sources){.fd = -1};
}

/* If a new folder cannot be watched, the session goes on. A new folder counts as saved, because a
 * file may have been written into it before it was watched. */
static void note_new_folder(struct sources *sources, const char *path,
                            struct sources_saved *saved) {
  (void)sources_add(sources, path);
  (void)snprintf(saved->source, sizeof saved->source, "%s", path);
}

static void note(struct sources *sources, const struct inotify_event *event, const char *name,
                 struct sources_saved *saved) {
  for (size_t i = 0; i < sources->count; i++) {
    if (sources->folders[i].watch != event->wd) continue;
    if (i == 0 && strcmp(name, sources->plugin) == 0) saved->plugin |= (event->mask & WRITTEN) != 0;
    if (!sources->folders[i].tree) continue;
    char *path = paths_join(sources->folders[i].path, name);
    if (path && event->mask & IN_ISDIR && name[0] != '.') note_new_folder(sources, path, saved);
    else if (path && event->mask & WRITTEN && !(event->mask & IN_ISDIR) && is_source(name))
      (void)snprintf(saved->source, sizeof saved->source, "%s", path);
    free(path);
    return;
  }
}

void sources_read(struct sources *sources, struct sources_saved *ret_saved) {
  char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  *ret_saved = (struct sources_saved){.plugin = false};
  for (ssize_t got; (got = read(sources->fd, buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      struct inotify_event event;
      memcpy(&event, buffer + at, sizeof event);
      if (event.len > 0) note(sources, &event, buffer + at + sizeof event, ret_saved);
      at += (ssize_t)(sizeof event + event.len);
    }
  }
}
