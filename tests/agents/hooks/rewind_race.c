/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/rewind_race.c: a hook finds that a person has taken back a prompt, and before
 * it reports that, another hook of the same agent delivers something. The linker replaces kit_query
 * by __wrap_kit_query, so that this happens each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/deliver/sign.h"
#include "agents/deliver/status.h"
#include "agents/hook/hook.h"
#include "agents/transcript/marker.h"
#include "agents/turn/rewind.h"
#include "command/json_value.h"
#include "common/span.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static bool another_calls; /* another hook is called after the next query of the history */

static void push(struct hostkit *kit, const char *words) {
  MUST(kit_event(kit,
                 kit_new_event("notification", "s",
                               json_pack("{s:s, s:s}", "kind", "ci.done", "message", words)),
                 NULL, &error) == TIDINGS_OK);
}

/* Returns the delivery's id; 0: nothing was handed out. */
static uint64_t deliver(struct hostkit *kit) {
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text("s"),
                                             .call_id = span_text("c"),
                                             .tool = span_text("ls")};
  struct tidings_reply *reply = NULL;
  MUST(hostkit_tool_result(kit, &result, &reply, &error) == TIDINGS_OK);
  uint64_t delivery = reply ? reply->delivery_id : 0;
  hostkit_reply_free(reply);
  return delivery;
}

static void settle(struct hostkit *kit, uint64_t delivery) {
  MUST(hostkit_settle(kit, delivery, TIDINGS_COMMITTED, NULL, &error) == TIDINGS_OK);
}

int32_t __real_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error);
int32_t __wrap_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error);
int32_t __wrap_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error) {
  bool now = another_calls && strcmp(json_value_text(request, "name"), "history") == 0;
  int32_t code = __real_kit_query(kit, request, ret_answer, ret_error);
  if (!now) return code;
  another_calls = false;
  push(kit, "Settled meanwhile.");
  settle(kit, deliver(kit));
  push(kit, "Leased meanwhile.");
  MUST(deliver(kit));
  return code;
}

/* The lines that Qwen Code writes: a prompt with the delivery, and a record that takes it back. */
static void write_transcript(const char *path, uint64_t delivery) {
  char marker[HOOK_MARKER_SIZE];
  FILE *file = fopen(path, "w");
  MUST(file);
  hook_marker_write(HOOK_MARKER_OF_DELIVERY, delivery, marker);
  fprintf(file,
          "{\"uuid\":\"p1\",\"parentUuid\":\"u1\"}\n"
          "{\"uuid\":\"u2\",\"parentUuid\":\"p1\",\"text\":\"First.\\n\\n%s\"}\n"
          "{\"uuid\":\"r\",\"parentUuid\":\"p1\",\"type\":\"system\",\"subtype\":\"rewind\"}\n",
          marker);
  MUST(fclose(file) == 0);
}

static void must_have_ended(struct hostkit *kit, const char *const *outcomes, size_t count) {
  json_t *history = NULL;
  MUST(__real_kit_query(kit, json_pack("{s:s, s:s}", "name", "history", "session", "s"), &history,
                        &error) == TIDINGS_OK);
  const json_t *deliveries = json_object_get(history, "deliveries"), *delivery;
  size_t i;
  MUST(json_array_size(deliveries) == count);
  json_array_foreach(deliveries, i, delivery)
      MUST(i < count && strcmp(json_value_text(delivery, "outcome"), outcomes[i]) == 0);
  json_decref(history);
}

int main(void) {
  static const char *const before[] = {"committed"}, *const after[] = {"rewound", "committed",
                                                                       "leased"};
  char path[4096];
  race_make_folder("rewind-race");
  struct hostkit *kit = race_open_kit(&error);
  (void)snprintf(path, sizeof path, "%s/transcript.jsonl", race_folder);
  MUST(kit_event(kit, kit_new_event("session.opened", "s", json_object()), NULL, &error) ==
       TIDINGS_OK);
  push(kit, "First.");
  uint64_t delivery = deliver(kit);
  settle(kit, delivery);
  must_have_ended(kit, before, 1);
  MUST(hook_sign_ready(kit, "s", &error) == TIDINGS_OK);
  write_transcript(path, delivery);
  struct hook_seen seen = {.status = NULL};
  const struct hook_call call = {.host = host_find("qwen"),
                                 .moment = HOOK_PROMPT,
                                 .session = "s",
                                 .transcript = path,
                                 .seen = &seen};
  another_calls = true;
  hook_rewind_report(kit, &call);
  MUST(!another_calls);
  must_have_ended(kit, after, 3);
  hook_seen_finish(&seen);
  kit_close(kit);
  printf("ok 1 - what another call hands out before a rewind is reported stays as it is\n1..1\n");
  return 0;
}
