/* SPDX-License-Identifier: MIT
 */
#include "kit/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/random.h"

static size_t filler_length(uint64_t token) {
  uint64_t dice = random_mix(token);
  if (token % 32 == 31) return 4200 + dice % 3000;
  if (token % 8 == 7) return 700 + dice % 600;
  return dice % 90;
}

size_t token_text(uint64_t token, char *buffer) {
  size_t length =
      (size_t)snprintf(buffer, TOKEN_TEXT_MAX, "token %020llu ", (unsigned long long)token);
  struct random random = random_seeded(token, 77);
  for (size_t filler = filler_length(token); filler > 0; filler--)
    buffer[length++] = (char)('a' + random_below(&random, 26));
  buffer[length++] = '.';
  buffer[length] = 0;
  return length;
}

bool token_parse(struct tidings_span text, uint64_t *ret_token) {
  char expected[TOKEN_TEXT_MAX];
  if (text.len < 27 || memcmp(text.ptr, "token ", 6) != 0) return false;
  uint64_t token = 0;
  for (size_t i = 6; i < 26; i++) {
    if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
    token = token * 10 + (uint64_t)(text.ptr[i] - '0');
  }
  size_t length = token_text(token, expected);
  if (length != text.len || memcmp(text.ptr, expected, length) != 0) return false;
  *ret_token = token;
  return true;
}

void tokens_add(struct tokens *tokens, uint64_t token) {
  if (tokens->count == tokens->capacity) {
    tokens->capacity = tokens->capacity ? tokens->capacity * 2 : 64;
    tokens->at = realloc(tokens->at, tokens->capacity * sizeof(tokens->at[0]));
    if (!tokens->at) abort();
  }
  tokens->at[tokens->count++] = token;
}

void tokens_free(struct tokens *tokens) {
  free(tokens->at);
  *tokens = (struct tokens){0};
}
