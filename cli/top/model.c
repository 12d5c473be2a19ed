/* SPDX-License-Identifier: MIT
 */
#include "cli/top/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/address.h"
#include "command/json_value.h"

void top_note(struct top *top, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(top->note, sizeof top->note, format, arguments);
  va_end(arguments);
}

/* -- sessions ---------------------------------------------------------------------------------- */

static const json_t *session_list(const struct top *top) {
  return json_object_get(top->sessions, "sessions");
}

size_t top_session_count(const struct top *top) { return json_array_size(session_list(top)); }

const json_t *top_session(const struct top *top) {
  const json_t *list = session_list(top);
  const json_t *session = json_array_get(list, top->session_row);
  return strcmp(json_value_text(session, "session"), top->session) == 0 ? session : NULL;
}

bool top_session_is_idle(const json_t *session) {
  return json_is_false(json_object_get(session, "alive")) &&
         !json_value_count(session, "pending") && !json_value_count(session, "leased") &&
         !json_value_count(session, "queued") &&
         !address_is_mailbox(json_value_text(session, "session"));
}

size_t top_idle_count(const struct top *top) {
  const json_t *list = json_object_get(top->all_sessions, "sessions"), *session = NULL;
  size_t i = 0, count = 0;
  json_array_foreach(list, i, session) count += top_session_is_idle(session);
  return count;
}

static void forget_items(struct top *top) {
  json_decref(top->queue);
  json_decref(top->pending);
  json_decref(top->all_queue);
  json_decref(top->all_pending);
  json_decref(top->delivered);
  top->queue = top->pending = top->all_queue = top->all_pending = top->delivered = NULL;
  top->item[0] = '\0';
  top->item_row = 0;
}

static void choose_session_row(struct top *top, size_t row) {
  const char *id = json_value_text(json_array_get(session_list(top), row), "session");
  bool other = strcmp(id, top->session) != 0;
  top->session_row = row;
  (void)snprintf(top->session, sizeof top->session, "%s", id);
  if (other) forget_items(top);
}

void top_choose_session(struct top *top, const char *session) {
  const json_t *one = NULL;
  size_t i = 0, row = 0;
  json_array_foreach(session_list(top), i, one) {
    if (strcmp(json_value_text(one, "session"), session) == 0) row = i;
  }
  choose_session_row(top, row);
}

/* Changes the mode when its message or notification is gone: a person who is still typing must not
 * act on the next row. */
static void leave_mode(struct top *top) {
  if (top->mode == MODE_CANCEL) editor_end(&top->editor);
  if (top->mode == MODE_EDIT || top->mode == MODE_CANCEL) top->mode = MODE_GONE;
  if (top->mode == MODE_EXPLAIN || top->mode == MODE_CLOSE) top->mode = MODE_LISTS;
}

/* Filters the list; if memory runs out, everything is listed. */
static json_t *listed(const struct top *top, json_t *answer, const char *member,
                      enum top_pane pane) {
  json_t *list = listing_filter(answer, member, top->filters[pane]);
  return list ? list : json_incref(answer);
}

void top_take_sessions(struct top *top, json_t *sessions) {
  const json_t *one = NULL;
  size_t i = 0, row = top->session_row;
  json_decref(top->sessions);
  if (sessions != top->all_sessions) json_decref(top->all_sessions);
  top->all_sessions = sessions;
  top->sessions = listed(top, sessions, "sessions", PANE_SESSIONS);
  listing_sort(top->sessions, top->order);
  size_t count = top_session_count(top);
  if (row >= count) row = count ? count - 1 : 0;
  json_array_foreach(session_list(top), i, one) {
    if (strcmp(json_value_text(one, "session"), top->session) == 0) row = i;
  }
  const json_t *now = json_array_get(session_list(top), row);
  if (strcmp(json_value_text(now, "session"), top->session) != 0) leave_mode(top);
  choose_session_row(top, row);
}

/* -- messages and notifications ---------------------------------------------------------------- */

size_t top_message_count(const struct top *top) {
  return json_array_size(json_object_get(top->queue, "messages"));
}

size_t top_item_count(const struct top *top) {
  return top_message_count(top) + json_array_size(json_object_get(top->pending, "items"));
}

const json_t *top_item_at(const struct top *top, size_t row) {
  size_t messages = top_message_count(top);
  return row < messages ? json_array_get(json_object_get(top->queue, "messages"), row)
                        : json_array_get(json_object_get(top->pending, "items"), row - messages);
}

const json_t *top_item(const struct top *top) { return top_item_at(top, top->item_row); }

static void choose_item_row(struct top *top, size_t row) {
  top->item_row = row;
  top->item_is_message = row < top_message_count(top);
  (void)snprintf(top->item, sizeof top->item, "%s", json_value_text(top_item_at(top, row), "id"));
}

/* Returns the row of the chosen item; SIZE_MAX: it is gone. */
static size_t row_of_item(const struct top *top) {
  size_t count = top_item_count(top), messages = top_message_count(top);
  for (size_t i = 0; i < count; i++) {
    if ((i < messages) == top->item_is_message &&
        strcmp(json_value_text(top_item_at(top, i), "id"), top->item) == 0)
      return i;
  }
  return SIZE_MAX;
}

void top_find_item(struct top *top) {
  size_t count = top_item_count(top), row = row_of_item(top);
  if (row == SIZE_MAX) row = top->item_row < count ? top->item_row : count ? count - 1 : 0;
  choose_item_row(top, row);
}

void top_take_items(struct top *top, json_t *queue, json_t *pending) {
  json_decref(top->queue);
  json_decref(top->pending);
  if (queue != top->all_queue) json_decref(top->all_queue);
  if (pending != top->all_pending) json_decref(top->all_pending);
  top->all_queue = queue;
  top->all_pending = pending;
  top->queue = listed(top, queue, "messages", PANE_ITEMS);
  top->pending = listed(top, pending, "items", PANE_ITEMS);
  bool gone = top->item[0] && row_of_item(top) == SIZE_MAX;
  if (gone && top->mode == MODE_EXPLAIN) return; /* its explanation stays on the screen */
  if (gone) leave_mode(top);
  top_find_item(top);
}

void top_take_delivered(struct top *top, json_t *history) {
  json_decref(top->delivered);
  top->delivered = history;
}

void top_list_again(struct top *top) {
  if (top->all_sessions) top_take_sessions(top, top->all_sessions);
  if (top->all_queue) top_take_items(top, top->all_queue, top->all_pending);
}

/* -- choosing ---------------------------------------------------------------------------------- */

static size_t moved(size_t row, ptrdiff_t by, size_t count) {
  ptrdiff_t to = (ptrdiff_t)row + by;
  if (to < 0 || !count) return 0;
  return (size_t)to < count ? (size_t)to : count - 1;
}

bool top_move_choice(struct top *top, ptrdiff_t by) {
  bool sessions = top->pane == PANE_SESSIONS;
  size_t row = sessions ? top->session_row : top->item_row;
  size_t to = moved(row, by, sessions ? top_session_count(top) : top_item_count(top));
  if (sessions) choose_session_row(top, to);
  else choose_item_row(top, to);
  return to != row;
}

void top_finish(struct top *top) {
  forget_items(top);
  json_decref(top->sessions);
  json_decref(top->all_sessions);
  editor_end(&top->editor);
  free(top->words);
  free(top->explanation);
  *top = (struct top){.sessions = NULL};
}
