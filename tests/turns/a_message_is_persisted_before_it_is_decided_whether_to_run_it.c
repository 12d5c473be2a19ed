/* SPDX-License-Identifier: MIT
 *
 * In whatever state a message comes, when its submit has returned it survives the death of the host
 * in that same instant: idle, busy, retrying, waiting or after a failure.
 */
#include "kit.h"

#include <string.h>

const char invariant[] =
    "The core persists it as a user message immediately, before deciding whether to run it.";

static void submit_in_state(const char *way) {
  struct client host = open_host(NULL);
  if (strcmp(way, "idle") != 0) start(host, submit(host, "first"));
  if (strcmp(way, "retrying") == 0 || strcmp(way, "waiting") == 0 || strcmp(way, "failed") == 0)
    event(host, text("turn.%s", way), NULL);
  submit(host, "m");
  dying();
}

void test(void) {
  static const char *const WAYS[] = {"idle", "busy", "retrying", "waiting", "failed"};
  const char *folder = store_folder;
  for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
    store_folder = text("%s.%s", folder, WAYS[i]);
    in_another_process(submit_in_state, WAYS[i]);
    struct client host = open_unattached(NULL);
    same(drain(host, event(host, "session.opened", NULL)), "m");
    close_client(host);
  }
}
