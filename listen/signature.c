/* SPDX-License-Identifier: MIT
 */
#include "listen/signature.h"

#include <strings.h>

#include "common/sha256.h"
#include "listen/base64.h"
#include "listen/ed25519.h"

static const char missing[] = "the signature is missing", wrong[] = "the signature is wrong",
                  old[] = "the signature's time is more than five minutes away",
                  unknown[] = "the signature is Ed25519 (v1a), and this machine has no libcrypto "
                              "that checks it; install OpenSSL";
static const char key_prefix[] = "whsec_", public_prefix[] = "whpk_";

static const char *const schemes[] = {
    [SIGNATURE_NONE] = "",         [SIGNATURE_STANDARD] = "standard", [SIGNATURE_GITHUB] = "github",
    [SIGNATURE_GITLAB] = "gitlab", [SIGNATURE_STRIPE] = "stripe",     [SIGNATURE_SENTRY] = "sentry",
    [SIGNATURE_BEARER] = "bearer"};

int signature_scheme_of(const char *name) {
  for (int i = SIGNATURE_STANDARD; i <= SIGNATURE_BEARER; i++) {
    if (strcmp(schemes[i], name) == 0) return i;
  }
  return -1;
}

struct tidings_span signature_header(const struct recipe_document *request, const char *name) {
  for (size_t i = 0; i < request->header_count; i++) {
    if (span_is(request->headers[i].name, name)) return request->headers[i].value;
  }
  return span_of(NULL, 0);
}

/* -- comparing --------------------------------------------------------------------------------- */

static bool is_same_mac(const unsigned char *mac, const unsigned char *other) {
  unsigned char differs = 0;
  for (size_t i = 0; i < SHA256_BYTES; i++) differs |= (unsigned char)(mac[i] ^ other[i]);
  return !differs;
}

