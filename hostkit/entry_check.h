/* SPDX-License-Identifier: MIT
 *
 * entry_check.h: checks what a plugin's entry and instance must have before they can be used. Host
 * and probe share these checks, which use no files and no processes.
 */
#ifndef HOSTKIT_ENTRY_CHECK_H
#define HOSTKIT_ENTRY_CHECK_H

#include <tidings/tidings.h>

/* Reads the first eight bytes at `symbol`, which dlsym found (NULL: there is no such symbol). If
 * they fit, *ret_entry gets the fields of the entry that the plugin has; fields that only this host
 * knows are zero. `label` is what the error calls the plugin. Errors: INVAL (no symbol, short
 * struct, missing function or name), UNSUPPORTED (another major). */
int32_t hk_entry_read(const void *symbol, const char *label, struct tidings_entry *ret_entry,
                      struct tidings_error *error);

/* Opens an instance and checks that it has what version 1.0 requires; an instance that lacks
 * something is closed again if it can be. *ret_functions gets the functions that the plugin has;
 * those that only this host knows are zero. On failure the error has the plugin's own sentence, if
 * it gave one. */
int32_t hk_entry_open(const struct tidings_entry *entry, const char *label,
                      const struct tidings_host *host, const struct tidings_open_options *options,
                      struct tidings_plugin **ret_plugin, struct tidings_plugin *ret_functions,
                      struct tidings_error *error);

#endif
