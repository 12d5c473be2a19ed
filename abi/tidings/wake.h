/* SPDX-License-Identifier: MIT
 *
 * tidings/wake.h: the extension tidings.wake/1: how a host that sleeps in poll learns that another
 * thread or process has pushed something that needs it now.
 *
 * How to use it. First get the descriptor, then call next_session until no session is left, then
 * sleep; in this order no ring is missed. When the descriptor is readable, call next_session until
 * no session is left. Send a `wake` event for each session: its reply has the actions. The
 * descriptor tells about pushes only. For what is due at a time, send a `wake` event at wake_at_ms
 * of the newest reply.
 *
 * Two things ring, in a session that a live host owns: a notification that is critical, or whose
 * activation is idle or interrupt; and whatever causes an offer, such as a message that another
 * process submits. Each rings twice: before the commit, when there is nothing to do yet, and after
 * it. A ring reaches every process that waits for that host: the owner itself, and those that name
 * the owner as owner_pid. But a call of the thread that last called next_session does not ring in
 * its own process, because its reply has the actions. A ring may turn out to need nothing; then the
 * reply has no actions.
 *
 * If a `wake` event fails with BUSY, OUTCOME_UNKNOWN, STORE or NOMEM, next_session names the
 * session again, once it has said that no session is left. After BUSY and OUTCOME_UNKNOWN the
 * descriptor becomes readable again, too. The host sends the event again, after a second at the
 * latest. (Plugins of 1.1 and older named the session only once: a host of such a plugin notes that
 * its event failed.)
 *
 * If a process is killed between its commit and the second ring, the next call of next_session
 * names the session, whatever the reason of that call. While such a commit may still come,
 * wake_at_ms is never far away. So nothing is lost; it only comes later. A host for which no commit
 * is under way may sleep without a time limit.
 */
#ifndef TIDINGS_WAKE_H
#define TIDINGS_WAKE_H

#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The id for get_extension. Since 1.0. */
#define TIDINGS_EXT_WAKE "tidings.wake/1"

/* The functions of the extension. Since 1.0. */
struct tidings_wake {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* The descriptor to poll for reading. [any thread] [never from a callback]
   *
   * It is a FIFO, non-blocking, close-on-exec: one per process and store. It belongs to the plugin,
   * until close. A host that wants to keep it over a hot swap polls a dup of it: all instances that
   * the process opens on the store use the same FIFO. next_session empties it. A host whose event
   * loop reads what it polls may let the loop read it, if it then calls next_session. Calling
   * `descriptor` again is harmless. After a swap, that call makes the FIFO readable, so that the
   * host asks the new instance.
   *
   * Errors:
   *   INVAL        a null pointer
   *   UNSUPPORTED  the instance was opened as a producer
   *   FULL         too many processes wait on this store: use wake_at_ms alone
   *   BUSY         another process is opening the store: try again
   *   STORE, CLOSED   as in abi.h
   * Since 1.0. */
  int32_t (*descriptor)(struct tidings_plugin *plugin, int32_t *ret_fd,
                        struct tidings_error *error);

  /* Takes the next session that rang. [any thread] [never from a callback] It does not wait for a
   * ring, and for locks it waits for hook_budget_ms at most. It works without the descriptor too.
   *
   * It writes the session's id to `buffer`, without a NUL, and its length in bytes to *ret_len; 0:
   * no session is left. 255 bytes are always enough. The first calls after open name every session
   * of the owner once, so that nothing is lost over a swap.
   *
   * Errors:
   *   INVAL        a null pointer, or the buffer is too small
   *   UNSUPPORTED  the instance was opened as a producer
   *   BUSY, NOMEM, STORE, CLOSED   as in abi.h
   * After INVAL, BUSY, NOMEM and STORE a later call names the session, but the descriptor does not
   * become readable for it again: call next_session after a second. Since 1.0. */
  int32_t (*next_session)(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                          size_t *ret_len, struct tidings_error *error);
};
#define TIDINGS_WAKE_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_wake, next_session)

#ifdef __cplusplus
}
#endif

#endif
