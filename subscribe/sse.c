/* SPDX-License-Identifier: MIT
 */
#include "subscribe/sse.h"

static void forget_event(struct sse *sse) {
  sse->data.len = sse->type.len = 0;
  sse->has_data = sse->has_id = sse->handed = false;
}

static void set(struct buffer *buffer, struct tidings_span value) {
  buffer->len = 0;
  buffer_span(buffer, value);
}

static void read_retry(struct sse *sse, struct tidings_span value) {
  int64_t ms = 0;
  for (size_t i = 0; i < value.len; i++) {
    if (value.ptr[i] < '0' || value.ptr[i] > '9' || ms > INT32_MAX) return;
    ms = ms * 10 + (value.ptr[i] - '0');
  }
  if (value.len) sse->retry_ms = ms;
}

/* Adds data up to a limit, so that no server can fill the memory. */
static void add_data(struct sse *sse, struct tidings_span value) {
  if (sse->has_data && sse->data.len < SSE_LONGEST_EVENT) buffer_byte(&sse->data, '\n');
  size_t room = SSE_LONGEST_EVENT - sse->data.len;
  buffer_span(&sse->data, span_of(value.ptr, value.len < room ? value.len : room));
  sse->has_data = true;
}

static void read_field(struct sse *sse, struct tidings_span line) {
  const char *colon = memchr(line.ptr, ':', line.len);
  size_t len = colon ? (size_t)(colon - line.ptr) : line.len;
  struct tidings_span name = span_of(line.ptr, len), value = span_of(line.ptr + line.len, 0);
  if (colon) value = span_of(colon + 1, line.len - len - 1);
  if (value.len && value.ptr[0] == ' ') value = span_of(value.ptr + 1, value.len - 1);
  if (span_is(name, "data")) add_data(sse, value);
  else if (sse->cut) return;
  else if (span_is(name, "event")) set(&sse->type, value);
  else if (span_is(name, "retry")) read_retry(sse, value);
  else if (span_is(name, "id") && (!value.len || !memchr(value.ptr, '\0', value.len))) {
    set(&sse->id, value);
    sse->has_id = true;
  }
}

/* Takes a line; an empty one ends an event. */
static bool end_line(struct sse *sse) {
  static const char mark[] = "\xef\xbb\xbf"; /* the stream may begin with a byte order mark */
  struct tidings_span line = buffer_view(&sse->line);
  if (!sse->begun && line.len >= 3 && memcmp(line.ptr, mark, 3) == 0)
    line = span_of(line.ptr + 3, line.len - 3);
  sse->begun = true;
  sse->line.len = 0;
  if (!line.len) return true;
  if (line.ptr[0] != ':') read_field(sse, line);
  sse->cut = false;
  return false;
}

static bool complete(struct sse *sse, struct sse_event *ret_event) {
  if (!sse->has_data) {
    forget_event(sse);
    return false;
  }
  *ret_event = (struct sse_event){.type = buffer_view(&sse->type),
                                  .id = buffer_view(&sse->id),
                                  .data = buffer_view(&sse->data),
                                  .own_id = sse->has_id && sse->id.len};
  if (!ret_event->type.len) ret_event->type = span_text("message");
  sse->handed = true;
  return true;
}

static void add_to_line(struct sse *sse, struct tidings_span part) {
  size_t room = SSE_LONGEST_EVENT - sse->line.len;
  sse->cut = sse->cut || part.len > room;
  buffer_span(&sse->line, span_of(part.ptr, part.len < room ? part.len : room));
}

bool sse_next(struct sse *sse, struct tidings_span *bytes, struct sse_event *ret_event) {
  if (sse->handed) forget_event(sse);
  while (bytes->len && !sse_failed(sse)) {
    size_t len = 0;
    if (sse->after_cr && bytes->ptr[0] == '\n') {
      sse->after_cr = false;
      *bytes = span_of(bytes->ptr + 1, bytes->len - 1);
      continue;
    }
    sse->after_cr = false;
    while (len < bytes->len && bytes->ptr[len] != '\n' && bytes->ptr[len] != '\r') len++;
    add_to_line(sse, span_of(bytes->ptr, len));
    bool ended = len < bytes->len;
    sse->after_cr = ended && bytes->ptr[len] == '\r';
    *bytes = span_of(bytes->ptr + len + ended, bytes->len - len - ended);
    if (ended && end_line(sse) && complete(sse, ret_event)) return true;
  }
  return false;
}

bool sse_failed(const struct sse *sse) {
  return sse->line.failed || sse->data.failed || sse->type.failed || sse->id.failed;
}

void sse_free(struct sse *sse) {
  buffer_free(&sse->line);
  buffer_free(&sse->data);
  buffer_free(&sse->type);
  buffer_free(&sse->id);
  *sse = (struct sse){.has_data = false};
}
