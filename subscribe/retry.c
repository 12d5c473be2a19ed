/* SPDX-License-Identifier: MIT
 */
#include "subscribe/retry.h"

/* splitmix64 */
static uint64_t next_random(struct retry *retry) {
  uint64_t value = retry->random += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

int64_t retry_wait_ms(struct retry *retry) {
  int64_t most = RETRY_FIRST_MS;
  for (unsigned i = 0; i < retry->failures && most < RETRY_LONGEST_MS; i++) most *= 2;
  if (most > RETRY_LONGEST_MS) most = RETRY_LONGEST_MS;
  if (retry->failures < 64) retry->failures++;
  return most / 2 + (int64_t)(next_random(retry) % (uint64_t)(most / 2 + 1));
}
