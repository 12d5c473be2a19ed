/* SPDX-License-Identifier: MIT
 *
 * top/model.h: the state of `tidings top`: the answers of queries, the choice, and the mode. Pure:
 * it does not query, print, or use a clock.
 */
#ifndef TIDINGS_CLI_TOP_MODEL_H
#define TIDINGS_CLI_TOP_MODEL_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/top/editor.h"
#include "cli/top/listing.h"

enum top_pane { PANE_SESSIONS, PANE_ITEMS };
enum top_mode {
  MODE_LISTS,
  MODE_EXPLAIN, /* a text in place of the lower list */
  MODE_HELP,    /* the same */
  MODE_PREVIEW, /* the same: what would be delivered next */
  MODE_EDIT,
  MODE_FILTER, /* types the pane's filter */
  MODE_SUBMIT, /* a new message */
  MODE_PUSH,   /* a new notification */
  MODE_CANCEL, /* asks for confirmation */
  MODE_CLOSE,  /* the same, for the chosen session */
  MODE_CLEAR,  /* the same, for all idle sessions */
  MODE_GONE /* the item that was edited or asked about is gone: only the key that ends this mode has
               an effect */
};

enum { TOP_ID_BYTES = 256, TOP_NOTE_BYTES = 512, TOP_FILTER_BYTES = 128 };

/* Zero: nothing is known yet. */
struct top {
  json_t *sessions; /* the answer of the query `sessions` with details, as listed; NULL: not asked
                       yet */
  json_t *queue, *pending;                        /* the same, about the chosen session */
  json_t *all_sessions, *all_queue, *all_pending; /* those answers before filters and order */
  json_t *delivered; /* the answer of `history` about the chosen session; NULL: not asked yet */

  char filters[2][TOP_FILTER_BYTES]; /* one for each pane; "": everything is listed */
  enum top_order order;

  char session[TOP_ID_BYTES]; /* the chosen one; "": none */
  char item[TOP_ID_BYTES];    /* the chosen message or notification; "": the first */
  bool item_is_message;
  size_t session_row,
      item_row; /* the last rows of session and item: if those are gone, the new choice is there */
  enum top_pane pane;
  enum top_mode mode;
  bool pasting; /* the next characters are pasted, not typed */

  struct editor editor;      /* MODE_FILTER, MODE_SUBMIT, MODE_PUSH: the typed text; MODE_EDIT: the
                                message's text; MODE_GONE: the text that could not be sent, or
                                empty */
  char *words;               /* MODE_EXPLAIN: the words of the chosen item .. */
  char *explanation;         /* .. and its explanation; NULL: not queried yet */
  size_t scroll;             /* MODE_EXPLAIN and MODE_HELP: how many lines are above the screen */
  char note[TOP_NOTE_BYTES]; /* an error, or a report; shown until the next key */

  size_t shown_sessions, shown_items, shown_text; /* how many lines were drawn, by top_draw */
  bool text_ends;                                 /* the text's last line was drawn */
};

/* Take answers over; the choice stays if its row still exists. NULL: no session is chosen, or it
 * was not queried. */
void top_take_sessions(struct top *top, json_t *sessions);
void top_take_items(struct top *top, json_t *queue, json_t *pending);
/* The same for the last deliveries. */
void top_take_delivered(struct top *top, json_t *history);
/* Lists the rows again, by the current filters and order. */
void top_list_again(struct top *top);
void top_finish(struct top *top);

/* Chooses a session by its id; "": the first. */
void top_choose_session(struct top *top, const char *session);

size_t top_session_count(const struct top *top);
/* Is it a session without a running host and without waiting items, and no mailbox? */
bool top_session_is_idle(const json_t *session);
size_t top_idle_count(const struct top *top); /* counts also sessions that the filter leaves out */
const json_t *top_session(const struct top *top); /* the chosen one; NULL: none */

/* The messages, then the notifications, as one list. */
size_t top_message_count(const struct top *top);
size_t top_item_count(const struct top *top);
const json_t *top_item_at(const struct top *top, size_t row);
const json_t *top_item(const struct top *top); /* the chosen one; NULL: there is none */

/* Chooses the row of the chosen item again, or, if the item is gone, the item that is now in its
 * row. */
void top_find_item(struct top *top);

/* Moves the pane's choice by up to `by` rows. Returns whether it has moved. */
bool top_move_choice(struct top *top, ptrdiff_t by);

/* Sets the note, a line for the person. */
void top_note(struct top *top, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
