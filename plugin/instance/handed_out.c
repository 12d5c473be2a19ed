/* SPDX-License-Identifier: MIT
 */
#include "instance/handed_out.h"

#include <stdint.h>

/* Two blocks from malloc differ in more than the lowest four bits. */
static struct handed_out_node **bucket_of(struct handed_out *set, const void *what) {
  uintptr_t address = (uintptr_t)what >> 4;
  return &set->buckets[(address ^ address >> 6 ^ address >> 12) % HANDED_OUT_BUCKETS];
}

void handed_out_init(struct handed_out *set) { (void)pthread_mutex_init(&set->lock, NULL); }
void handed_out_finish(struct handed_out *set) { pthread_mutex_destroy(&set->lock); }

void handed_out_add(struct handed_out *set, struct handed_out_node *node, enum handed_out_kind kind,
                    const void *what) {
  struct handed_out_node **first = bucket_of(set, what);
  pthread_mutex_lock(&set->lock);
  *node = (struct handed_out_node){.next = *first, .what = what, .kind = kind};
  *first = node;
  pthread_mutex_unlock(&set->lock);
}

bool handed_out_remove(struct handed_out *set, enum handed_out_kind kind, const void *what) {
  pthread_mutex_lock(&set->lock);
  struct handed_out_node **at = bucket_of(set, what);
  while (*at && ((*at)->what != what || (*at)->kind != kind)) at = &(*at)->next;
  bool found = *at;
  if (found) *at = (*at)->next;
  pthread_mutex_unlock(&set->lock);
  return found;
}
