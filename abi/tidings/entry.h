/* SPDX-License-Identifier: MIT
 *
 * tidings/entry.h: the one symbol that a plugin exports, `tidings_entry`, and how an instance is
 * opened.
 *
 * A host reads the symbol (dlsym) before it runs any code of the plugin: size, abi_major and
 * abi_minor are the first eight bytes of every version of this struct, for ever. If the major
 * differs from its own, the host must not touch anything behind them.
 */
#ifndef TIDINGS_ENTRY_H
#define TIDINGS_ENTRY_H

#include <tidings/abi.h>
#include <tidings/host.h>
#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name to give to dlsym. */
#define TIDINGS_ENTRY_SYMBOL "tidings_entry"

/* What the plugin is opened as. */
#define TIDINGS_ROLE_HOST 0u /* owns sessions: may call everything */
/* pushes, submits and queries; the delivery hooks and settle answer TIDINGS_E_UNSUPPORTED */
#define TIDINGS_ROLE_PRODUCER 1u

/* How open is to behave. Zero the struct, set `size`, then what is needed: every zero is a sensible
 * default. All spans are borrowed until open returns. Since 1.0. */
struct tidings_open_options {
  uint32_t size;
  uint32_t flags; /* none defined: 0 */

  /* The directory of the store; it is created with mode 0700 if it is not there. Empty:
   * $XDG_STATE_HOME/tidings, or
   * ~/.local/state/tidings. It must be a real directory (no symbolic link) of this user's, closed
   * to group and others, on a local file system, and not open in this process already. */
  struct tidings_span store_dir;

  uint32_t role;      /* TIDINGS_ROLE_* */
  uint32_t owner_pid; /* whose host this is. 0: this process. A short-lived hook command names the
                         agent's process, so that its sessions stay owned, and its leases valid,
                         after the command has ended */

  /* what the model knows the host as ("JP"); empty: "the agent host" */
  struct tidings_span host_name;
  /* one JSON object (schema/config.schema.json); empty: the defaults */
  struct tidings_span configuration;

  uint32_t hook_budget_ms;   /* how long a call may wait for another writer before it answers
                                TIDINGS_E_BUSY. 0: 250 */
  uint32_t settle_on_return; /* 1: what a hook hands out counts as delivered when the hook returns,
                               and the reply's delivery id is 0: for hosts that cannot say when
                               their transcript was written. Any number but 0 and 1 is INVAL */
};

/* The exported symbol: `extern const struct tidings_entry tidings_entry;`. It and all it points to
 * live as long as the image is loaded. Since 1.0. */
struct tidings_entry {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
  const char *name;     /* NUL-terminated, what the plugin calls itself: "tidings" */
  const char *version;  /* NUL-terminated, of the plugin, semantic versioning */
  const char *build_id; /* NUL-terminated, differs between builds of the same version; may be "" */

  /* Opens an instance on a store. Any thread; not concurrently with close of another instance on
   * the same store. `host` and all that it points to must stay valid until close has returned. On
   * success *ret_plugin is the instance; on failure it is not written. Errors: INVAL (null pointer,
   * short struct, missing host function, unknown role or flag), SCHEMA (configuration), STORE (the
   * directory or its files are not what they must be, or the disk is full; the text says what to
   * do), SCHEMA_NEWER, BUSY (another process is just creating the store and did not finish within
   * the budget), NOMEM. */
  int32_t (*open)(const struct tidings_host *host, const struct tidings_open_options *options,
                  struct tidings_plugin **ret_plugin, struct tidings_error *error);

  /* Returns the table of functions of an extension (TIDINGS_EXT_* in its header), or NULL if this
   * plugin does not have it. Any thread, any time while the image is loaded; the table is
   * constant. */
  const void *(*get_extension)(const char *id);
};

#ifdef __cplusplus
}
#endif

#endif
