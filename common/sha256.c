/* SPDX-License-Identifier: MIT
 */
#include "common/sha256.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned by) { return word >> by | word << (32 - by); }

static void read_schedule(const unsigned char *block, uint32_t words[64]) {
  for (size_t i = 0; i < 16; i++, block += 4)
    words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               (uint32_t)block[3];
  for (size_t i = 16; i < 64; i++) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + words[i - 7] +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
  }
}

static void compress(uint32_t state[8], const unsigned char *block) {
  uint32_t words[64], s[8];
  read_schedule(block, words);
  memcpy(s, state, sizeof s);
  for (size_t i = 0; i < 64; i++) {
    uint32_t first = s[7] +
                     (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
                     ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + words[i];
    uint32_t second = (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

void sha256_begin(struct sha256 *sha) {
  *sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha, struct tidings_span bytes) {
  for (size_t at = 0; at < bytes.len;) {
    size_t used = sha->length % SHA256_BLOCK, size = SHA256_BLOCK - used;
    if (size > bytes.len - at) size = bytes.len - at;
    memcpy(sha->block + used, bytes.ptr + at, size);
    sha->length += size;
    at += size;
    if (used + size == SHA256_BLOCK) compress(sha->state, sha->block);
  }
}

void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_BYTES]) {
  static const char padding[SHA256_BLOCK] = {(char)0x80};
  uint64_t bits = sha->length * 8;
  size_t used = sha->length % SHA256_BLOCK;
  char length[8];
  sha256_add(sha, span_of(padding, used < 56 ? 56 - used : 120 - used));
  for (unsigned i = 0; i < 8; i++) length[i] = (char)(bits >> (56 - 8 * i));
  sha256_add(sha, span_of(length, sizeof length));
  for (size_t i = 0; i < SHA256_BYTES; i++)
    digest[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hmac(struct tidings_span key, const struct tidings_span *parts, size_t count,
                 unsigned char mac[SHA256_BYTES]) {
  struct sha256 sha;
  unsigned char inner[SHA256_BLOCK] = {0}, outer[SHA256_BLOCK];
  if (key.len > SHA256_BLOCK) {
    sha256_begin(&sha);
    sha256_add(&sha, key);
    sha256_end(&sha, inner);
  } else if (key.len) memcpy(inner, key.ptr, key.len);
  for (size_t i = 0; i < SHA256_BLOCK; i++) {
    outer[i] = inner[i] ^ 0x5c;
    inner[i] ^= 0x36;
  }
  sha256_begin(&sha);
  sha256_add(&sha, span_of((const char *)inner, sizeof inner));
  for (size_t i = 0; i < count; i++) sha256_add(&sha, parts[i]);
  sha256_end(&sha, mac);
  sha256_begin(&sha);
  sha256_add(&sha, span_of((const char *)outer, sizeof outer));
  sha256_add(&sha, span_of((const char *)mac, SHA256_BYTES));
  sha256_end(&sha, mac);
}
