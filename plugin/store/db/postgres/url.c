/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/url.c: the URL of a store in a database. libpq takes it, except for the
 * parameter `schema=NAME`, which names the tenant's schema (by default "tidings"). No error quotes
 * a URL, because it may contain a password.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/store_url.h"
#include "store/db/postgres/engine.h"

enum { LONGEST_SCHEMA = 60 };
static const char schema_parameter[] = "schema=";

static int refuse(struct tidings_error *error, const char *what) {
  return fail(error, TIDINGS_E_INVAL,
              "the store's URL %s; expected postgresql://USER@HOST/DATABASE?schema=NAME (it is not "
              "shown here: it may have a password)",
              what);
}

static bool is_schema(const char *text, size_t len) {
  if (!len || len > LONGEST_SCHEMA || (text[0] >= '0' && text[0] <= '9')) return false;
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return len < 3 || memcmp(text, "pg_", 3) != 0;
}

/* Takes `schema=NAME` out of the URL: libpq does not know this parameter. */
static int take_schema(char *url, char **ret_schema, struct tidings_error *error) {
  const char *query = store_url_query(url);
  char *at = query ? url + (query - url) + 1 : NULL;
  while (at && strncmp(at, schema_parameter, sizeof schema_parameter - 1) != 0) {
    at = strchr(at, '&');
    if (at) at++;
  }
  if (!at) {
    *ret_schema = strdup("tidings");
  } else {
    char *name = at + sizeof schema_parameter - 1;
    size_t len = strcspn(name, "&");
    if (!is_schema(name, len))
      return refuse(error, "has a parameter schema that is no name: letters a to z, digits and _, "
                           "at most 60, and not pg_…");
    *ret_schema = strndup(name, len);
    char *rest = name + len;
    if (*rest) memmove(at, rest + 1, strlen(rest + 1) + 1);
    else at[-1] = '\0';
  }
  return *ret_schema ? 0 : fail(error, TIDINGS_E_NOMEM, "no memory for the store's URL");
}

static const char *option_of(const PQconninfoOption *options, const char *keyword) {
  for (; options->keyword; options++) {
    if (strcmp(options->keyword, keyword) == 0) return options->val;
  }
  return NULL;
}

/* Notes the names that libpq would look up; there are none if the URL has addresses. */
static int note_hosts(struct pg_place *place, const PQconninfoOption *options,
                      struct tidings_error *error) {
  const char *host = option_of(options, "host"), *port = option_of(options, "port");
  const char *address = option_of(options, "hostaddr");
  if (!host || !*host) host = getenv("PGHOST");
  if (!port || !*port) port = getenv("PGPORT");
  if (!host || !*host || (address && *address) || getenv("PGHOSTADDR")) return 0;
  place->hosts = strdup(host);
  place->ports = strdup(port ? port : "");
  return place->hosts && place->ports
             ? 0
             : fail(error, TIDINGS_E_NOMEM, "no memory for the store's URL");
}

/* The URL has one port for all servers, or one for each. */
static void show_servers(struct buffer *out, const char *hosts, const char *ports) {
  for (bool more = true; more;) {
    size_t host = strcspn(hosts, ","), port = strcspn(ports, ",");
    if (hosts[0] != '/') buffer_append(out, hosts, host);
    if (port) buffer_byte(out, ':');
    buffer_append(out, ports, port);
    more = hosts[host];
    hosts += host + more;
    if (ports[port]) ports += port + 1;
    if (more) buffer_byte(out, ',');
  }
}

static char *show(const PQconninfoOption *options, const char *schema) {
  const char *user = option_of(options, "user"), *host = option_of(options, "host"),
             *port = option_of(options, "port");
  struct buffer shown = BUFFER_EMPTY;
  buffer_text(&shown, "postgresql://");
  if (user) buffer_text(&shown, user);
  if (user) buffer_byte(&shown, '@');
  show_servers(&shown, host ? host : "", port ? port : "");
  buffer_byte(&shown, '/');
  buffer_text(&shown, option_of(options, "dbname"));
  buffer_text(&shown, "?schema=");
  buffer_text(&shown, schema);
  buffer_byte(&shown, '\0');
  if (!shown.failed) return shown.bytes;
  buffer_free(&shown);
  return NULL;
}

int pg_place_parse(const char *url, struct pg_place *ret_place, struct tidings_error *error) {
  struct pg_place place = {.conninfo = strdup(url)};
  char *wrong = NULL;
  PQconninfoOption *options = NULL;
  int code = place.conninfo ? take_schema(place.conninfo, &place.schema, error)
                            : fail(error, TIDINGS_E_NOMEM, "no memory for the store's URL");
  if (!code) {
    options = PQconninfoParse(place.conninfo, &wrong);
    const char *database = options ? option_of(options, "dbname") : NULL;
    if (!options) code = refuse(error, "cannot be read");
    else if (!database || !*database) code = refuse(error, "names no database");
  }
  if (!code) code = note_hosts(&place, options, error);
  if (!code) {
    place.shown = show(options, place.schema);
    if (!place.shown) code = fail(error, TIDINGS_E_NOMEM, "no memory for the store's URL");
  }
  PQfreemem(wrong);
  PQconninfoFree(options);
  if (code) pg_place_free(&place);
  else *ret_place = place;
  return code;
}

void pg_place_free(struct pg_place *place) {
  if (place->conninfo) explicit_bzero(place->conninfo, strlen(place->conninfo));
  free(place->conninfo);
  free(place->schema);
  free(place->shown);
  free(place->hosts);
  free(place->ports);
  *place = (struct pg_place){.conninfo = NULL};
}
