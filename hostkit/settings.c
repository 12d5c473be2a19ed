/* SPDX-License-Identifier: MIT
 *
 * settings.c: keeps the settings of a caller, and has the default host.
 */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/random.h"
#include "common/store_url.h"
#include "errors.h"
#include "sized.h"
#include "text.h"

#define DEFAULT_PROBE_TIMEOUT_MS 10000u

static void default_log(void *context, uint32_t severity, const struct tidings_span *message) {
  (void)context;
  (void)severity;
  (void)message;
}

static int64_t default_now_ms(void *context) {
  (void)context;
  return clock_wall_ms();
}

static uint64_t default_mono_ns(void *context) {
  (void)context;
  return clock_mono_ns();
}

static int32_t default_random(void *context, void *buffer, size_t len) {
  (void)context;
  return random_fill(buffer, len) ? -1 : 0;
}

static const struct tidings_host system_host = {
    .size = sizeof system_host,
    .log = default_log,
    .now_ms = default_now_ms,
    .mono_ns = default_mono_ns,
    .random = default_random,
};

int32_t hk_absolute_path(const char *path, char **ret_path, struct tidings_error *error) {
  char *absolute = NULL;
  if (path[0] == '/') {
    absolute = hk_copy_text(path, strlen(path));
  } else {
    char *here = getcwd(NULL, 0);
    if (!here && errno != ENOMEM)
      return hk_error(error, TIDINGS_E_STORE, "cannot make %s an absolute path: %s", path,
                      strerror(errno));
    absolute = here ? hk_format("%s/%s", here, path) : NULL;
    free(here);
  }
  if (!absolute) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading the options");
  *ret_path = absolute;
  return TIDINGS_OK;
}

/* Keeps the store: a folder, or the URL of a database, which needs the plugin for databases. */
static int32_t keep_store(const char *store, struct hk_settings *settings,
                          struct tidings_error *error) {
  if (!store_url_is(store))
    return store && store[0] ? hk_absolute_path(store, &settings->store_dir, error) : TIDINGS_OK;
  settings->store_dir = strdup(store);
  return hk_settings_plugin_for(settings, store, error);
}

static int32_t keep_path(const char *path, char **ret_path, struct tidings_error *error) {
  return path && path[0] ? hk_absolute_path(path, ret_path, error) : TIDINGS_OK;
}

static int32_t keep_text(const char *text, char **ret_text, struct tidings_error *error) {
  if (!text) return TIDINGS_OK;
  *ret_text = hk_copy_text(text, strlen(text));
  return *ret_text ? TIDINGS_OK
                   : hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading the options");
}

static int32_t check_options(const struct hostkit_options *given,
                             struct hostkit_options *ret_options, struct tidings_error *error) {
  struct hostkit_options options;
  int32_t code = HK_COPY_IN(&options, given, HOSTKIT_OPTIONS_SIZE_1_0, "options", error);
  if (code) return code;
  if (options.flags &
      ~(HOSTKIT_NO_PROBE | HOSTKIT_KEEP_MAPPED | HOSTKIT_COPY_IN_MEMORY | HOSTKIT_LEAVE_TO_EXIT))
    return hk_error(error, TIDINGS_E_INVAL,
                    "options.flags is %#x, which has a bit without a meaning",
                    (unsigned)options.flags);
  if ((options.flags & HOSTKIT_COPY_IN_MEMORY) && !(options.flags & HOSTKIT_NO_PROBE))
    return hk_error(error, TIDINGS_E_INVAL,
                    "options.flags is %#x: HOSTKIT_COPY_IN_MEMORY needs HOSTKIT_NO_PROBE, since a "
                    "probe cannot open this process's memory",
                    (unsigned)options.flags);
  if (options.reserved)
    return hk_error(error, TIDINGS_E_INVAL, "options.reserved is %u, expected 0",
                    (unsigned)options.reserved);
  if (!options.plugin_path || !options.plugin_path[0])
    return hk_error(error, TIDINGS_E_INVAL,
                    "options.plugin_path is empty, expected the path of a plugin");
  *ret_options = options;
  return TIDINGS_OK;
}

int32_t hk_settings_init(struct hk_settings *settings, const struct hostkit_options *given,
                         struct tidings_error *error) {
  struct hostkit_options options = {0};
  int32_t code = check_options(given, &options, error);
  if (code) return code;
  *settings = (struct hk_settings){
      .flags = options.flags,
      .role = options.role,
      .owner_pid = options.owner_pid,
      .hook_budget_ms = options.hook_budget_ms,
      .settle_on_return = options.settle_on_return,
      .total_budget_ms = options.total_budget_ms,
      .probe_timeout_ms =
          options.probe_timeout_ms ? options.probe_timeout_ms : DEFAULT_PROBE_TIMEOUT_MS,
      .default_host = system_host,
  };
  settings->host = options.host ? options.host : &settings->default_host;
  code = hk_absolute_path(options.plugin_path, &settings->plugin_path, error);
  if (!code) code = keep_store(options.store_dir, settings, error);
  if (!code) code = keep_path(options.copy_dir, &settings->copy_dir, error);
  if (!code) code = keep_path(options.probe_path, &settings->probe_path, error);
  if (!code) code = keep_text(options.host_name, &settings->host_name, error);
  if (!code) code = keep_text(options.configuration, &settings->configuration, error);
  if (code) hk_settings_finish(settings);
  return code;
}

int32_t hk_settings_plugin_for(struct hk_settings *settings, const char *store,
                               struct tidings_error *error) {
  char *path = store_url_plugin(settings->plugin_path, store);
  if (!path) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading the options");
  free(settings->plugin_path);
  settings->plugin_path = path;
  return TIDINGS_OK;
}

void hk_settings_finish(struct hk_settings *settings) {
  free(settings->plugin_path);
  free(settings->store_dir);
  free(settings->host_name);
  free(settings->configuration);
  free(settings->copy_dir);
  free(settings->probe_path);
  *settings = (struct hk_settings){0};
}

struct tidings_open_options hk_settings_open_options(const struct hk_settings *settings) {
  return (struct tidings_open_options){
      .size = sizeof(struct tidings_open_options),
      .store_dir = hk_span(settings->store_dir),
      .role = settings->role,
      .owner_pid = settings->owner_pid,
      .host_name = hk_span(settings->host_name),
      .configuration = hk_span(settings->configuration),
      .hook_budget_ms = settings->hook_budget_ms,
      .settle_on_return = settings->settle_on_return,
      .total_budget_ms = settings->total_budget_ms,
  };
}

void hk_log(const struct hk_settings *settings, uint32_t severity, const char *message) {
  struct tidings_span text = hk_span(message);
  if (settings->host->log) settings->host->log(settings->host->context, severity, &text);
}
