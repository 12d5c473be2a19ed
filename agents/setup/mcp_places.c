/* SPDX-License-Identifier: MIT
 */
#include "agents/setup/mcp_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/paths.h"
#include "common/file.h"

const struct host_of_mcp *mcp_host_find(const char *name) {
  for (size_t i = 0; i < hosts_of_mcp_count; i++) {
    if (strcmp(hosts_of_mcp[i].name, name) == 0) return &hosts_of_mcp[i];
  }
  return NULL;
}

/* The agent has written down where its folder is, or still uses an older one. */
static char *moved_file(const struct host_of_mcp *host) {
  enum { LONGEST = 4096 };
  char *pointer = paths_in_home("", ".", host->pointer), *text = NULL, *path = NULL;
  char *old = paths_in_home("", ".", host->old_home);
  const char *rest = host->roots[0].rest;
  size_t len = 0;
  if (pointer && old && !file_read_whole(pointer, LONGEST, &text, &len)) {
    while (len && strchr(" \t\r\n", text[len - 1])) text[--len] = '\0';
    if (text[0] == '/') path = paths_join(text, rest);
  } else if (pointer && old && !access(old, F_OK)) {
    path = paths_join(old, rest);
  }
  free(text);
  free(pointer);
  free(old);
  return path;
}

static char *root_file(const struct host_of_mcp_root *root) {
  const char *value = getenv(root->variable);
  if (root->home) return paths_in_home(root->variable, root->home, root->rest);
  if (!value || value[0] != '/') return NULL;
  return root->rest[0] ? paths_join(value, root->rest) : strdup(value);
}

static char *with_comments(char *path) {
  char *other = NULL;
  if (!path || !access(path, F_OK) || asprintf(&other, "%sc", path) < 0) return path;
  bool there = access(other, F_OK) == 0;
  free(there ? path : other);
  return there ? other : path;
}

char *mcp_host_file(const struct host_of_mcp *host) {
  char *path = host->pointer ? moved_file(host) : NULL;
  for (size_t i = 0; !path && i < sizeof host->roots / sizeof *host->roots; i++) {
    if (host->roots[i].variable) path = root_file(&host->roots[i]);
  }
  return host->has_comments ? with_comments(path) : path;
}
