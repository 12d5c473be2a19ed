/* SPDX-License-Identifier: MIT
 *
 * tidings/wake.h: the extension `tidings.wake/1`: how a host that sleeps in poll learns that
 * another thread or process has pushed something that must act now.
 *
 * Poll the descriptor for reading. When it is readable, call next_session until it has no more, and
 * send a `wake` event for each session: its reply has the actions. Get the descriptor first, then
 * ask next_session once, then sleep: so no ring is missed. It rings for pushes only; time comes by
 * wake_at_ms of the replies. A plugin that does not have the extension answers NULL for its id.
 *
 * What rings: notifications that are critical or have activation idle or interrupt, and what makes
 * an offer, such as a message that somebody else submits; each in a session that a living host
 * owns. It rings after the commit, in every process that waits for that host (it was opened by it,
 * or names it as owner_pid). A call of the thread that waits (the last to have called next_session)
 * does not ring in its own process: its reply has the actions. A ring may turn out to need nothing:
 * then the reply has no actions. A process that is killed between its commit and the ring leaves
 * the session to be named by the next call of next_session, whatever that is made for; and
 * wake_at_ms is never far away while the descriptor is in use. So nothing is lost, only later.
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

  /* The descriptor to poll: one per process and store, a FIFO, non-blocking, close-on-exec. It
   * stays the plugin's, until close. A host that wants it to survive a hot swap polls a dup of it:
   * the FIFO is the same for all instances that the process opens on the store. next_session
   * empties it; a host whose event loop reads what it polls may let it, if it asks next_session
   * then. Calling it again is harmless; after a swap it makes the FIFO readable, so that the new
   * instance is asked. Errors: UNSUPPORTED (role producer), FULL (too many processes wait on this
   * store already: go by wake_at_ms), BUSY (another process is opening the store; try again),
   * STORE, CLOSED. */
  int32_t (*descriptor)(struct tidings_plugin *plugin, int32_t *ret_fd,
                        struct tidings_error *error);

  /* Takes the next session that rang. Writes its id into `buffer` (255 bytes are always enough; no
   * NUL is added) and its length to *ret_len; 0: none left. The first calls after open name every
   * session of the owner's once, so that nothing is lost over a swap. Any thread; it does not wait.
   * It works without a descriptor as well. Errors: UNSUPPORTED (role producer), INVAL (buffer too
   * small), NOMEM, STORE, CLOSED; after INVAL, NOMEM and STORE what rang is named by a later call,
   * but the descriptor does not become readable for it again: ask at wake_at_ms. */
  int32_t (*next_session)(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                          size_t *ret_len, struct tidings_error *error);
};

#ifdef __cplusplus
}
#endif

#endif
