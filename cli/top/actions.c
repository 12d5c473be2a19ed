/* SPDX-License-Identifier: MIT
 */
#include "cli/top/actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/message_change.h"

static const struct top_action draw = {.what = TOP_DRAW};

static struct top_action send_change(struct message_change change) {
  return (struct top_action){.what = TOP_SEND, .type = change.type, .data = change.data};
}

/* -- changes of a message ---------------------------------------------------------------------- */

static const json_t *chosen_message(struct top *top) {
  const json_t *item = top->pane == PANE_ITEMS ? top_item(top) : NULL;
  if (top->pane == PANE_SESSIONS)
    top_note(top, "Choose a message first: Tab leads to the messages and notifications.");
  else if (!item) top_note(top, "No message waits, and nothing is pending.");
  else if (!top->item_is_message)
    top_note(top, "This is a notification. Only messages can be edited, cancelled, moved and "
                  "steered.");
  return item && top->item_is_message ? item : NULL;
}

/* Returns the chosen message if it can be changed: no host was offered it (except with
 * `even_offered`) or has started it. */
static const json_t *changeable_message(struct top *top, const char *how, bool even_offered) {
  const json_t *message = chosen_message(top);
  const char *state = json_value_text(message, "state");
  bool offered = strcmp(state, "offered") == 0;
  if (!message || (!offered && strcmp(state, "leased") != 0) || (offered && even_offered))
    return message;
  if (offered)
    top_note(top, "The message is offered to the agent already and cannot be %s; c cancels it.",
             how);
  else top_note(top, "The message is with the agent already and cannot be %s.", how);
  return NULL;
}

static struct top_action begin_edit(struct top *top) {
  const json_t *message = changeable_message(top, "edited", false);
  if (!message) return draw;
  if (editor_begin(&top->editor, span_text(json_value_text(message, "content"))))
    top_note(top, "out of memory");
  else top->mode = MODE_EDIT;
  return draw;
}

static struct top_action begin_cancel(struct top *top) {
  if (changeable_message(top, "cancelled", true)) top->mode = MODE_CANCEL;
  return draw;
}

/* Moves a message before the one above it, or after the one below it. */
static struct top_action move_message(struct top *top, bool up) {
  size_t row = top->item_row, count = top_message_count(top);
  if (!changeable_message(top, "moved", false)) return draw;
  if (up ? row == 0 : row + 1 >= count) {
    top_note(top, "The message is the %s already.", up ? "first" : "last");
    return draw;
  }
  const json_t *before = up                ? top_item_at(top, row - 1)
                         : row + 2 < count ? top_item_at(top, row + 2)
                                           : NULL;
  return send_change(message_change_move(top->item, before ? json_value_text(before, "id") : NULL));
}

/* Does a turn run, or is one offered? */
static bool turn_runs(const struct top *top) {
  const json_t *sessions = json_object_get(top->sessions, "sessions"), *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    const char *state = json_value_text(session, "state");
    if (strcmp(json_value_text(session, "session"), top->session) == 0)
      return strcmp(state, "idle") != 0 && strcmp(state, "error") != 0;
  }
  return false;
}

static struct top_action redirect_message(struct top *top) {
  const json_t *message = changeable_message(top, "steered", false);
  if (!message) return draw;
  bool steered = strcmp(json_value_text(message, "delivery"), "steer") == 0;
  if (!steered && !turn_runs(top)) {
    top_note(top, "No turn runs into which the message could go; it waits for one of its own.");
    return draw;
  }
  return send_change(message_change_redirect(top->item, steered ? "queue" : "steer"));
}

static struct top_action explain_item(struct top *top) {
  const json_t *item = top->pane == PANE_ITEMS ? top_item(top) : NULL;
  if (!item) {
    top_note(top, "Choose a message or a notification first, with Tab and the arrows.");
    return draw;
  }
  free(top->words);
  free(top->explanation);
  top->explanation = NULL;
  top->words = strdup(json_value_text(item, top->item_is_message ? "content" : "message"));
  top->scroll = 0;
  top->mode = MODE_EXPLAIN;
  return (struct top_action){.what = TOP_ASK_EXPLANATION};
}

