/* SPDX-License-Identifier: MIT
 *
 * kit/turns.h: messages and turns through the rig. A message's id and content are made from a
 * token, so an offer shows which message it has, and whether any of its bytes is damaged.
 */
#ifndef KIT_TURNS_H
#define KIT_TURNS_H

#include "kit/rig.h"

/* The answer of a call about turns. Zero it before the first use; free it with heard_clear. */
struct heard {
  bool asked;            /* the host must start a turn .. */
  struct tokens offered; /* .. with these messages, in order */
  uint64_t delivery;     /* to be settled; 0: nothing */
  struct tokens steered; /* messages on the tool result */
  uint32_t state;        /* TIDINGS_STATE_*; only if there was a reply */
  size_t damaged;        /* how many messages nobody has submitted in this form */
  char sample[80];       /* the beginning of a damaged message */
};
void heard_clear(struct heard *heard);

int32_t turns_submit(struct rig *rig, const char *session, uint64_t token, bool steer,
                     struct heard *ret_heard, struct tidings_error *error);
int32_t turns_cancel(struct rig *rig, const char *session, uint64_t token, struct heard *ret_heard,
                     struct tidings_error *error);
/* Sends an event of a turn, with the ids of `tokens`, if there are any. */
int32_t turns_event(struct rig *rig, const char *session, const char *type,
                    const struct tokens *tokens, struct heard *ret_heard,
                    struct tidings_error *error);
/* Call the hooks, for a request with the messages of `tokens`, and for a tool's result. */
int32_t turns_request(struct rig *rig, const char *session, const struct tokens *tokens,
                      struct heard *ret_heard, struct tidings_error *error);
int32_t turns_result(struct rig *rig, const char *session, struct heard *ret_heard,
                     struct tidings_error *error);
int32_t turns_settle(struct rig *rig, uint64_t delivery, uint32_t outcome, struct heard *ret_heard,
                     struct tidings_error *error);

#endif