/* Compares tokens of any length by their MACs, with the secret as the key. */
static bool is_same_token(struct tidings_span token, struct tidings_span other) {
  unsigned char first[SHA256_BYTES], second[SHA256_BYTES];
  sha256_hmac(other, &token, 1, first);
  sha256_hmac(other, &other, 1, second);
  return is_same_mac(first, second);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hex(struct tidings_span text, unsigned char mac[SHA256_BYTES]) {
  if (text.len != (size_t)2 * SHA256_BYTES) return false;
  for (size_t i = 0; i < SHA256_BYTES; i++) {
    int high = hex_digit(text.ptr[2 * i]), low = hex_digit(text.ptr[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    mac[i] = (unsigned char)(high * 16 + low);
  }
  return true;
}

/* Takes the text up to the next `separator` from *rest. False: nothing is left. */
static bool take_piece(struct tidings_span *rest, char separator, struct tidings_span *ret_piece) {
  if (!rest->len) return false;
  const char *end = memchr(rest->ptr, separator, rest->len);
  size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
  *ret_piece = span_of(rest->ptr, len);
  *rest = span_of(rest->ptr + len + (end != NULL), rest->len - len - (end != NULL));
  return true;
}

static bool begins(struct tidings_span text, const char *prefix, struct tidings_span *ret_rest) {
  size_t len = strlen(prefix);
  if (text.len < len || memcmp(text.ptr, prefix, len) != 0) return false;
  *ret_rest = span_of(text.ptr + len, text.len - len);
  return true;
}

/* Does the text begin with this scheme of authorization, in upper or lower case? */
static bool has_scheme(struct tidings_span text, const char *scheme,
                       struct tidings_span *ret_rest) {
  size_t len = strlen(scheme);
  if (text.len < len || strncasecmp(text.ptr, scheme, len) != 0) return false;
  *ret_rest = span_of(text.ptr + len, text.len - len);
  return true;
}

static bool is_near(struct tidings_span seconds, int64_t now_s) {
  enum { MOST_DIGITS = 12 };
  int64_t number = 0;
  if (!seconds.len || seconds.len > MOST_DIGITS) return false;
  for (size_t i = 0; i < seconds.len; i++) {
    if (seconds.ptr[i] < '0' || seconds.ptr[i] > '9') return false;
    number = number * 10 + (seconds.ptr[i] - '0');
  }
  return number >= now_s - SIGNATURE_TOLERANCE_S && number <= now_s + SIGNATURE_TOLERANCE_S;
}

/* -- the schemes ------------------------------------------------------------------------------- */

/* Is it the MAC of the parts with one of the secrets? Always tries all secrets. */
static bool is_mac_of(const struct signature_secrets *secrets, bool coded,
                      const struct tidings_span *parts, size_t count, const unsigned char *given) {
  bool found = false;
  for (size_t i = 0; i < secrets->count; i++) {
    unsigned char mac[SHA256_BYTES], bytes[BASE64_MOST];
    struct tidings_span key = secrets->secrets[i], text;
    if (coded) {
      if (begins(key, public_prefix, &text)) continue; /* a public key is no secret */
      if (!begins(key, key_prefix, &text)) text = key;
      key = span_of((const char *)bytes, base64_read(text, bytes));
      if (!key.len)
        continue; /* the secret belongs to another scheme; anybody could sign with an empty key */
    }
    sha256_hmac(key, parts, count, mac);
    found |= is_same_mac(mac, given);
  }
  return found;
}

/* Is it signed with one of the route's public keys? *ret_unknown: this machine cannot check it. */
static bool is_signed_by(const struct signature_secrets *secrets, const struct tidings_span *parts,
                         size_t count, const unsigned char *given, bool *ret_unknown) {
  bool found = false;
  for (size_t i = 0; i < secrets->count; i++) {
    unsigned char key[BASE64_MOST];
    struct tidings_span text;
    if (!begins(secrets->secrets[i], public_prefix, &text) ||
        base64_read(text, key) != ED25519_KEY_BYTES)
      continue;
    enum ed25519_result result = ed25519_check(key, given, parts, count);
    found |= result == ED25519_RIGHT;
    *ret_unknown |= result == ED25519_UNKNOWN;
  }
  return found;
}

static const char *check_standard(const struct signature_secrets *secrets,
                                  const struct recipe_document *request, struct tidings_span body,
                                  int64_t now_s) {
  enum { PARTS = 5 };
  struct tidings_span id = signature_header(request, "webhook-id"), piece, text;
  struct tidings_span time = signature_header(request, "webhook-timestamp");
  struct tidings_span rest = signature_header(request, "webhook-signature");
  const struct tidings_span parts[PARTS] = {id, span_text("."), time, span_text("."), body};
  bool found = false, untold = false;
  if (!id.len || !time.len || !rest.len) return missing;
  while (take_piece(&rest, ' ', &piece)) {
    unsigned char given[BASE64_MOST];
    if (begins(piece, "v1,", &text) && base64_read(text, given) == SHA256_BYTES)
      found |= is_mac_of(secrets, true, parts, PARTS, given);
    else if (begins(piece, "v1a,", &text) && base64_read(text, given) == ED25519_SIGNATURE_BYTES)
      found |= is_signed_by(secrets, parts, PARTS, given, &untold);
  }
  if (!found) return untold ? unknown : wrong;
  return is_near(time, now_s) ? NULL : old;
}

static const char *check_stripe(const struct signature_secrets *secrets,
                                const struct recipe_document *request, struct tidings_span body,
                                int64_t now_s) {
  struct tidings_span all = signature_header(request, "stripe-signature"), piece, text;
  struct tidings_span time = span_of(NULL, 0);
  bool found = false;
  if (!all.len) return missing;
  for (struct tidings_span rest = all; take_piece(&rest, ',', &piece);) {
    if (begins(piece, "t=", &text)) time = text;
  }
  const struct tidings_span parts[] = {time, span_text("."), body};
  for (struct tidings_span rest = all; take_piece(&rest, ',', &piece);) {
    unsigned char given[SHA256_BYTES];
    if (begins(piece, "v1=", &text) && read_hex(text, given))
      found |= is_mac_of(secrets, false, parts, sizeof parts / sizeof *parts, given);
  }
  if (!found) return wrong;
  return is_near(time, now_s) ? NULL : old;
}

static const char *check_hex(const struct signature_secrets *secrets, struct tidings_span text,
                             const char *prefix, struct tidings_span body) {
  unsigned char given[SHA256_BYTES];
  if (!text.len) return missing;
  if (!begins(text, prefix, &text) || !read_hex(text, given)) return wrong;
  return is_mac_of(secrets, false, &body, 1, given) ? NULL : wrong;
}

/* Compares the token with the secrets, except public keys, which are no secrets. */
static const char *check_token(const struct signature_secrets *secrets, struct tidings_span token) {
  bool found = false;
  struct tidings_span text;
  if (!token.len) return missing;
  for (size_t i = 0; i < secrets->count; i++)
    found |= !begins(secrets->secrets[i], public_prefix, &text) &&
             is_same_token(token, secrets->secrets[i]);
  return found ? NULL : wrong;
}

static const char *check_bearer(const struct signature_secrets *secrets,
                                struct tidings_span value) {
  unsigned char bytes[BASE64_MOST];
  struct tidings_span text;
  if (has_scheme(value, "Bearer ", &text)) return check_token(secrets, text);
  if (!has_scheme(value, "Basic ", &text)) return missing;
  size_t len = base64_read(text, bytes);
  const char *colon = len ? memchr(bytes, ':', len) : NULL;
  if (!colon) return wrong;
  size_t user = (size_t)(colon - (const char *)bytes);
  return check_token(secrets, span_of(colon + 1, len - user - 1));
}

const char *signature_refusal(enum signature_scheme scheme, const struct signature_secrets *secrets,
                              const struct recipe_document *request, struct tidings_span body,
                              int64_t now_s) {
  switch (scheme) {
  case SIGNATURE_NONE: return NULL;
  case SIGNATURE_STANDARD: return check_standard(secrets, request, body, now_s);
  case SIGNATURE_GITHUB:
    return check_hex(secrets, signature_header(request, "x-hub-signature-256"), "sha256=", body);
  case SIGNATURE_GITLAB:
    if (signature_header(request, "webhook-signature").len)
      return check_standard(secrets, request, body, now_s);
    return check_token(secrets, signature_header(request, "x-gitlab-token"));
  case SIGNATURE_STRIPE: return check_stripe(secrets, request, body, now_s);
  case SIGNATURE_SENTRY:
    return check_hex(secrets, signature_header(request, "sentry-hook-signature"), "", body);
  case SIGNATURE_BEARER: return check_bearer(secrets, signature_header(request, "authorization"));
  }
  return wrong;
}

bool signature_covers_ids(enum signature_scheme scheme) {
  return scheme != SIGNATURE_GITHUB && scheme != SIGNATURE_STRIPE && scheme != SIGNATURE_SENTRY;
}

const char *signature_secret_mistake(enum signature_scheme scheme, struct tidings_span secret) {
  enum { SHORTEST = 8, SHORTEST_KEY = 16, LONGEST = BASE64_MOST };
  unsigned char bytes[BASE64_MOST];
  struct tidings_span text = secret;
  if (secret.len > LONGEST) return "is longer than 512 bytes";
  if (begins(secret, public_prefix, &text)) {
    if (scheme != SIGNATURE_STANDARD && scheme != SIGNATURE_GITLAB)
      return "is a public key, which only Standard Webhooks has";
    return base64_read(text, bytes) == ED25519_KEY_BYTES
               ? NULL
               : "is not \"whpk_\" and 32 bytes in base64";
  }
  if (scheme == SIGNATURE_STANDARD) {
    text = secret;
    (void)begins(secret, key_prefix, &text);
    if (base64_read(text, bytes) < SHORTEST_KEY)
      return "is not \"whsec_\" and at least 16 bytes in base64";
  }
  return secret.len < SHORTEST ? "has fewer than 8 bytes" : NULL;
}
