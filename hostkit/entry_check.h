/* SPDX-License-Identifier: MIT
 *
 * entry_check.h: negotiation, the same in the host and in the probe: what a plugin's entry and
 * instance must have to be used. Knows no files and no processes.
 */
#ifndef HOSTKIT_ENTRY_CHECK_H
#define HOSTKIT_ENTRY_CHECK_H

#include <tidings/tidings.h>

/* Reads the first eight bytes of what dlsym found (NULL: there is no such symbol); if they fit,
 * *ret_entry is what the plugin has of the entry as this host knows it, zeros after it. `label` is
 * what the error calls the plugin. Errors: INVAL (no symbol, short struct, missing function or
 * name), UNSUPPORTED (another major). */
int32_t hk_entry_read(const void *symbol, const char *label, struct tidings_entry *ret_entry,
                      struct tidings_error *error);

/* Opens and checks that the instance has what version 1.0 requires; one that lacks something is
 * closed again if it can be. *ret_functions is the instance's table as this host knows it, zeros
 * after what the plugin has. On failure the sentence is the plugin's own where it gave one. */
int32_t hk_entry_open(const struct tidings_entry *entry, const char *label,
                      const struct tidings_host *host, const struct tidings_open_options *options,
                      struct tidings_plugin **ret_plugin, struct tidings_plugin *ret_functions,
                      struct tidings_error *error);

#endif
