/* SPDX-License-Identifier: MIT
 */
#include "listen/base64.h"

#include <stdint.h>

static int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t base64_read(struct tidings_span text, unsigned char bytes[BASE64_MOST]) {
  uint32_t word = 0;
  size_t len = 0;
  unsigned bits = 0;
  for (int padding = 0; padding < 2 && text.len && text.ptr[text.len - 1] == '='; padding++)
    text.len--;
  if (text.len % 4 == 1 || text.len / 4 * 3 + 2 > BASE64_MOST) return 0;
  for (size_t i = 0; i < text.len; i++) {
    int digit = digit_of(text.ptr[i]);
    if (digit < 0) return 0;
    word = word << 6 | (uint32_t)digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[len++] = (unsigned char)(word >> bits);
  }
  return len;
}
