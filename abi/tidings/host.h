/* SPDX-License-Identifier: MIT
 *
 * tidings/host.h: what the host gives the plugin: a log, clocks, randomness. Injecting them makes a
 * whole run repeatable.
 *
 * The functions are called on whichever thread called into the plugin, possibly on several at once,
 * never while the plugin holds a lock that another process waits for, and only between open's
 * beginning and close's end. They must not call back into the plugin, must not block for long, and
 * must not unwind (longjmp, C++ exceptions).
 */
#ifndef TIDINGS_HOST_H
#define TIDINGS_HOST_H

#include <tidings/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDINGS_LOG_ERROR 0u
#define TIDINGS_LOG_WARNING 1u
#define TIDINGS_LOG_INFO 2u
#define TIDINGS_LOG_DEBUG 3u /* only here may the text of a notification appear */

/* Since 1.0. All functions but count_tokens are required. */
struct tidings_host {
  uint32_t size;
  uint32_t flags; /* none defined: 0 */
  void *context;  /* handed to each function as it is */

  /* One line, no line break at its end. `line` is borrowed for the call. */
  void (*log)(void *context, uint32_t severity, const struct tidings_span *line);

  /* Milliseconds since 1970-01-01 UTC. May jump; what is stored is stamped with it. */
  int64_t (*now_ms)(void *context);

  /* Nanoseconds of a clock that never goes back; only differences matter. */
  uint64_t (*mono_ns)(void *context);

  /* Fills `len` bytes; used for generated ids and nonces. Returns 0, or anything else if it could
   * not. */
  int32_t (*random)(void *context, void *buffer, size_t len);

  /* Optional, may be NULL: how many tokens `text` costs the model. Without it: bytes / 4, rounded
   * up. */
  uint64_t (*count_tokens)(void *context, const struct tidings_span *text);
};

#ifdef __cplusplus
}
#endif

#endif
