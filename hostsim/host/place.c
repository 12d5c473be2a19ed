/* SPDX-License-Identifier: MIT
 */
#include "host/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>
#include <unistd.h>

#include "command/paths.h"
#include "common/span.h"
#include "common/store_url.h"

static const char *base;
static unsigned made;
static char *spare; /* an empty schema of this process; NULL: there is none */

/* Adds the option that makes the plugin use the host's clock, because no case can set the
 * server's. */
void place_use(const char *url) {
  static char with_clock[1024];
  (void)snprintf(with_clock, sizeof with_clock, "%s%coptions=-ctidings.clock%%3Dhost", url,
                 strchr(url, '?') ? '&' : '?');
  base = with_clock;
}

char *place_plugin(const char *plugin) { return store_url_plugin(plugin, base); }

static int32_t run_task(uint32_t task, uint32_t flags, const char *store, const char *plugin,
                        struct tidings_error *error) {
  const struct hostkit_options options = {
      .size = sizeof options, .flags = HOSTKIT_NO_PROBE, .plugin_path = plugin};
  const struct tidings_store_request request = {
      .size = sizeof request, .flags = flags, .from = span_text(store)};
  char *json = NULL;
  int32_t code = hostkit_store(&options, task, &request, &json, error);
  hostkit_free(json);
  return code;
}

char *place_make(const char *dir, const char *plugin, char *why, unsigned long why_size) {
  struct tidings_error error = {.size = sizeof error};
  char schema[64];
  if (!base) return paths_join(dir, "store");
  char *store = spare;
  spare = NULL;
  if (store) return store;
  (void)snprintf(schema, sizeof schema, "case_%d_%u", (int)getpid(), ++made);
  store = store_url_with_schema(base, schema);
  if (store && run_task(HOSTKIT_STORE_INIT, 0, store, plugin, &error)) {
    (void)snprintf(why, why_size, "%s", error.text);
    free(store);
    store = NULL;
  }
  return store;
}

void place_remove(const char *store, const char *plugin) {
  if (!base || !store) return;
  if (!spare && !run_task(HOSTKIT_STORE_DROP, TIDINGS_STORE_FLAG_KEEP_TABLES, store, plugin, NULL))
    spare = strdup(store);
  if (!spare || strcmp(spare, store) != 0)
    (void)run_task(HOSTKIT_STORE_DROP, 0, store, plugin, NULL);
}

void place_finish(const char *plugin) {
  if (spare) (void)run_task(HOSTKIT_STORE_DROP, 0, spare, plugin, NULL);
  free(spare);
  spare = NULL;
}
