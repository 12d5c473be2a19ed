/* SPDX-License-Identifier: MIT
 *
 * instance/configuration.h: the configuration in force. Running calls may still use an old one when
 * a new one is set, so each has a reference count, and its last user frees it.
 */
#ifndef INSTANCE_CONFIGURATION_H
#define INSTANCE_CONFIGURATION_H

#include <stdatomic.h>

#include "common/arena.h"
#include "store/store.h"
#include "values/settings.h"

struct instance;

struct configuration {
  atomic_uint users;
  struct arena arena;
  struct settings settings;
  uint8_t secret[STORE_SECRET_BYTES]; /* nonces are derived from it, if there are any */
};

/* The configuration in force, kept alive until it is given back. */
struct configuration *configuration_use(struct instance *instance);
void configuration_done(struct configuration *configuration);
int configuration_set(struct instance *instance, struct tidings_span json,
                      struct tidings_error *error);
/* Nonces need the store's secret: reads it, once the store is open. */
int configuration_complete(const struct instance *instance, struct configuration *configuration,
                           store_deadline deadline, struct tidings_error *error);

/* The nonce that distinguishes a session's real blocks from forged ones. It never changes, and the
 * query `instructions` has it for the system prompt. Empty: this configuration uses none. */
struct nonce {
  char text[17];
  size_t len;
};
struct nonce configuration_nonce(const struct configuration *configuration,
                                 struct tidings_span session);

/* The key with which a host signs the markers of its deliveries: 16 bytes in hexadecimal digits,
 * the same in every process of the store, and not to be guessed from nonces. */
struct marker_key {
  char text[33];
};
int configuration_marker_key(const struct instance *instance, store_deadline deadline,
                             struct marker_key *ret_key, struct tidings_error *error);

#endif
