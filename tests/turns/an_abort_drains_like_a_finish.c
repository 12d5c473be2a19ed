/* SPDX-License-Identifier: MIT
 *
 * The same queue, once behind a turn that finishes and once behind one that is aborted: the same
 * messages fire in the same order.
 */
#include "kit.h"

const char invariant[] = "A user abort is a clean way to reach idle, so it drains exactly like a "
                         "natural finish: aborting the running turn "
                         "fires the next batch.";

static const char *drained_by(const char *end, const char *discipline) {
  const char *folder = store_folder;
  store_folder = text("%s.%s.%s", folder, end, discipline);
  struct client host = open_host(text("{\"turns\":{\"discipline\":\"%s\"}}", discipline));
  store_folder = folder;
  start(host, submit(host, "first"));
  submit(host, "a");
  event(host, "message.submitted", "{\"id\":\"b\",\"content\":\"x\",\"delivery\":\"steer\"}");
  submit(host, "c");
  const char *fired = drain(host, event(host, end, NULL));
  same(state(host), "idle");
  close_client(host);
  return fired;
}

void test(void) {
  same(drained_by("turn.finished", "serial"), "a|b|c");
  same(drained_by("turn.aborted", "serial"), "a|b|c");
  same(drained_by("turn.finished", "coalescing"), "a b c");
  same(drained_by("turn.aborted", "coalescing"), "a b c");
}
