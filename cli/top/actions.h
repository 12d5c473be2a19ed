/* SPDX-License-Identifier: MIT
 *
 * top/actions.h: the effect of a key in the current view. Pure: it returns the query or event to
 * send.
 */
#ifndef TIDINGS_CLI_TOP_ACTIONS_H
#define TIDINGS_CLI_TOP_ACTIONS_H

#include "cli/top/model.h"

enum top_do {
  TOP_DRAW,      /* only draw again */
  TOP_ASK_ITEMS, /* another session was chosen */
  TOP_ASK_EXPLANATION,
  TOP_ASK_PREVIEW,
  TOP_SEND,  /* an event to the chosen session */
  TOP_CLOSE, /* close the chosen session */
  TOP_CLEAR, /* close every session for which top_session_is_idle holds */
  TOP_QUIT
};

struct top_action {
  enum top_do what;
  const char *type; /* TOP_SEND */
  json_t *data;     /* TOP_SEND: its data, which the caller owns; NULL: out of memory */
};

struct top_action top_key(struct top *top, uint32_t key);

/* Shows a note that the event was accepted, or with `refused`, why it was not. */
void top_sent(struct top *top, const char *type, const char *refused);
/* The same after TOP_CLEAR. */
void top_cleared(struct top *top, size_t closed, const char *refused);

#endif
