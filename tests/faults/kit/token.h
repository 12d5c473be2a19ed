/* SPDX-License-Identifier: MIT
 *
 * kit/token.h: texts that identify themselves. Each push of a test has a number, its token, from
 * which its text is made. So a delivered text shows which push it was, and whether any of its bytes
 * is damaged.
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

/* Finds the token of a text; false: the text is not exactly the text of a token. */
bool token_parse(struct tidings_span text, uint64_t *ret_token);

/* A growing list of tokens. Zero: empty. */
struct tokens {
  uint64_t *at;
  size_t count, capacity;
};
void tokens_add(struct tokens *tokens, uint64_t token);
void tokens_free(struct tokens *tokens);

#endif
