/* SPDX-License-Identifier: MIT
 *
 * demo/journal.c: the demo's folder, and its files of JSON lines, each durable before its writer
 * goes on.
 */
#include "demo/demo.h"

#include "command/paths.h"
#include "common/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int demo_folder_init(struct demo_folder *folder, const char *dir) {
  folder->dir = strdup(dir);
  folder->store = paths_join(dir, "store");
  folder->workspace = paths_join(dir, "workspace");
  folder->transcript = paths_join(dir, "transcript.jsonl");
  folder->ledger = paths_join(dir, "ledger.jsonl");
  folder->second_plugin = paths_join(dir, "tidings-rebuilt.so");
  bool whole = folder->dir && folder->store && folder->workspace && folder->transcript &&
               folder->ledger && folder->second_plugin;
  return whole ? 0 : -1;
}

int demo_folder_share(struct demo_folder *folder, const char *store, const char *ledger) {
  free(folder->store);
  free(folder->ledger);
  folder->store = strdup(store);
  folder->ledger = strdup(ledger);
  return folder->store && folder->ledger ? 0 : -1;
}

void demo_folder_finish(struct demo_folder *folder) {
  free(folder->dir);
  free(folder->store);
  free(folder->workspace);
  free(folder->transcript);
  free(folder->ledger);
  free(folder->second_plugin);
}

int journal_append(const char *path, json_t *entry) {
  int status = -1;
  char *line = json_dumps(entry, JSON_COMPACT);
  size_t len = line ? strlen(line) : 0;
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (!line || fd < 0) goto out;
  line[len] = '\n'; /* in place of the NUL: one write appends the whole line, even if another
                       process appends too */
  if (write(fd, line, len + 1) == (ssize_t)(len + 1) && fsync(fd) == 0) status = 0;
out:
  if (fd >= 0) close(fd);
  free(line);
  json_decref(entry);
  return status;
}

json_t *journal_read(const char *path) {
  json_t *entries = json_array();
  char *text = NULL;
  size_t len = 0;
  if (file_read_whole(path, SIZE_MAX / 2, &text, &len) != 0) return entries;
  for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
    json_t *entry = json_loadb(line, (size_t)(end - line), JSON_ALLOW_NUL, NULL);
    if (entry) json_array_append_new(entries, entry);
  }
  free(text);
  return entries;
}

json_t *journal_deliveries(const char *path) {
  json_t *entries = journal_read(path);
  json_t *deliveries = json_array();
  for (size_t i = 0; i < json_array_size(entries); i++) {
    json_t *delivery = json_object_get(json_array_get(entries, i), "delivery");
    if (json_is_string(delivery)) json_array_append(deliveries, delivery);
  }
  json_decref(entries);
  return deliveries;
}
