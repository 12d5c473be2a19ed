/* SPDX-License-Identifier: MIT
 *
 * host/place.h: where a case's store is: a folder of the case's own, or, with --store URL, a fresh
 * schema of that database.
 */
#ifndef HOSTSIM_PLACE_H
#define HOSTSIM_PLACE_H

/* For the rest of the process. NULL: folders. */
void place_use(const char *url);
/* The plugin for it. NULL: no memory. */
char *place_plugin(const char *plugin);
/* The name of a store that is new: in `dir`, or made by `plugin`. NULL: it cannot be made; `why` of
 * `why_size` bytes says so. */
char *place_make(const char *dir, const char *plugin, char *why, unsigned long why_size);
/* It is not used any more; a schema is emptied for the next one, which is cheaper than a new one.
 * NULL is allowed. */
void place_remove(const char *store, const char *plugin);
/* Drops the schemas that were emptied. */
void place_finish(const char *plugin);

#endif
