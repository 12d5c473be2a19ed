/* SPDX-License-Identifier: MIT
 *
 * surface.c: a shared object whose exported functions mention every struct of the contract, so that
 * abidiff, which follows only exported symbols, also sees the structs that a plugin hands out as
 * `const void *`. It is never run.
 */
#include <tidings/tidings.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void tidings_surface_entry(const struct tidings_entry *entry);
EXPORTED void tidings_surface_plugin(const struct tidings_plugin *plugin);
EXPORTED void tidings_surface_query(const struct tidings_query *query);
EXPORTED void tidings_surface_wake(const struct tidings_wake *wake);
EXPORTED void tidings_surface_store(const struct tidings_store *store);

void tidings_surface_entry(const struct tidings_entry *entry) { (void)entry; }
void tidings_surface_plugin(const struct tidings_plugin *plugin) { (void)plugin; }
void tidings_surface_query(const struct tidings_query *query) { (void)query; }
void tidings_surface_wake(const struct tidings_wake *wake) { (void)wake; }
void tidings_surface_store(const struct tidings_store *store) { (void)store; }
