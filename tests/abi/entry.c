/* SPDX-License-Identifier: MIT
 *
 * entry.c: exports only what every plugin exports. The golden dump is made from this object, so
 * that it has the contract's types, without the plugin's own. It is never loaded.
 */
#include <tidings/tidings.h>

extern const struct tidings_entry tidings_entry;

__attribute__((visibility("default"))) const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry, .abi_major = TIDINGS_ABI_MAJOR, .abi_minor = TIDINGS_ABI_MINOR};
