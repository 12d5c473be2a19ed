/* SPDX-License-Identifier: MIT
 *
 * subscribe/sender.h: makes notifications of events and stores them. If the store cannot take one
 * now, it tries again until it can: nothing is lost.
 */
#ifndef SUBSCRIBE_SENDER_H
#define SUBSCRIBE_SENDER_H

#include "command/mailbox_retry.h"
#include "recipes/recipe.h"
#include "subscribe/output.h"

struct sender {
  const struct cli *cli;
  struct recipe *recipe;
  struct destination destination;
  char *source;   /* identifies an event, together with its id, if it comes again */
  uint32_t level; /* the highest level */
  uint64_t pushed, known, ignored, refused;
  struct mailbox_retry retry;
};

/* Says on stderr what is wrong. Returns 0, or the exit code; sender_close in any case. */
int sender_open(const struct cli *cli, const char *recipe, uint32_t level, struct sender *sender);
void sender_close(struct sender *sender);

/* Execute OUTPUT_PUSH and OUTPUT_NOTICE. Each returns 0 when the notification is stored, or is not
 * to be stored; otherwise the program must end. */
int sender_push(struct sender *sender, const struct output *output);
int sender_notice(struct sender *sender, const struct output *output);

/* The session that now works in the folder collects the pushes since the last call. */
void sender_forward(struct sender *sender, bool last);
void sender_print_counts(const struct sender *sender);

#endif
