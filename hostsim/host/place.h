/* SPDX-License-Identifier: MIT
 *
 * host/place.h: makes a store for a case: a folder of the case, or, with --store URL, an empty
 * schema of that database.
 */
#ifndef HOSTSIM_PLACE_H
#define HOSTSIM_PLACE_H

/* Chooses the database for all later cases; NULL: folders. */
void place_use(const char *url);
/* Returns the path of the plugin for these stores. NULL: no memory. */
char *place_plugin(const char *plugin);
/* Returns the name of a new store: in `dir`, or in a schema that `plugin` makes. NULL: it cannot be
 * made; `why`, of `why_size` bytes, says why. */
char *place_make(const char *dir, const char *plugin, char *why, unsigned long why_size);
/* Call it when the store is no longer used. A schema is emptied and kept for the next case, because
 * that is faster than making one. NULL is allowed. */
void place_remove(const char *store, const char *plugin);
/* Drops the schema that was kept. */
void place_finish(const char *plugin);

#endif
