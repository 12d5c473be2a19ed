/* SPDX-License-Identifier: MIT
 */
#include "agents/deliver/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/deliver/notes.h"
#include "command/kit.h"
#include "command/terminal.h"
#include "common/span.h"

enum { LONGEST_TEXT = 100 };

static bool is_wanted(struct hostkit *kit) {
  json_t *answer = NULL;
  if (kit_query(kit, json_pack("{s:s}", "name", "configure"), &answer, NULL)) return false;
  const json_t *alerts = json_object_get(json_object_get(answer, "config"), "alerts");
  bool wanted = json_is_true(json_object_get(alerts, "delivered"));
  json_decref(answer);
  return wanted;
}

/* Prints the first line, cut between characters. */
static void print_start(FILE *out, struct tidings_span text) {
  const char *line_end = !text.len ? NULL : memchr(text.ptr, '\n', text.len);
  size_t whole = line_end ? (size_t)(line_end - text.ptr) : text.len, len = whole;
  if (len > LONGEST_TEXT) len = LONGEST_TEXT;
  while (len && len < whole && ((unsigned char)text.ptr[len] & 0xc0) == 0x80) len--;
  terminal_bytes(out, text.ptr, len);
  if (len < text.len) fputs("\u2026", out);
}

static size_t count_notifications(const struct tidings_reply *reply) {
  size_t count = 0;
  for (size_t i = 0; i < reply->notification_count; i++) count += reply->notifications[i]->count;
  return count;
}

/* Prints "2 notifications, the first: CI failed; a steered message". */
static void print_parts(FILE *out, const char *content, const struct tidings_reply *reply) {
  size_t count = count_notifications(reply);
  const char *between = "";
  if (content[0]) {
    fputs("the next message: ", out);
    print_start(out, span_text(content));
    between = "; ";
  }
  if (reply->steered_count) {
    fprintf(out, "%s%s", between,
            reply->steered_count == 1 ? "a steered message" : "steered messages");
    between = "; ";
  }
  if (!count) return;
  fprintf(out, "%s%zu notification%s: ", between, count, count == 1 ? "" : "s, the first");
  print_start(out, reply->notifications[0]->text);
}

static char *line_of(const char *content, const struct tidings_reply *reply) {
  char *line = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&line, &len);
  if (!out) return NULL;
  fputs("tidings hands the model ", out);
  print_parts(out, content, reply);
  if (!fclose(out)) return line;
  free(line);
  return NULL;
}

/* The agent shows nothing of an answer to our command; the end of the command's turn shows it. */
static bool is_said_later(const struct hook_call *call) {
  return call->host->shows_at_stop && call->characters;
}

void hook_say(struct hostkit *kit, const struct hook_call *call, const char *content,
              const struct tidings_reply *reply, json_t *output) {
  const struct host *host = call->host;
  bool is_something = reply && (content[0] || reply->notification_count || reply->steered_count);
  bool later = is_said_later(call),
       shows = host->shows_messages || later || (host->shows_at_stop && call->moment == HOOK_STOP);
  if (!shows || !is_something || !is_wanted(kit)) return;
  char *line = line_of(content, reply);
  if (line && later) (void)hook_note_write(call, HOOK_NOTE_SAID, line);
  json_t *value = line && !later ? json_string(line) : NULL;
  if (value) (void)json_object_set_new(output, "systemMessage", value);
  free(line);
}

void hook_say_forget(const struct hook_call *call) { hook_note_remove(call, HOOK_NOTE_SAID); }

void hook_say_late(const struct hook_call *call, json_t **output) {
  char *line = call->moment == HOOK_STOP ? hook_note_read(call, HOOK_NOTE_SAID) : NULL;
  if (!line) return;
  hook_note_remove(call, HOOK_NOTE_SAID);
  if (!*output) *output = json_object();
  if (!json_object_get(*output, "systemMessage"))
    (void)json_object_set_new(*output, "systemMessage", json_string(line));
  free(line);
}