/* -- filters, order, what is new --------------------------------------------------------------- */

static struct top_action begin_filter(struct top *top) {
  if (editor_begin(&top->editor, span_text(top->filters[top->pane])))
    top_note(top, "out of memory");
  else top->mode = MODE_FILTER;
  return draw;
}

static struct top_action list_again(struct top *top) {
  char before[TOP_ID_BYTES];
  (void)snprintf(before, sizeof before, "%s", top->session);
  top_list_again(top);
  bool other = strcmp(before, top->session) != 0;
  return (struct top_action){.what = other ? TOP_ASK_ITEMS : TOP_DRAW};
}

/* Filters the list with each key; Escape lists everything again. */
static struct top_action key_in_filter(struct top *top, uint32_t key) {
  const struct buffer *text = &top->editor.text;
  bool ends = key == KEY_IS_ENTER || key == KEY_IS_ESCAPE;
  if (!ends) editor_key(&top->editor, key);
  (void)snprintf(top->filters[top->pane], TOP_FILTER_BYTES, "%.*s",
                 key == KEY_IS_ESCAPE || text->failed ? 0 : (int)text->len,
                 text->len ? text->bytes : "");
  if (ends) editor_end(&top->editor);
  if (ends) top->mode = MODE_LISTS;
  return list_again(top);
}

static struct top_action next_order(struct top *top) {
  top->order = (top->order + 1) % TOP_ORDER_COUNT;
  const char *name = listing_order_name(top->order);
  top_note(top, "The sessions are listed %s.", name[0] ? name : "with the running ones first");
  return list_again(top);
}

static struct top_action begin_new(struct top *top, enum top_mode mode) {
  if (!top->session[0]) top_note(top, "There is no session to send it to.");
  else if (editor_begin(&top->editor, span_text(""))) top_note(top, "out of memory");
  else top->mode = mode;
  return draw;
}

static struct top_action key_in_new(struct top *top, uint32_t key) {
  const struct buffer *text = &top->editor.text;
  bool submits = top->mode == MODE_SUBMIT;
  if (key != KEY_IS_ENTER && key != KEY_IS_ESCAPE) {
    editor_key(&top->editor, key);
    return draw;
  }
  top->mode = MODE_LISTS;
  if (key == KEY_IS_ESCAPE || !text->len || text->failed) {
    top_note(top, text->failed ? "out of memory: nothing was sent" : "Nothing was sent.");
    return draw;
  }
  json_t *words = json_stringn(text->bytes, text->len);
  json_t *data =
      submits ? json_pack("{s:o}", "content", words)
              : json_pack("{s:s, s:s, s:o}", "kind", "cli.note", "level", "info", "message", words);
  return (struct top_action){
      .what = TOP_SEND, .type = submits ? "message.submitted" : "notification", .data = data};
}

static struct top_action begin_preview(struct top *top) {
  if (!top->session[0]) return draw;
  free(top->words);
  free(top->explanation);
  top->words = top->explanation = NULL;
  top->scroll = 0;
  top->mode = MODE_PREVIEW;
  return (struct top_action){.what = TOP_ASK_PREVIEW};
}

/* -- idle sessions ----------------------------------------------------------------------------- */

static struct top_action begin_close(struct top *top) {
  const json_t *session = top_session(top);
  if (!session) top_note(top, "There is no session to close.");
  else if (json_is_true(json_object_get(session, "alive")))
    top_note(top, "This session runs: only its agent can close it.");
  else top->mode = MODE_CLOSE;
  return draw;
}

static struct top_action begin_clear(struct top *top) {
  if (top_idle_count(top)) top->mode = MODE_CLEAR;
  else top_note(top, "Every session runs, or something waits in it.");
  return draw;
}

static struct top_action key_in_close(struct top *top, uint32_t key) {
  bool clears = top->mode == MODE_CLEAR;
  top->mode = MODE_LISTS;
  if (key != 'y') {
    top_note(top, clears ? "The sessions stay." : "The session stays.");
    return draw;
  }
  return (struct top_action){.what = clears ? TOP_CLEAR : TOP_CLOSE};
}

