/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/names.c: looks up the addresses of the server's names. libpq would wait for the
 * resolver without a limit, so they are looked up here, within the deadline.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/libc.h"
#include "store/db/postgres/engine.h"

/* The servers of the URL, in its order. */
struct servers {
  char *list; /* their names, each NUL-terminated */
  const char *names[LIBC_MOST_NAMES];
  size_t count;
};

static bool needs_lookup(const char *name) {
  uint8_t address[16];
  return *name && *name != '/' && *name != '@' && inet_pton(AF_INET, name, address) != 1 &&
         inet_pton(AF_INET6, name, address) != 1;
}

/* Are there names to look up? If the list is too long, libpq looks them up. */
static bool split(struct servers *servers) {
  char *at = servers->list;
  bool any = false;
  while (at && servers->count < LIBC_MOST_NAMES) {
    const char *name = servers->names[servers->count++] = strsep(&at, ",");
    any = any || needs_lookup(name);
  }
  return any && !at;
}

static bool wait_for_names(struct libc_lookup *lookup, store_deadline deadline) {
  while (!libc_lookup_wait(lookup, store_deadline_left_ms(deadline))) {
    if (!store_deadline_left_ms(deadline)) return false;
  }
  return true;
}

/* -- what libpq takes -------------------------------------------------------------------------- */

static void add_server(struct pg_addresses *to, const char *name, const char *address,
                       const char *port) {
  if (to->count++) {
    buffer_byte(&to->hosts, ',');
    buffer_byte(&to->addresses, ',');
    buffer_byte(&to->ports, ',');
  }
  buffer_text(&to->hosts, name);
  buffer_text(&to->addresses, address);
  buffer_text(&to->ports, port);
}

/* Each address of a name is a server of its own. A name without an address is left out. */
static void add_found(struct pg_addresses *to, const char *name, const struct addrinfo *at,
                      const char *port) {
  for (; at; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (!getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
      add_server(to, name, text, port);
  }
}

/* The URL has one port for all servers, or one for each. */
static void add_all(struct pg_addresses *to, const struct servers *servers,
                    const struct libc_lookup *lookup, const char *ports) {
  for (size_t i = 0, looked_up = 0; i < servers->count; i++) {
    const char *name = servers->names[i];
    char port[16] = "";
    size_t len = strcspn(ports, ",");
    if (len < sizeof port) memcpy(port, ports, len);
    if (needs_lookup(name)) add_found(to, name, libc_lookup_of(lookup, looked_up++), port);
    else add_server(to, name, "", port);
    if (ports[len]) ports += len + 1;
  }
  buffer_byte(&to->hosts, '\0');
  buffer_byte(&to->addresses, '\0');
  buffer_byte(&to->ports, '\0');
}

void pg_addresses_free(struct pg_addresses *addresses) {
  buffer_free(&addresses->hosts);
  buffer_free(&addresses->addresses);
  buffer_free(&addresses->ports);
}

static struct libc_lookup *ask_resolver(const struct servers *servers) {
  const char *looked_up[LIBC_MOST_NAMES];
  size_t count = 0;
  for (size_t i = 0; i < servers->count; i++) {
    if (needs_lookup(servers->names[i])) looked_up[count++] = servers->names[i];
  }
  return libc_lookup_begin(looked_up, count);
}

static int find_all(const struct pg_place *place, const struct servers *servers,
                    store_deadline deadline, struct pg_addresses *ret_addresses,
                    struct tidings_error *error) {
  struct libc_lookup *lookup = ask_resolver(servers);
  int code = 0;
  if (!lookup) return fail(error, TIDINGS_E_NOMEM, "no memory to look up a server");
  if (!wait_for_names(lookup, deadline))
    code = fail(error, TIDINGS_E_BUSY,
                "store %s: the names of its servers were not found in time; name an address, or "
                "look at this machine's resolver",
                place->shown);
  if (!code) add_all(ret_addresses, servers, lookup, place->ports ? place->ports : "");
  if (!code && !ret_addresses->count)
    code = fail(error, TIDINGS_E_STORE,
                "store %s cannot be reached: no server of that name is known", place->shown);
  else if (!code && (ret_addresses->hosts.failed || ret_addresses->addresses.failed ||
                     ret_addresses->ports.failed))
    code = fail(error, TIDINGS_E_NOMEM, "no memory to look up a server");
  libc_lookup_end(lookup);
  return code;
}

int pg_addresses_find(const struct pg_place *place, store_deadline deadline,
                      struct pg_addresses *ret_addresses, struct tidings_error *error) {
  struct servers servers = {.count = 0};
  int code = 0;
  if (!place->hosts) return 0;
  servers.list = strdup(place->hosts);
  if (!servers.list) return fail(error, TIDINGS_E_NOMEM, "no memory to look up a server");
  if (split(&servers)) code = find_all(place, &servers, deadline, ret_addresses, error);
  free(servers.list);
  return code;
}
