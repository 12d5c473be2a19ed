/* SPDX-License-Identifier: MIT
 *
 * common/store_url.h: the name of a store: a folder, or the URL of a database. The URL may have a
 * password: it is not shown.
 */
#ifndef COMMON_STORE_URL_H
#define COMMON_STORE_URL_H

#include <stdbool.h>

bool store_url_is(const char *store); /* false for NULL */
/* The path of the plugin for this store: `plugin`, or the one for databases beside it. NULL: no
 * memory. */
char *store_url_plugin(const char *plugin, const char *store);
/* Is it that plugin? An instance of it cannot be tried on an empty folder. */
bool store_url_is_plugin(const char *plugin);
/* The beginning of a URL's parameters, at a ?; NULL: it has none. */
const char *store_url_query(const char *url);
/* The URL with another schema. NULL: no memory. */
char *store_url_with_schema(const char *url, const char *schema);
/* In its user part, or among its parameters. */
bool store_url_has_password(const char *url);
/* For people to read: without the password. NULL: no memory. */
char *store_url_shown(const char *store);

#endif
