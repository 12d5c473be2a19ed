/* SPDX-License-Identifier: MIT
 *
 * subscribe/machine.h: shared by the tests of the state machines of subscribe/: messages of a
 * server, and the outputs as one text.
 */
#ifndef TESTS_UNIT_SUBSCRIBE_MACHINE_H
#define TESTS_UNIT_SUBSCRIBE_MACHINE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "subscribe/events.h"
#include "subscribe/plain.h"

enum { HEARTBEAT_MS = 30000 };

static inline struct events_wish plain_wish(void) {
  return (struct events_wish){
      .name = "e", .server = "srv", .heartbeat_ms = HEARTBEAT_MS, .random = 1};
}

/* The outputs as one text: "SEND events/poll c-1|PUSH 1|CURSOR c-1". */
static inline const char *shown(const struct outputs *outputs) {
  static char text[4096];
  static const char *const names[] = {"SEND",   "CANCEL", "RESET", "PUSH",
                                      "NOTICE", "CURSOR", "SAY",   "END"};
  size_t len = 0;
  text[0] = '\0';
  for (size_t i = 0; i < outputs->count; i++) {
    const struct output *row = &outputs->rows[i];
    struct tidings_span what = row->text;
    if (row->kind == OUTPUT_SAY) continue;
    if (row->kind == OUTPUT_SEND) what = span_text(row->method ? row->method : "GET");
    if (row->kind == OUTPUT_NOTICE) what = span_text(row->kind_name);
    if (row->kind == OUTPUT_END || row->kind == OUTPUT_RESET) what = span_of(NULL, 0);
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s%.*s", len ? "|" : "",
                            names[row->kind], what.len ? " " : "", SPAN_FORMAT(what));
  }
  return text;
}

#define EXPECT(outputs, wanted)                                                                    \
  do {                                                                                             \
    const char *got = shown(outputs);                                                              \
    cr_expect_str_eq(got, wanted, "line %d: got %s, expected %s", __LINE__, got, wanted);          \
  } while (0)

static inline uint64_t last_id(const struct outputs *outputs) {
  for (size_t i = outputs->count; i > 0; i--)
    if (outputs->rows[i - 1].kind == OUTPUT_SEND) return outputs->rows[i - 1].id;
  return 0;
}

static inline void say(struct events *events, int64_t now, const char *text) {
  events_message(events, span_text(text), now, 0);
}

static inline void answer(struct events *events, int64_t now, uint64_t id, const char *result) {
  char text[2048];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}",
           (unsigned long long)id, result);
  say(events, now, text);
}

static inline void refuse(struct events *events, uint64_t id, int code) {
  char text[256];
  snprintf(text, sizeof text,
           "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"error\":{\"code\":%d,\"message\":\"m\"}}",
           (unsigned long long)id, code);
  say(events, 0, text);
}

#define DISCOVERED                                                                                 \
  "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"extensions\":{"                     \
  "\"io.modelcontextprotocol/events\":{}}}}"
#define LISTED(ways) "{\"events\":[{\"name\":\"e\",\"delivery\":[" ways "]}]}"

/* Runs up to the first request of the subscription, and returns its id. */
static inline uint64_t begin(struct events *events, const char *list) {
  events_begin(events, 0);
  EXPECT(events_outputs(events), "SEND server/discover");
  answer(events, 0, last_id(events_outputs(events)), DISCOVERED);
  EXPECT(events_outputs(events), "SEND events/list");
  answer(events, 0, last_id(events_outputs(events)), list);
  return last_id(events_outputs(events));
}

#define NOTE(what, id, more)                                                                       \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/events/" what "\",\"params\":{" more            \
  "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}}}"

#endif
