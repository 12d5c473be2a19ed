/* SPDX-License-Identifier: MIT
 *
 * tidings/wake.h: the extension `tidings.wake/1`: how a host that sleeps in poll learns that another thread or process has pushed
 * something that must act now.
 *
 * Poll the descriptor for reading. When it is readable, call next_session until it has no more, and send a `wake` event for each session:
 * its reply has the actions. Register the descriptor first, then ask next_session once, then sleep: so no ring is missed. It rings for
 * pushes only; time comes by wake_at_ms of the replies. A plugin that does not have the extension answers NULL for its id.
 */
#ifndef TIDINGS_WAKE_H
#define TIDINGS_WAKE_H

#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDINGS_EXT_WAKE "tidings.wake/1"

/* Since 1.0. */
struct tidings_wake {
  uint32_t size;
  uint32_t reserved;

  /* The descriptor to poll: one per process, a FIFO, non-blocking, close-on-exec. It stays the plugin's; a host that wants it to
   * survive a hot swap polls a dup of it, and never reads from it. Errors: UNSUPPORTED (role producer), STORE, CLOSED. */
  int32_t (*descriptor)(struct tidings_plugin *plugin, int32_t *ret_fd, struct tidings_error *error);

  /* Takes the next session that rang. Writes its id into `buffer` (256 bytes are always enough) and its length to *ret_len; 0: none left.
   * Any thread. Errors: INVAL (buffer too small: the session stays rung), STORE, CLOSED. */
  int32_t (*next_session)(struct tidings_plugin *plugin, char *buffer, size_t buffer_size, size_t *ret_len, struct tidings_error *error);
};

#ifdef __cplusplus
}
#endif

#endif
