/* SPDX-License-Identifier: MIT
 *
 * instance/handed_out.h: the set of replies and answers that the host holds. A pointer that the
 * host gives back is looked up here before it is followed, so one that was released before, or was
 * never handed out, does no harm. It must not know what a reply or an answer is.
 */
#ifndef INSTANCE_HANDED_OUT_H
#define INSTANCE_HANDED_OUT_H

#include <pthread.h>
#include <stdbool.h>

enum handed_out_kind { HANDED_OUT_REPLY, HANDED_OUT_ANSWER };

/* A part of what is handed out: adding needs no memory and cannot fail. */
struct handed_out_node {
  struct handed_out_node *next;
  const void *what; /* the pointer that the host has */
  enum handed_out_kind kind;
};

enum { HANDED_OUT_BUCKETS = 64 };
struct handed_out {
  pthread_mutex_t lock;
  struct handed_out_node *buckets[HANDED_OUT_BUCKETS];
};

void handed_out_init(struct handed_out *set);
void handed_out_finish(struct handed_out *set); /* frees no node */
/* The node is the set's until it is removed. */
void handed_out_add(struct handed_out *set, struct handed_out_node *node, enum handed_out_kind kind,
                    const void *what);
/* False: `what` is not in the set as this kind; it is not dereferenced. */
bool handed_out_remove(struct handed_out *set, enum handed_out_kind kind, const void *what);

#endif
