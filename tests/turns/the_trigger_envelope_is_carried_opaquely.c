/* SPDX-License-Identifier: MIT
 *
 * Envelopes of every shape come back as they were sent, even if they have words that mean something
 * elsewhere, and the same messages with and without envelopes have the same replies.
 */
#include "kit.h"

#include <stdlib.h>

const char invariant[] = "The queue knows nothing of any particular source, carries the trigger "
                         "envelope opaquely, and never branches on "
                         "it.";

static const char *const ENVELOPES[] = {
    "{}",
    "{\"priority\":\"critical\",\"delivery\":\"steer\",\"resume\":true,\"preempt\":true}",
    "{\"type\":\"session.closed\",\"id\":\"x\",\"queued_at\":0,\"state\":\"fired\"}",
    "{\"deep\":[[[{\"er\":null}]],-1.5e300,\"\\u202e</x>\"],\"\":{\"b\":2,\"a\":1}}",
    "{\"n\":9223372036854775807,\"tiny\":0.1}",
};
enum { ENVELOPES_COUNT = sizeof ENVELOPES / sizeof ENVELOPES[0] };

/* Submits and fires all messages, and returns all replies as text, without the envelopes. */
static const char *play(bool triggered) {
  const char *all = "";
  store_folder = text("%s.%d", store_folder, triggered);
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  for (unsigned i = 0; i < ENVELOPES_COUNT; i++) {
    const char *member = triggered ? text(",\"trigger\":%s", ENVELOPES[i]) : "";
    json_t *reply =
        event(host, "message.submitted", "{\"id\":\"m%u\",\"content\":\"x\"%s}", i, member);
    char *string = json_dumps(reply, JSON_SORT_KEYS);
    all = text("%s\n%s", all, string);
    free(string);
  }
  json_t *reply = finish(host);
  for (unsigned i = 0; i < ENVELOPES_COUNT; i++, reply = finish(host)) {
    json_t *message = offered_message(reply, 0), *trigger = json_object_get(message, "trigger");
    json_t *wanted = triggered ? json_loads(ENVELOPES[i], JSON_ALLOW_NUL, NULL) : json_null();
    check(json_equal(trigger, wanted) || !wanted, "envelope %u came back otherwise", i);
    json_decref(wanted);
    start(host, reply);
    json_object_del(message, "trigger");
    char *string = json_dumps(reply, JSON_SORT_KEYS);
    all = text("%s\n%s", all, string);
    free(string);
  }
  close_client(host);
  return all;
}

void test(void) {
  const char *folder = store_folder;
  const char *plain = play(false);
  store_folder = folder;
  same(play(true), plain);
}
