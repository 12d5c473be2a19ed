/* SPDX-License-Identifier: MIT
 *
 * common/store_url.c: see the header.
 */
#include "common/store_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plain_plugin[] = "tidings.so", url_plugin[] = "tidings-postgres.so";

bool store_url_is(const char *store) {
  return store &&
         (strncmp(store, "postgresql://", 13) == 0 || strncmp(store, "postgres://", 11) == 0);
}

char *store_url_plugin(const char *plugin, const char *store) {
  const char *slash = strrchr(plugin, '/'), *name = slash ? slash + 1 : plugin;
  bool other = store_url_is(store) && strcmp(name, plain_plugin) == 0;
  size_t folder_len = (size_t)(name - plugin);
  const char *chosen = other ? url_plugin : name;
  char *path = malloc(folder_len + strlen(chosen) + 1);
  if (!path) return NULL;
  memcpy(path, plugin, folder_len);
  strcpy(path + folder_len, chosen);
  return path;
}

bool store_url_is_plugin(const char *plugin) {
  const char *slash = strrchr(plugin, '/');
  return strcmp(slash ? slash + 1 : plugin, url_plugin) == 0;
}

char *store_url_with_schema(const char *url, const char *schema) {
  const char *query = strchr(url, '?');
  char *made = NULL;
  int len = query ? asprintf(&made, "%.*s?schema=%s&%s", (int)(query - url), url, schema, query + 1)
                  : asprintf(&made, "%s?schema=%s", url, schema);
  return len < 0 ? NULL : made;
}

static int hex_of(char c) {
  const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)((at - digits) % 16) : -1;
}

/* libpq reads %XX in the names of parameters too. */
static bool names_password(const char *name) {
  static const char *const secret[] = {"password", "sslpassword"};
  char plain[16];
  size_t len = 0;
  for (; *name && *name != '=' && len + 1 < sizeof plain; name++) {
    int high = *name == '%' ? hex_of(name[1]) : -1, low = high < 0 ? -1 : hex_of(name[2]);
    plain[len] = *name;
    if (low >= 0) {
      plain[len] = (char)(high * 16 + low);
      name += 2;
    }
    len++;
  }
  plain[len] = '\0';
  return strcmp(plain, secret[0]) == 0 || strcmp(plain, secret[1]) == 0;
}

static bool query_names_password(const char *query) {
  for (const char *name = query; name; name = strchr(name, '&')) {
    if (names_password(++name)) return true;
  }
  return false;
}

bool store_url_has_password(const char *url) {
  const char *user = strstr(url, "://");
  if (!user) return false;
  user += 3;
  const char *end = user + strcspn(user, "/?"), *at = end;
  while (at > user && *at != '@') at--;
  if (*at == '@' && memchr(user, ':', (size_t)(at - user))) return true;
  return query_names_password(strchr(url, '?'));
}

/* From the scheme to the last @ before the path: the password begins at the first colon. */
char *store_url_shown(const char *store) {
  char *shown = strdup(store);
  if (!shown || !store_url_is(store)) return shown;
  char *user = strstr(shown, "://") + 3, *end = user + strcspn(user, "/?"), *at = NULL;
  for (char *c = user; c < end; c++)
    if (*c == '@') at = c;
  char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
  if (colon) memmove(colon, at, strlen(at) + 1);
  char *query = strchr(shown, '?');
  if (query_names_password(query)) *query = '\0';
  return shown;
}
