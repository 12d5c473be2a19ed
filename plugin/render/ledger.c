/* SPDX-License-Identifier: MIT
 */
#include "render/ledger.h"

#include "common/json_write.h"

static void write_pending(struct json_writer *writer, const struct notification *note) {
  json_open(writer, NULL, '{');
  json_open(writer, "kind", '{');
  json_put_string(writer, "source", note->source);
  json_put_string(writer, "name", note->name);
  json_close(writer, '}');
  json_put_text(writer, "level", level_name(note->level));
  json_put_string(writer, "message", note->message);
  json_close(writer, '}');
}

static void write_queued(struct json_writer *writer, const struct render_queued *queued) {
  json_open(writer, NULL, '{');
  json_put_string(writer, "id", queued->id);
  json_put_text(writer, "state", queued->state);
  json_put_string(writer, "content", queued->content);
  if (queued->trigger.len) json_put_raw(writer, "trigger", queued->trigger);
  json_close(writer, '}');
}

int render_ledger(const struct render_ledger *ledger, struct arena *arena,
                  struct tidings_span *ret_json) {
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  json_open(&writer, NULL, '{');
  json_open(&writer, "pending", '[');
  for (size_t i = 0; i < ledger->note_count; i++) write_pending(&writer, ledger->notes[i]);
  json_close(&writer, ']');
  json_open(&writer, "queued", '[');
  for (size_t i = 0; i < ledger->queued_count; i++) write_queued(&writer, &ledger->queued[i]);
  json_close(&writer, ']');
  json_close(&writer, '}');
  int code = text.failed || arena_copy(arena, buffer_view(&text), ret_json) ? -1 : 0;
  buffer_free(&text);
  return code;
}
