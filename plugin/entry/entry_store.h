/* SPDX-License-Identifier: MIT
 *
 * entry/entry_store.h: the extension tidings.store/1 at the boundary.
 */
#ifndef ENTRY_ENTRY_STORE_H
#define ENTRY_ENTRY_STORE_H

#include <tidings/store.h>

extern const struct tidings_store entry_store_extension;

#endif
