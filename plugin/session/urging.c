/* SPDX-License-Identifier: MIT
 *
 * session/urging.c: see urging.h.
 */
#include "session/urging.h"

#include "render/escape.h"

static bool is_urgent(const struct notification *note, const struct settings *settings) {
  return settings->critical_force &&
         (note->level == TIDINGS_LEVEL_CRITICAL || note->activation == ACTIVATION_INTERRUPT);
}

static bool is_critical(const struct item *item) {
  return item->note.level == TIDINGS_LEVEL_CRITICAL;
}

int urging_find(const struct planning *planning, struct item *items, size_t count,
                struct urging *ret_urging) {
  struct urging urging = {0};
  const bool *left;
  bool any = false;
  for (size_t i = 0; !any && i < count; i++) any = notification_rings(&items[i].note);
  if (any && planning_left(planning, items, count, &left)) return -1;
  for (size_t i = 0; any && i < count; i++) {
    const struct notification *note = &items[i].note;
    bool urgent = is_urgent(note, planning->settings);
    if (!left[i] || !(urgent || note->activation == ACTIVATION_IDLE)) continue;
    urging.urgency.urgent = urging.urgency.urgent || urgent;
    urging.urgency.asking = items[i].n;
    if (!urging.most || (is_critical(&items[i]) && !is_critical(urging.most)))
      urging.most = &items[i];
  }
  if (urging.most) urging.urgency.most = urging.most->n;
  *ret_urging = urging;
  return 0;
}

int urging_message(const struct item *most, struct arena *arena, struct tidings_span *ret_text) {
  struct buffer text = BUFFER_EMPTY;
  buffer_text(&text, is_critical(most) ? "Critical notification (" : "Notification (");
  escape_markdown_inline(most->note.source, &text);
  if (most->note.name.len) buffer_byte(&text, '.');
  escape_markdown_inline(most->note.name, &text);
  buffer_text(&text, "); see the notifications in this message.");
  int code = text.failed || arena_copy(arena, buffer_view(&text), ret_text) ? -1 : 0;
  buffer_free(&text);
  return code;
}
