/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/marker.c: the proof is eight digits of a keyed hash of the number. A valid one
 * cannot be found by trial, because a wrong proof has no visible effect.
 */
#include "agents/transcript/marker.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/siphash.h"

enum { BASE = 36, PROOF_DIGITS = 8 };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static struct {
  uint8_t bytes[16];
  bool is_set;
} marker_key;

void hook_marker_set_key(const uint8_t key[16]) {
  memcpy(marker_key.bytes, key, sizeof marker_key.bytes);
  marker_key.is_set = true;
}

static void prove(enum hook_marker_of of, uint64_t number, char proof[PROOF_DIGITS]) {
  char text[48];
  int len = snprintf(text, sizeof text, "%s %llu",
                     of == HOOK_MARKER_OF_NUDGE ? "nudge" : "delivery", (unsigned long long)number);
  uint64_t hash = siphash(marker_key.bytes, span_of(text, (size_t)len));
  for (int i = 0; i < PROOF_DIGITS; i++, hash /= BASE) proof[i] = digits[hash % BASE];
}

void hook_marker_write(enum hook_marker_of of, uint64_t number, char text[HOOK_MARKER_SIZE]) {
  char id[16], proof[PROOF_DIGITS], *at = id + sizeof id;
  prove(of, number, proof);
  *--at = '\0';
  do *--at = digits[number % BASE];
  while (number /= BASE);
  (void)snprintf(text, HOOK_MARKER_SIZE, HOOK_MARKER_OPENING "%s-%.*s]", at, PROOF_DIGITS, proof);
}

static const char *read_number(const char *at, const char *end, uint64_t *ret_number) {
  uint64_t number = 0;
  const char *start = at;
  for (; at < end && (isdigit((unsigned char)*at) || islower((unsigned char)*at)); at++) {
    uint64_t digit = (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : *at - 'a' + 10);
    if (number > (UINT64_MAX - digit) / BASE) return NULL;
    number = number * BASE + digit;
  }
  *ret_number = number;
  return at == start ? NULL : at;
}

const char *hook_marker_read(enum hook_marker_of of, const char *at, const char *end,
                             uint64_t *ret_number) {
  char proof[PROOF_DIGITS];
  uint64_t number;
  if (!marker_key.is_set || !(at = read_number(at, end, &number))) return NULL;
  if (end - at < PROOF_DIGITS + 2 || *at != '-' || at[1 + PROOF_DIGITS] != ']') return NULL;
  prove(of, number, proof);
  if (memcmp(at + 1, proof, sizeof proof) != 0) return NULL;
  *ret_number = number;
  return at + PROOF_DIGITS + 2;
}

/* Returns where the text ends if a "</tag>" at its end does not count. */
static const char *before_tag(const char *begin, const char *end) {
  const char *tag =
      end > begin && end[-1] == '>' ? memrchr(begin, '<', (size_t)(end - begin)) : NULL;
  if (!tag || end - tag < 3 || tag[1] != '/') return end;
  size_t len = (size_t)(end - 1 - tag);
  return memchr(tag, '>', len) || memchr(tag, '\\', len) ? end : tag;
}

static bool ends_in_newline(const char *begin, const char *end) {
  return end - begin >= 2 && end[-1] == 'n' && end[-2] == '\\' &&
         (end - begin < 3 || end[-3] != '\\');
}

const char *hook_marker_at_end(struct tidings_span written, uint64_t *ret_delivery) {
  static const char opening[] = HOOK_MARKER_OPENING;
  const char *begin = written.ptr, *end = before_tag(begin, begin + written.len);
  while (ends_in_newline(begin, end)) end -= 2;
  if (end == begin || end[-1] != ']') return NULL;
  size_t len = (size_t)(end - begin), most = HOOK_MARKER_SIZE;
  const char *marker = memrchr(len > most ? end - most : begin, '[', len > most ? most : len);
  if (!marker || (size_t)(end - marker) < sizeof opening ||
      memcmp(marker, opening, sizeof opening - 1) != 0 || !ends_in_newline(begin, marker))
    return NULL;
  return hook_marker_read(HOOK_MARKER_OF_DELIVERY, marker + sizeof opening - 1, end,
                          ret_delivery) == end
             ? marker
             : NULL;
}
