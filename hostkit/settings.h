/* SPDX-License-Identifier: MIT
 *
 * settings.h: the checked options of hostkit_open, which every later load uses again. Paths are
 * absolute, because a host may change its working directory before it swaps.
 */
#ifndef HOSTKIT_SETTINGS_H
#define HOSTKIT_SETTINGS_H

#include <tidings/hostkit.h>

struct hk_settings {
  char *plugin_path;
  char *store_dir; /* NULL: the plugin's default; so are the next two */
  char *host_name;
  char *configuration; /* the one last in force */
  char *copy_dir;      /* NULL: looked for at each load */
  char *probe_path;    /* NULL: looked for at each load */
  uint32_t flags;
  uint32_t role;
  uint32_t owner_pid;
  uint32_t hook_budget_ms;
  uint32_t settle_on_return;
  uint32_t probe_timeout_ms;
  uint64_t total_budget_ms;
  struct tidings_host default_host;
  const struct tidings_host *host; /* the caller's, or default_host of this very struct */
};

/* Fills *settings in place, since `host` may point into it. On failure nothing is to be freed.
 * Errors: INVAL, NOMEM, STORE (no working directory). */
int32_t hk_settings_init(struct hk_settings *settings, const struct hostkit_options *options,
                         struct tidings_error *error);
/* Sets the plugin that this store needs: see common/store_url.h. Errors: NOMEM. */
int32_t hk_settings_plugin_for(struct hk_settings *settings, const char *store,
                               struct tidings_error *error);
void hk_settings_finish(struct hk_settings *settings); /* calling it again is harmless */

/* Returns the options for the plugin's open; the spans are borrowed from settings. */
struct tidings_open_options hk_settings_open_options(const struct hk_settings *settings);

/* Makes an absolute path to the same file, and keeps symbolic links. Errors: NOMEM, STORE. */
int32_t hk_absolute_path(const char *path, char **ret_path, struct tidings_error *error);

void hk_log(const struct hk_settings *settings, uint32_t severity, const char *message);

#endif
