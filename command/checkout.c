/* SPDX-License-Identifier: MIT
 *
 * command/checkout.c: reads git's files, whose formats are in gitrepository-layout(5) and
 * git-config(1).
 */
#include "command/checkout.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/paths.h"
#include "common/file.h"

enum { LARGEST_CONFIG = 1 << 20, LARGEST_LINE = 8192, MOST_REMOTES = 64 };

/* -- a remote's URL ---------------------------------------------------------------------------- */

/* Finds where the host begins and ends; false: the URL has no host, such as the path of a
 * folder. */
static bool find_host(const char *url, const char **ret_host, const char **ret_end) {
  const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
  const char *path = scheme ? strchr(host, '/') : strchr(host, ':');
  if (!path || path == host || (!scheme && strchr(url, '/') && strchr(url, '/') < path))
    return false;
  if (scheme && strncmp(url, "file:", 5) == 0) return false;
  for (const char *at = host; at < path; at++) {
    if (*at == '@') host = at + 1;
  }
  *ret_host = host;
  *ret_end = path;
  return host < path;
}

bool checkout_is_repository(const char *text) {
  size_t slashes = 0, part = 0;
  for (const char *at = text; *at; at++) {
    if (*at == '/' && !part) return false;
    slashes += *at == '/';
    part = *at == '/' ? 0 : part + 1;
    if (*at == ':' || *at == '@' || (unsigned char)*at <= ' ') return false;
  }
  return part && slashes >= 2;
}

char *checkout_repository(const char *url) {
  const char *host = NULL, *end = NULL;
  if (!find_host(url, &host, &end)) return NULL;
  const char *path = end + 1;
  while (*path == '/') path++;
  size_t host_len = strcspn(host, ":/"), path_len = strlen(path); /* without a port */
  while (path_len && path[path_len - 1] == '/') path_len--;
  if (path_len > 4 && memcmp(path + path_len - 4, ".git", 4) == 0) path_len -= 4;
  size_t size = host_len + 1 + path_len + 1;
  char *repository = malloc(size);
  if (!repository) return NULL;
  (void)snprintf(repository, size, "%.*s/%.*s", (int)host_len, host, (int)path_len, path);
  for (char *at = repository; *at; at++) *at = (char)tolower((unsigned char)*at);
  if (checkout_is_repository(repository)) return repository;
  free(repository);
  return NULL;
}

bool checkout_is_of(const struct checkout *checkout, const char *repository) {
  for (size_t i = 0; i < checkout->remote_count; i++) {
    if (strcmp(checkout->remotes[i], repository) == 0) return true;
  }
  return false;
}

/* -- the configuration: [remote "NAME"] url = URL ---------------------------------------------- */

static void add_remote(struct checkout *checkout, const char *url) {
  if (checkout->remote_count == MOST_REMOTES) return;
  char *repository = checkout_repository(url);
  if (!repository) return;
  char **larger = reallocarray(checkout->remotes, checkout->remote_count + 1, sizeof *larger);
  if (!larger || checkout_is_of(checkout, repository)) {
    if (larger) checkout->remotes = larger;
    free(repository);
    return;
  }
  checkout->remotes = larger;
  checkout->remotes[checkout->remote_count++] = repository;
}

/* Reads a value, which may be quoted. A comment after it begins outside quotes. */
static void read_value(const char *text, char *value) {
  bool quoted = false;
  size_t len = 0;
  for (; *text && *text != '\n' && len < LARGEST_LINE - 1; text++) {
    if (*text == '"') quoted = !quoted;
    else if (!quoted && (*text == '#' || *text == ';')) break;
    else if (*text == '\\' && text[1] && text[1] != '\n') value[len++] = *++text;
    else value[len++] = *text;
  }
  while (len && isspace((unsigned char)value[len - 1])) len--;
  value[len] = '\0';
}

static void read_line(struct checkout *checkout, const char *line, bool *in_remote) {
  static const char section[] = "[remote ", key[] = "url";
  char value[LARGEST_LINE];
  while (*line == ' ' || *line == '\t') line++;
  if (*line == '[') {
    *in_remote = strncasecmp(line, section, sizeof section - 1) == 0;
    return;
  }
  if (!*in_remote || strncasecmp(line, key, sizeof key - 1) != 0) return;
  line += sizeof key - 1;
  while (*line == ' ' || *line == '\t') line++;
  if (*line++ != '=') return;
  while (*line == ' ' || *line == '\t') line++;
  read_value(line, value);
  add_remote(checkout, value);
}

static void read_remotes(struct checkout *checkout, const char *text) {
  bool in_remote = false;
  while (*text) {
    read_line(checkout, text, &in_remote);
    text += strcspn(text, "\n");
    if (*text) text++;
  }
}

/* -- where they are ---------------------------------------------------------------------------- */

static char *read_file(const char *folder, const char *name) {
  char *path = paths_join(folder, name), *text = NULL;
  size_t len = 0;
  if (path && file_read_whole(path, LARGEST_CONFIG, &text, &len)) text = NULL;
  free(path);
  return text;
}

/* Reads a path, which may be relative to `folder`, from the first line of a file, after
 * `prefix`. */
static char *read_path(const char *folder, const char *name, const char *prefix) {
  char *text = read_file(folder, name), *path = NULL;
  size_t skip = strlen(prefix);
  if (text && strncmp(text, prefix, skip) == 0) {
    text[strcspn(text, "\r\n")] = '\0';
    path = text[skip] == '/' ? strdup(text + skip) : paths_join(folder, text + skip);
  }
  free(text);
  return path;
}

/* Finds the folder that has HEAD: .git, or the folder that the file .git names. */
static char *find_git(const char *folder) {
  struct stat info;
  char *git = paths_join(strcmp(folder, "/") == 0 ? "" : folder, ".git"), *named = NULL;
  if (!git || stat(git, &info)) {
    free(git);
    return NULL;
  }
  if (S_ISDIR(info.st_mode)) return git;
  named = read_path(folder, ".git", "gitdir: ");
  free(git);
  return named;
}

static void read_branch(struct checkout *checkout, const char *git) {
  static const char prefix[] = "ref: refs/heads/";
  char *head = read_file(git, "HEAD");
  if (head && strncmp(head, prefix, sizeof prefix - 1) == 0) {
    head[strcspn(head, "\r\n")] = '\0';
    checkout->branch = strdup(head + sizeof prefix - 1);
  }
  free(head);
}

static bool read_git(const char *git, struct checkout *ret_checkout) {
  char *common =
      read_path(git, "commondir", ""); /* in a work tree: the folder that all work trees share */
  char *config = read_file(common ? common : git, "config");
  free(common);
  if (!config) return false;
  struct checkout checkout = {.remotes = NULL};
  read_remotes(&checkout, config);
  free(config);
  read_branch(&checkout, git);
  *ret_checkout = checkout;
  return true;
}

bool checkout_read(const char *folder, struct checkout *ret_checkout) {
  char path[PATH_MAX];
  int len = snprintf(path, sizeof path, "%s", folder);
  if (len <= 0 || (size_t)len >= sizeof path || path[0] != '/') return false;
  for (;;) {
    char *git = find_git(path);
    bool found = git && read_git(git, ret_checkout);
    free(git);
    if (found) return true;
    char *slash = strrchr(path, '/');
    if (!path[1] || !slash) return false;
    slash[slash == path] = '\0';
  }
}

void checkout_finish(struct checkout *checkout) {
  for (size_t i = 0; i < checkout->remote_count; i++) free(checkout->remotes[i]);
  free(checkout->remotes);
  free(checkout->branch);
  *checkout = (struct checkout){.remotes = NULL};
}
