/* SPDX-License-Identifier: MIT
 *
 * listen/signature.h: did the holder of a secret send this body? Pure: the caller gives the time.
 * Comparing MACs and tokens takes the same time wherever they differ.
 */
#ifndef LISTEN_SIGNATURE_H
#define LISTEN_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "recipes/pointer.h"

enum signature_scheme {
  SIGNATURE_NONE,     /* the route accepts unsigned requests */
  SIGNATURE_STANDARD, /* Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature */
  SIGNATURE_GITHUB,   /* X-Hub-Signature-256 */
  SIGNATURE_GITLAB,   /* X-Gitlab-Token, or Standard Webhooks if the request has its headers */
  SIGNATURE_STRIPE,   /* Stripe-Signature */
  SIGNATURE_SENTRY,   /* Sentry-Hook-Signature */
  SIGNATURE_BEARER    /* Authorization: Bearer, or the password of Basic */
};

enum { SIGNATURE_MOST_SECRETS = 2, SIGNATURE_TOLERANCE_S = 300 };

struct signature_secrets {
  struct tidings_span secrets[SIGNATURE_MOST_SECRETS];
  size_t count;
};

/* Returns the scheme of this name; -1: there is none. */
int signature_scheme_of(const char *name);

/* Does the signature cover the id in the headers? Some cover only the body, so anybody could send a
 * captured request again with another id. */
bool signature_covers_ids(enum signature_scheme scheme);

/* Returns NULL if this can be a secret of the scheme; otherwise why not, as half a sentence. */
const char *signature_secret_mistake(enum signature_scheme scheme, struct tidings_span secret);

/* Returns NULL if the request is signed with one of the secrets and, if the scheme has a time, at
 * most five minutes ago. Otherwise returns why it is refused, as half a sentence that quotes
 * neither the request nor a secret. */
const char *signature_refusal(enum signature_scheme scheme, const struct signature_secrets *secrets,
                              const struct recipe_document *request, struct tidings_span body,
                              int64_t now_s);

/* Returns the value of a header; empty if there is none. */
struct tidings_span signature_header(const struct recipe_document *request, const char *name);

#endif
