/* SPDX-License-Identifier: MIT
 */
#include "instance/configuration.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/siphash.h"
#include "config/config.h"
#include "instance/instance.h"

struct configuration *configuration_use(struct instance *instance) {
  pthread_mutex_lock(&instance->configuration_lock);
  struct configuration *configuration = instance->configuration;
  atomic_fetch_add(&configuration->users, 1);
  pthread_mutex_unlock(&instance->configuration_lock);
  return configuration;
}

void configuration_done(struct configuration *configuration) {
  if (!configuration || atomic_fetch_sub(&configuration->users, 1) != 1) return;
  arena_free(&configuration->arena);
  free(configuration);
}

static int read_secret(const struct instance *instance, const char *needed_by,
                       store_deadline deadline, uint8_t ret_secret[STORE_SECRET_BYTES],
                       struct tidings_error *error) {
  uint8_t fresh[STORE_SECRET_BYTES];
  if (instance->host.random(instance->host.context, fresh, sizeof fresh))
    return fail(error, TIDINGS_E_INVAL, "host.random failed; %s needs it", needed_by);
  return store_secret(instance->store, fresh, deadline, ret_secret, error);
}

int configuration_complete(const struct instance *instance, struct configuration *configuration,
                           store_deadline deadline, struct tidings_error *error) {
  if (configuration->settings.fence != FENCE_NONCE || !instance->store) return 0;
  return read_secret(instance, "delivery.fence \"nonce\"", deadline, configuration->secret, error);
}

struct nonce configuration_nonce(const struct configuration *configuration,
                                 struct tidings_span session) {
  struct nonce nonce = {.len = 0};
  if (configuration->settings.fence != FENCE_NONCE) return nonce;
  (void)snprintf(nonce.text, sizeof nonce.text, "%016llx",
                 (unsigned long long)siphash(configuration->secret, session));
  nonce.len = sizeof nonce.text - 1;
  return nonce;
}

/* No session's name has a line break, so no nonce is a part of the key. */
int configuration_marker_key(const struct instance *instance, store_deadline deadline,
                             struct marker_key *ret_key, struct tidings_error *error) {
  uint8_t secret[STORE_SECRET_BYTES];
  int code = read_secret(instance, "the query \"marker\"", deadline, secret, error);
  if (code) return code;
  (void)snprintf(ret_key->text, sizeof ret_key->text, "%016llx%016llx",
                 (unsigned long long)siphash(secret, span_text("\nmarker 0")),
                 (unsigned long long)siphash(secret, span_text("\nmarker 1")));
  return 0;
}

int configuration_set(struct instance *instance, struct tidings_span json,
                      struct tidings_error *error) {
  struct configuration *configuration = calloc(1, sizeof *configuration);
  if (!configuration) return fail(error, TIDINGS_E_NOMEM, "no memory for the configuration");
  atomic_init(&configuration->users, 1);
  int code = config_parse(json, &configuration->arena, &configuration->settings, error);
  if (!code)
    code = configuration_complete(instance, configuration, instance_deadline(instance), error);
  if (code) {
    configuration_done(configuration);
    return code;
  }
  pthread_mutex_lock(&instance->configuration_lock);
  struct configuration *before = instance->configuration;
  instance->configuration = configuration;
  pthread_mutex_unlock(&instance->configuration_lock);
  configuration_done(before);
  return 0;
}
