/* SPDX-License-Identifier: MIT
 *
 * listen/ed25519.c: the functions of libcrypto are declared as in OpenSSL 1.1.1 and 3.
 */
#include "listen/ed25519.h"

#include <dlfcn.h>
#include <pthread.h>

#include "common/buffer.h"

enum { EVP_PKEY_ED25519 = 1087 };

static struct {
  void *(*new_key)(int type, void *engine, const unsigned char *key, size_t len);
  void (*free_key)(void *key);
  void *(*new_context)(void);
  void (*free_context)(void *context);
  int (*begin)(void *context, void **key_context, const void *digest, void *engine, void *key);
  int (*verify)(void *context, const unsigned char *signature, size_t signature_len,
                const unsigned char *text, size_t len);
} crypto;
static bool loaded;

static bool find_symbol(void *library, const char *name, void *to) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  return symbol;
}

/* libcrypto stays loaded, because it registers an exit handler. */
static void load_crypto(void) {
  static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  loaded = library && find_symbol(library, "EVP_PKEY_new_raw_public_key", &crypto.new_key) &&
           find_symbol(library, "EVP_PKEY_free", &crypto.free_key) &&
           find_symbol(library, "EVP_MD_CTX_new", &crypto.new_context) &&
           find_symbol(library, "EVP_MD_CTX_free", &crypto.free_context) &&
           find_symbol(library, "EVP_DigestVerifyInit", &crypto.begin) &&
           find_symbol(library, "EVP_DigestVerify", &crypto.verify);
}

enum ed25519_result ed25519_check(const unsigned char key[ED25519_KEY_BYTES],
                                  const unsigned char signature[ED25519_SIGNATURE_BYTES],
                                  const struct tidings_span *parts, size_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  struct buffer text = BUFFER_EMPTY;
  bool right = false;
  pthread_once(&once, load_crypto);
  if (!loaded) return ED25519_UNKNOWN;
  for (size_t i = 0; i < count; i++) buffer_span(&text, parts[i]);
  void *public_key = crypto.new_key(EVP_PKEY_ED25519, NULL, key, ED25519_KEY_BYTES);
  void *context = crypto.new_context();
  if (public_key && context && !text.failed)
    right = crypto.begin(context, NULL, NULL, NULL, public_key) == 1 &&
            crypto.verify(context, signature, ED25519_SIGNATURE_BYTES,
                          (const unsigned char *)text.bytes, text.len) == 1;
  if (context) crypto.free_context(context);
  if (public_key) crypto.free_key(public_key);
  buffer_free(&text);
  return right ? ED25519_RIGHT : ED25519_WRONG;
}
