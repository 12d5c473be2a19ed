/* SPDX-License-Identifier: MIT
 *
 * timeline/data.c: makes the page's data from an answer. It writes columns, and each text once: a
 * page of 100,000 items has to open at once. page/model.js reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/time.h"
#include "cli/timeline/timeline.h"
#include "command/json_value.h"
#include "common/json_write.h"

int64_t timeline_ms(const char *time) { return hook_time_ms(time); }

struct packing {
  json_t *places;        /* each text's place in `strings` */
  struct buffer strings; /* elements of an array */
  struct json_writer strings_writer;
  struct json_writer writer;
};

/* Returns the number of the text in the table. Adds the text if it is new. */
static int64_t text_number(struct packing *packing, const char *text, size_t len) {
  const json_t *known = json_object_getn(packing->places, text, len);
  if (known) return json_integer_value(known);
  int64_t number = (int64_t)json_object_size(packing->places);
  if (json_object_setn_new(packing->places, text, len, json_integer(number)))
    packing->strings.failed = true;
  json_put_string(&packing->strings_writer, NULL, span_of(text, len));
  return number;
}

static void put_text_number(struct packing *packing, const char *key, const json_t *value) {
  const char *text = json_is_string(value) ? json_string_value(value) : "";
  size_t len = json_is_string(value) ? json_string_length(value) : 0;
  json_put_i64(&packing->writer, key, text_number(packing, text, len));
}

static void put_time(struct packing *packing, const char *key, const json_t *object,
                     const char *name) {
  json_put_i64(&packing->writer, key, timeline_ms(json_value_text(object, name)));
}

/* -- items ------------------------------------------------------------------------------------- */

static void put_times(struct packing *packing, const json_t *items, const char *name) {
  const json_t *item = NULL;
  size_t i = 0;
  json_open(&packing->writer, name, '[');
  json_array_foreach(items, i, item) put_time(packing, NULL, item, name);
  json_close(&packing->writer, ']');
}

/* `of`: the member of the item that has the text; NULL: the item itself has it. */
static void put_texts(struct packing *packing, const json_t *items, const char *of,
                      const char *name) {
  const json_t *item = NULL;
  size_t i = 0;
  json_open(&packing->writer, name, '[');
  json_array_foreach(items, i, item)
      put_text_number(packing, NULL, json_object_get(of ? json_object_get(item, of) : item, name));
  json_close(&packing->writer, ']');
}

/* Writes each story in two pieces. The second one is about deliveries and is the same for many
 * items. */
static void put_stories(struct packing *packing, const json_t *items) {
  const json_t *item = NULL;
  size_t i = 0;
  json_open(&packing->writer, "text", '[');
  json_array_foreach(items, i, item) {
    const char *text = json_value_text(item, "text");
    size_t len = strlen(text);
    const char *end = strstr(text, ". ");
    size_t first = end ? (size_t)(end - text) + 1 : len;
    json_put_i64(&packing->writer, NULL, text_number(packing, text, first));
    json_put_i64(&packing->writer, NULL, text_number(packing, text + first, len - first));
  }
  json_close(&packing->writer, ']');
}

static void put_items(struct packing *packing, const json_t *items) {
  json_open(&packing->writer, "items", '{');
  put_times(packing, items, "time");
  put_times(packing, items, "taken_at");
  put_times(packing, items, "occurred_at");
  put_texts(packing, items, NULL, "id");
  put_texts(packing, items, "kind", "source");
  put_texts(packing, items, "kind", "name");
  put_texts(packing, items, NULL, "level");
  put_texts(packing, items, NULL, "outcome");
  put_texts(packing, items, NULL, "delivery");
  put_texts(packing, items, NULL, "handle");
  put_texts(packing, items, NULL, "message");
  put_stories(packing, items);
  json_close(&packing->writer, '}');
}

/* -- deliveries, transitions ------------------------------------------------------------------- */

static void put_string(struct json_writer *writer, const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (json_is_string(value))
    json_put_string(writer, name, span_of(json_string_value(value), json_string_length(value)));
}

/* Writes how the delivery was rendered, and whether the page shows the same bytes. */
static void put_rendering(struct json_writer *writer, const json_t *rendering) {
  if (!json_is_object(rendering)) return;
  json_open(writer, "rendering", '{');
  put_string(writer, rendering, "preset");
  put_string(writer, rendering, "format");
  put_string(writer, rendering, "host_name");
  json_put_u64(writer, "room", json_value_count(rendering, "room"));
  json_put_u64(writer, "bytes", json_value_count(rendering, "bytes"));
  json_put_bool(writer, "same", json_is_true(json_object_get(rendering, "same")));
  json_close(writer, '}');
}

static void put_delivery(struct packing *packing, const json_t *delivery) {
  static const char *const texts[] = {"id", "outcome", "carrier", "call_id", "tool", "settled_by"};
  const json_t *message = NULL;
  size_t i = 0;
  json_open(&packing->writer, NULL, '{');
  for (size_t at = 0; at < sizeof texts / sizeof *texts; at++)
    put_string(&packing->writer, delivery, texts[at]);
  put_time(packing, "time", delivery, "time");
  put_time(packing, "settled_at", delivery, "settled_at");
  put_time(packing, "rewound_at", delivery, "rewound_at");
  json_put_u64(&packing->writer, "epoch", json_value_count(delivery, "epoch"));
  json_open(&packing->writer, "shown", '[');
  json_array_foreach(json_object_get(delivery, "messages"), i, message)
      put_text_number(packing, NULL, json_object_get(message, "text"));
  json_close(&packing->writer, ']');
  put_rendering(&packing->writer, json_object_get(delivery, "rendering"));
  json_close(&packing->writer, '}');
}

