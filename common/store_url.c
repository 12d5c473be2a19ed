/* SPDX-License-Identifier: MIT
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
  const char *chosen = other ? url_plugin : name;
  size_t folder_len = (size_t)(name - plugin), chosen_len = strlen(chosen);
  char *path = malloc(folder_len + chosen_len + 1);
  if (!path) return NULL;
  memcpy(path, plugin, folder_len);
  memcpy(path + folder_len, chosen, chosen_len + 1);
  return path;
}

bool store_url_is_plugin(const char *plugin) {
  const char *slash = strrchr(plugin, '/');
  return strcmp(slash ? slash + 1 : plugin, url_plugin) == 0;
}

/* Finds the @ that ends the user's name and password; NULL: there is none. As in libpq, name and
 * password may contain a ?. If a password contains an @ that is not written as %40, the last @
 * counts. */
static const char *credentials_end(const char *url) {
  const char *scheme = strstr(url, "://");
  if (!scheme) return NULL;
  const char *at = memchr(scheme + 3, '@', strcspn(scheme + 3, "/"));
  for (const char *next = at; next; next = memchr(at + 1, '@', strcspn(at + 1, "/?"))) at = next;
  return at;
}

const char *store_url_query(const char *url) {
  const char *at = credentials_end(url);
  return strchr(at ? at : url, '?');
}

/* Finds the colon before the password; NULL: there is no password before the host. */
static const char *password_of(const char *url) {
  const char *at = credentials_end(url), *scheme = strstr(url, "://");
  return at ? memchr(scheme + 3, ':', (size_t)(at - scheme) - 3) : NULL;
}

char *store_url_with_schema(const char *url, const char *schema) {
  const char *query = store_url_query(url);
  char *made = NULL;
  int len = query ? asprintf(&made, "%.*s?schema=%s&%s", (int)(query - url), url, schema, query + 1)
                  : asprintf(&made, "%s?schema=%s", url, schema);
  return len < 0 ? NULL : made;
}

static int hex_of(char c) {
  const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)((at - digits) % 16) : -1;
}

/* Decodes %XX, because libpq reads it in the names of parameters too. */
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
  return store_url_is(url) && (password_of(url) || query_names_password(store_url_query(url)));
}

char *store_url_shown(const char *store) {
  char *shown = strdup(store);
  if (!shown || !store_url_is(store)) return shown;
  const char *colon = password_of(store), *at = credentials_end(store),
             *query = store_url_query(store);
  size_t shown_len = query_names_password(query) ? (size_t)(query - store) : strlen(store);
  shown[shown_len] = '\0';
  if (colon)
    memmove(shown + (colon - store), shown + (at - store), shown_len - (size_t)(at - store) + 1);
  return shown;
}
