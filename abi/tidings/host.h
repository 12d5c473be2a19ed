/* SPDX-License-Identifier: MIT
 *
 * tidings/host.h: what the host gives the plugin: a log, two clocks, random bytes, and optionally a
 * count of tokens. A host that provides its own clocks and random bytes can repeat a whole run.
 *
 * The plugin calls these functions on the thread that called into the plugin, so several calls may
 * run at once. It calls them only between the beginning of open and the end of close. It may call
 * now_ms and random while it holds the store's writer lock: another process that writes waits until
 * they return, or answers BUSY when its time is up. While it calls the others, it holds no lock
 * that another process waits for. They are callbacks: they must not call into the plugin, must
 * return soon, and must not unwind (longjmp, C++ exceptions).
 */
#ifndef TIDINGS_HOST_H
#define TIDINGS_HOST_H

#include <tidings/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How severe a line of the log is. Treat a number that you do not know as DEBUG. Since 1.0. */
#define TIDINGS_LOG_ERROR 0u
#define TIDINGS_LOG_WARNING 1u
#define TIDINGS_LOG_INFO 2u
#define TIDINGS_LOG_DEBUG 3u /* only such lines may contain the text of a notification */

/* The host's functions. The plugin copies the struct in open; `context` and the functions must work
 * until close has returned. All functions except count_tokens are required. Since 1.0. */
struct tidings_host {
  uint32_t size;
  uint32_t flags; /* none is defined: 0 */
  void *context;  /* the first argument of each function; the plugin does not look at it */

  /* Writes one line to the host's log. [any thread] `severity` is TIDINGS_LOG_*. `line` has no line
   * break at its end and is borrowed until the function returns. Since 1.0. */
  void (*log)(void *context, uint32_t severity, const struct tidings_span *line);

  /* The wall clock in milliseconds since 1970-01-01 UTC. [any thread] It may jump. Stored items are
   * stamped with it. Since 1.0. */
  int64_t (*now_ms)(void *context);

  /* A clock in nanoseconds that never goes back. [any thread] Only differences of it are used.
   * Since 1.0. */
  uint64_t (*mono_ns)(void *context);

  /* Fills `buffer` with `len` random bytes, for ids and nonces. [any thread] Returns 0, or any
   * other number if it could not. Then a call that needs them for a delivery's id, for a synthetic
   * call, for delivery.fence "nonce" or for the query `marker` fails with INVAL. A new store and a
   * new session do without them. Since 1.0. */
  int32_t (*random)(void *context, void *buffer, size_t len);

  /* How many tokens `text` costs the model. [any thread] Optional: with NULL the plugin takes
   * bytes / 4, rounded up. `text` is borrowed until the function returns. Since 1.0. */
  uint64_t (*count_tokens)(void *context, const struct tidings_span *text);
};
#define TIDINGS_HOST_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_host, count_tokens)

#ifdef __cplusplus
}
#endif

#endif
