/* SPDX-License-Identifier: MIT
 *
 * kit/token.h: messages that identify themselves. Each push of a test carries a number of its own,
 * its token; the text is made from the token alone, so that a message found in a carrier tells
 * which push it was and whether a single byte of it is damaged.
 */
#ifndef KIT_TOKEN_H
#define KIT_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include <tidings/abi.h>

enum { TOKEN_TEXT_MAX = 8192 };

/* Writes the text of a token (at most TOKEN_TEXT_MAX bytes with its NUL) and returns its length.
 * Most are short, every 8th is about a kilobyte, every 32nd is longer than a page of the store. */
size_t token_text(uint64_t token, char *buffer);

/* Reads a token back; false when the text is not exactly what some token's push had said. */
bool token_parse(struct tidings_span text, uint64_t *ret_token);

/* A growing list of tokens; zero is an empty one. */
struct tokens {
  uint64_t *at;
  size_t count, capacity;
};
void tokens_add(struct tokens *tokens, uint64_t token);
void tokens_free(struct tokens *tokens);

#endif