static void put_transition(struct packing *packing, const json_t *transition) {
  const json_t *message = NULL;
  size_t i = 0;
  json_open(&packing->writer, NULL, '{');
  put_time(packing, "time", transition, "time");
  put_string(&packing->writer, transition, "event");
  put_string(&packing->writer, transition, "from");
  put_string(&packing->writer, transition, "to");
  json_open(&packing->writer, "messages", '[');
  json_array_foreach(json_object_get(transition, "messages"), i, message) {
    json_open(&packing->writer, NULL, '{');
    put_string(&packing->writer, message, "id");
    put_string(&packing->writer, message, "state");
    json_close(&packing->writer, '}');
  }
  json_close(&packing->writer, ']');
  json_close(&packing->writer, '}');
}

/* Writes a message of a person or a trigger. */
static void put_message(struct packing *packing, const json_t *message) {
  static const char *const texts[] = {"id", "state", "delivery"};
  json_open(&packing->writer, NULL, '{');
  for (size_t at = 0; at < sizeof texts / sizeof *texts; at++)
    put_string(&packing->writer, message, texts[at]);
  put_time(packing, "time", message, "time");
  put_text_number(packing, "content", json_object_get(message, "content"));
  json_put_bool(&packing->writer, "trigger", json_object_get(message, "trigger"));
  json_close(&packing->writer, '}');
}

static void put_forgotten(struct packing *packing, const json_t *forgotten) {
  if (!json_is_object(forgotten)) return;
  json_open(&packing->writer, "forgotten", '{');
  json_put_u64(&packing->writer, "items", json_value_count(forgotten, "items"));
  json_put_u64(&packing->writer, "deliveries", json_value_count(forgotten, "deliveries"));
  put_time(packing, "before", forgotten, "before");
  json_close(&packing->writer, '}');
}

static void put_attachment(struct packing *packing, const json_t *attachment) {
  if (!json_is_object(attachment)) return;
  json_open(&packing->writer, "attachment", '{');
  put_time(packing, "since", attachment, "since");
  put_string(&packing->writer, attachment, "host");
  put_string(&packing->writer, attachment, "cwd");
  json_put_u64(&packing->writer, "pid", json_value_count(attachment, "pid"));
  json_put_u64(&packing->writer, "epoch", json_value_count(attachment, "epoch"));
  json_put_bool(&packing->writer, "alive", json_is_true(json_object_get(attachment, "alive")));
  json_close(&packing->writer, '}');
}

/* -- all of it --------------------------------------------------------------------------------- */

static void put_all(struct packing *packing, const json_t *answer) {
  const json_t *row = NULL;
  size_t i = 0;
  json_open(&packing->writer, NULL, '{');
  put_string(&packing->writer, answer, "session");
  put_time(packing, "time", answer, "time");
  if (json_object_get(answer, "from"))
    json_put_u64(&packing->writer, "from", json_value_count(answer, "from"));
  put_attachment(packing, json_object_get(answer, "attachment"));
  put_items(packing, json_object_get(answer, "items"));
  json_open(&packing->writer, "deliveries", '[');
  json_array_foreach(json_object_get(answer, "deliveries"), i, row) put_delivery(packing, row);
  json_close(&packing->writer, ']');
  json_open(&packing->writer, "transitions", '[');
  json_array_foreach(json_object_get(answer, "transitions"), i, row) put_transition(packing, row);
  json_close(&packing->writer, ']');
  json_open(&packing->writer, "messages", '[');
  json_array_foreach(json_object_get(answer, "messages"), i, row) put_message(packing, row);
  json_close(&packing->writer, ']');
  put_forgotten(packing, json_object_get(answer, "forgotten"));
  json_close(&packing->strings_writer, ']');
  json_put_raw(&packing->writer, "strings", buffer_view(&packing->strings));
  json_close(&packing->writer, '}');
}

/* Escapes each `<`. In JSON it occurs only in strings, where an escape means the same. */
static void append_escaped(struct buffer *out, const struct buffer *json) {
  const char *from = json->bytes, *end = json->bytes + json->len;
  for (const char *at; (at = memchr(from, '<', (size_t)(end - from))); from = at + 1) {
    buffer_append(out, from, (size_t)(at - from));
    buffer_text(out, "\\u003c");
  }
  buffer_append(out, from, (size_t)(end - from));
}

void timeline_data(const json_t *answer, struct buffer *out) {
  struct buffer json = BUFFER_EMPTY;
  struct packing packing = {
      .places = json_object(), .strings = BUFFER_EMPTY, .writer = {.out = &json}};
  packing.strings_writer.out = &packing.strings;
  json_open(&packing.strings_writer, NULL, '[');
  if (packing.places) put_all(&packing, answer);
  if (!packing.places || json.failed || packing.strings.failed) out->failed = true;
  else append_escaped(out, &json);
  json_decref(packing.places);
  buffer_free(&packing.strings);
  buffer_free(&json);
}