void top_cleared(struct top *top, size_t closed, const char *refused) {
  if (refused) top_note(top, "%zu sessions are closed; then: %s", closed, refused);
  else if (closed == 1) top_note(top, "One session is closed.");
  else top_note(top, "%zu sessions are closed.", closed);
}

void top_sent(struct top *top, const char *type, const char *refused) {
  static const struct {
    const char *type, *done;
  } events[] = {{"message.edited", "The message has other words now."},
                {"message.cancelled", "The message is cancelled."},
                {"message.moved", "The message is at another place."},
                {"message.redirected", "The message goes another way."},
                {"message.submitted", "The message is submitted."},
                {"session.closed", "The session is closed."},
                {"notification", "The notification is pushed."}};
  if (refused) {
    top_note(top, "%s", refused);
    return;
  }
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (strcmp(type, events[i].type) == 0) top_note(top, "%s", events[i].done);
}

/* -- the keys of each mode --------------------------------------------------------------------- */

static struct top_action choose(struct top *top, ptrdiff_t by) {
  bool other = top_move_choice(top, by);
  struct top_action action = draw;
  if (other && top->pane == PANE_SESSIONS) action.what = TOP_ASK_ITEMS;
  return action;
}

static ptrdiff_t page(const struct top *top) {
  size_t shown = top->pane == PANE_SESSIONS ? top->shown_sessions : top->shown_items;
  return shown > 2 ? (ptrdiff_t)shown - 1 : 1;
}

/* Translates keys that people know from htop, less and k9s. */
static uint32_t key_meant(uint32_t key) {
  switch (key) {
  case KEY_IS_HELP: return '?';
  case KEY_IS_SEARCH: return '/';
  case KEY_IS_SORT: return 'o';
  case KEY_IS_QUIT: return 'q';
  case 'd': return 'x';
  case 'g': return KEY_IS_HOME;
  case 'G': return KEY_IS_END;
  case KEY_CONTROL('b'): return KEY_IS_PAGE_UP;
  case KEY_CONTROL('f'): return KEY_IS_PAGE_DOWN;
  case KEY_CONTROL('d'): return 'D';
  default: return key;
  }
}

static bool key_moves(struct top *top, uint32_t key, struct top_action *ret_action) {
  ptrdiff_t by = 0;
  switch (key) {
  case KEY_IS_UP:
  case 'k': by = -1; break;
  case KEY_IS_DOWN:
  case 'j': by = 1; break;
  case KEY_IS_PAGE_UP: by = -page(top); break;
  case KEY_IS_PAGE_DOWN: by = page(top); break;
  case KEY_IS_HOME: by = -PTRDIFF_MAX; break;
  case KEY_IS_END: by = PTRDIFF_MAX / 2; break;
  default: return false;
  }
  *ret_action = choose(top, by);
  return true;
}

static struct top_action enter(struct top *top) {
  if (top->pane == PANE_ITEMS) return explain_item(top);
  top->pane = PANE_ITEMS;
  return draw;
}

/* Removes the pane's filter; without a filter, goes back to the sessions. */
static struct top_action go_back(struct top *top) {
  if (!top->filters[top->pane][0]) {
    top->pane = PANE_SESSIONS;
    return draw;
  }
  top->filters[top->pane][0] = '\0';
  return list_again(top);
}

static struct top_action key_in_lists(struct top *top, uint32_t typed) {
  uint32_t key = key_meant(typed);
  struct top_action action = draw;
  if (key_moves(top, key, &action)) return action;
  switch (key) {
  case '\t': top->pane = top->pane == PANE_SESSIONS ? PANE_ITEMS : PANE_SESSIONS; return draw;
  case KEY_IS_ENTER: return enter(top);
  case 'x': return explain_item(top);
  case 'e': return begin_edit(top);
  case 'c': return begin_cancel(top);
  case 'K': return move_message(top, true);
  case 'J': return move_message(top, false);
  case 's': return redirect_message(top);
  case '/': return begin_filter(top);
  case 'o': return next_order(top);
  case 'v': return begin_preview(top);
  case 'n': return begin_new(top, MODE_SUBMIT);
  case 'p': return begin_new(top, MODE_PUSH);
  case 'D': return begin_close(top);
  case 'Z': return begin_clear(top);
  case '?':
    top->mode = MODE_HELP;
    top->scroll = 0;
    return draw;
  case KEY_IS_ESCAPE: return go_back(top);
  case 'q': return (struct top_action){.what = TOP_QUIT};
  default: return draw;
  }
}

