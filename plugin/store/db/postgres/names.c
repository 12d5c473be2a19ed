/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/names.c: the addresses of the server's names. libpq waits for them as long as
 * the resolver takes, so they are looked up here, within the deadline, by the C library's own
 * threads: none of this image, which may be unmapped before a resolver gives up.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

enum { MOST_NAMES = 16 };

/* Left to the resolver, with its requests, when the deadline passes before the answer. */
struct lookup {
  char *list; /* the names, each NUL-terminated */
  struct gaicb requests[MOST_NAMES], *waits[MOST_NAMES];
  struct addrinfo hints;
  size_t count;
};

static bool needs_lookup(const char *name) {
  uint8_t address[16];
  return *name && *name != '/' && *name != '@' && inet_pton(AF_INET, name, address) != 1 &&
         inet_pton(AF_INET6, name, address) != 1;
}

static bool split(struct lookup *lookup) {
  char *at = lookup->list;
  bool any = false;
  lookup->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM};
  while (at && lookup->count < MOST_NAMES) {
    char *name = strsep(&at, ",");
    lookup->requests[lookup->count++] =
        (struct gaicb){.ar_name = name, .ar_request = &lookup->hints};
    any = any || needs_lookup(name);
  }
  return any && !at;
}

/* False: not in time. */
static bool wait_for_all(const struct lookup *lookup, store_deadline deadline) {
  for (size_t i = 0; i < lookup->count; i++) {
    const struct gaicb *const one[] = {&lookup->requests[i]};
    while (needs_lookup(lookup->requests[i].ar_name) &&
           gai_error(lookup->waits[i]) == EAI_INPROGRESS) {
      int left = store_deadline_left_ms(deadline);
      struct timespec wait = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000L};
      if (!left || gai_suspend(one, 1, &wait) == EAI_AGAIN) return false;
    }
  }
  return true;
}

/* False: not in time; the resolver may still write to it. */
static bool look_up(struct lookup *lookup, store_deadline deadline) {
  struct gaicb *asked[MOST_NAMES];
  size_t count = 0;
  for (size_t i = 0; i < lookup->count; i++) {
    lookup->waits[i] = &lookup->requests[i];
    if (needs_lookup(lookup->requests[i].ar_name)) asked[count++] = &lookup->requests[i];
  }
  return getaddrinfo_a(GAI_NOWAIT, asked, (int)count, NULL) == 0 && wait_for_all(lookup, deadline);
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

/* Each address of a name is a server of its own. One that has none is left out. */
static void add_found(struct pg_addresses *to, const struct gaicb *request, const char *port) {
  if (!needs_lookup(request->ar_name)) {
    add_server(to, request->ar_name, "", port);
    return;
  }
  for (const struct addrinfo *at = request->ar_result; at; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (!getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
      add_server(to, request->ar_name, text, port);
  }
}

/* One port for all, or one for each. */
static void add_all(struct pg_addresses *to, const struct lookup *lookup, const char *ports) {
  for (size_t i = 0; i < lookup->count; i++) {
    char port[16] = "";
    size_t len = strcspn(ports, ",");
    if (len < sizeof port) memcpy(port, ports, len);
    add_found(to, &lookup->requests[i], port);
    if (ports[len]) ports += len + 1;
  }
  buffer_byte(&to->hosts, '\0');
  buffer_byte(&to->addresses, '\0');
  buffer_byte(&to->ports, '\0');
}

static void free_lookup(struct lookup *lookup) {
  for (size_t i = 0; i < lookup->count; i++) freeaddrinfo(lookup->requests[i].ar_result);
  free(lookup->list);
  free(lookup);
}

void pg_addresses_free(struct pg_addresses *addresses) {
  buffer_free(&addresses->hosts);
  buffer_free(&addresses->addresses);
  buffer_free(&addresses->ports);
}

int pg_addresses_find(const struct pg_place *place, store_deadline deadline,
                      struct pg_addresses *ret_addresses, struct tidings_error *error) {
  struct lookup *lookup = NULL;
  int code = 0;
  if (!place->hosts) return 0;
  lookup = calloc(1, sizeof *lookup);
  if (!lookup || !(lookup->list = strdup(place->hosts))) {
    free(lookup);
    return fail(error, TIDINGS_E_NOMEM, "no memory to look up a server");
  }
  bool any = split(lookup);
  if (any && !look_up(lookup, deadline)) /* it is left to the resolver */
    return fail(error, TIDINGS_E_BUSY,
                "store %s: the names of its servers were not found in time; name an address, or "
                "look at this machine's resolver",
                place->shown);
  if (any) {
    add_all(ret_addresses, lookup, place->ports ? place->ports : "");
    if (!ret_addresses->count)
      code = fail(error, TIDINGS_E_STORE,
                  "store %s cannot be reached: no server of that name is known", place->shown);
    else if (ret_addresses->hosts.failed || ret_addresses->addresses.failed ||
             ret_addresses->ports.failed)
      code = fail(error, TIDINGS_E_NOMEM, "no memory to look up a server");
  }
  free_lookup(lookup);
  return code;
}
