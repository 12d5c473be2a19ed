/* SPDX-License-Identifier: MIT
 *
 * common/store_url.h: handles the name of a store: a folder, or the URL of a database. A URL may
 * have a password, which must not be shown.
 */
#ifndef COMMON_STORE_URL_H
#define COMMON_STORE_URL_H

#include <stdbool.h>

bool store_url_is(const char *store); /* false for NULL */
/* Returns the path of the plugin for this store: `plugin`, or the plugin for databases beside it.
 * NULL: no memory. */
char *store_url_plugin(const char *plugin, const char *store);
/* Is it the plugin for databases? An instance of that plugin cannot be tried on an empty folder. */
bool store_url_is_plugin(const char *plugin);
/* Finds the ? that begins a URL's parameters; NULL: it has none. */
const char *store_url_query(const char *url);
/* Returns the URL with another schema. NULL: no memory. */
char *store_url_with_schema(const char *url, const char *schema);
/* Looks for a password after the user's name and among the parameters. */
bool store_url_has_password(const char *url);
/* Returns the name of the store for people, without a password. NULL: no memory. */
char *store_url_shown(const char *store);

#endif