static void scroll(struct top *top, ptrdiff_t by) {
  if (by > 0 && top->text_ends) return;
  ptrdiff_t to = (ptrdiff_t)top->scroll + by;
  top->scroll = to > 0 ? (size_t)to : 0;
}

static void key_in_text(struct top *top, uint32_t typed) {
  uint32_t key = key_meant(typed);
  ptrdiff_t lines = 1;
  if (top->shown_text > 2) lines = (ptrdiff_t)top->shown_text - 1;
  switch (key) {
  case KEY_IS_UP:
  case 'k': scroll(top, -1); break;
  case KEY_IS_DOWN:
  case 'j': scroll(top, 1); break;
  case KEY_IS_PAGE_UP: scroll(top, -lines); break;
  case KEY_IS_PAGE_DOWN:
  case ' ': scroll(top, lines); break;
  case KEY_IS_HOME: top->scroll = 0; break;
  case KEY_IS_ESCAPE:
  case KEY_IS_ENTER:
  case 'x':
  case 'v':
  case '?':
  case 'q':
    top->mode = MODE_LISTS;
    top_find_item(top);
    break;
  default: break;
  }
}

static struct top_action key_in_edit(struct top *top, uint32_t key) {
  if (key == KEY_IS_ESCAPE) {
    top->mode = MODE_LISTS;
    top_note(top, "The message stays as it was.");
    return draw;
  }
  if (key != KEY_IS_ENTER) {
    editor_key(&top->editor, key);
    return draw;
  }
  const struct buffer *text = &top->editor.text;
  top->mode = MODE_LISTS;
  if (text->failed) top_note(top, "out of memory: the message stays as it was");
  if (text->failed) return draw;
  return send_change(message_change_edit(top->item, buffer_view(text)));
}

static struct top_action key_in_cancel(struct top *top, uint32_t key) {
  top->mode = MODE_LISTS;
  if (key == 'y') return send_change(message_change_cancel(top->item));
  top_note(top, "The message stays.");
  return draw;
}

static void key_in_gone(struct top *top, uint32_t key) {
  if (key != KEY_IS_ESCAPE && key != KEY_IS_ENTER) return;
  top->mode = MODE_LISTS;
  top_note(top, "Nothing was sent.");
}

/* Inserts pasted characters into an editor. Without one they are ignored, because they are no
 * keys. */
static void take_pasted(struct top *top, uint32_t key) {
  bool writes = top->mode == MODE_EDIT || top->mode == MODE_SUBMIT || top->mode == MODE_PUSH;
  if (writes) editor_insert(&top->editor, key == '\r' ? '\n' : key);
}

struct top_action top_key(struct top *top, uint32_t key) {
  if (key == KEY_IS_PASTE || key == KEY_IS_PASTED) {
    top->pasting = key == KEY_IS_PASTE;
    return draw;
  }
  if (top->pasting) {
    take_pasted(top, key);
    return draw;
  }
  top->note[0] = '\0';
  switch (top->mode) {
  case MODE_EDIT: return key_in_edit(top, key);
  case MODE_CANCEL: return key_in_cancel(top, key);
  case MODE_CLOSE:
  case MODE_CLEAR: return key_in_close(top, key);
  case MODE_FILTER: return key_in_filter(top, key);
  case MODE_SUBMIT:
  case MODE_PUSH: return key_in_new(top, key);
  case MODE_GONE: key_in_gone(top, key); return draw;
  case MODE_EXPLAIN:
  case MODE_PREVIEW:
  case MODE_HELP: key_in_text(top, key); return draw;
  case MODE_LISTS: break;
  }
  return key_in_lists(top, key);
}
