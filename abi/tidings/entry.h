/* SPDX-License-Identifier: MIT
 *
 * tidings/entry.h: the one symbol that a plugin exports, tidings_entry, and how an instance is
 * opened.
 *
 * A host looks the symbol up with dlsym and reads it before it calls any function of the plugin.
 * The first eight bytes are the same in every version, for ever: size, abi_major, abi_minor. If
 * abi_major is not the host's own, the host reads nothing after them.
 *
 * In its host's process, in any call, a plugin does not fork or start a program. It installs no
 * signal handler, leaves no signal mask changed, and causes no signal such as SIGCHLD or SIGPIPE.
 * It does not write to standard output or error. It does not change the environment, the working
 * directory, the umask or the locale. Its descriptors are closed on exec. It starts threads only
 * for a store in a database, and they block all signals. A thread listens for rings (wake.h), and
 * another stores which tool calls run; both have ended when close returns. A third, which looks up
 * a server's name, may end later, even after the image was unloaded.
 */
#ifndef TIDINGS_ENTRY_H
#define TIDINGS_ENTRY_H

#include <tidings/abi.h>
#include <tidings/host.h>
#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name for dlsym. Since 1.0. */
#define TIDINGS_ENTRY_SYMBOL "tidings_entry"

/* The role of an instance. A plugin answers INVAL to a role that it does not know. Since 1.0. */
#define TIDINGS_ROLE_HOST 0u /* it owns sessions and may call everything */
/* It may push, submit and query. Hooks, settle, and events that only a session's host can send
 * answer UNSUPPORTED. */
#define TIDINGS_ROLE_PRODUCER 1u

/* The options of open. Zero the struct, set `size`, and set the fields that you need: zero is the
 * default of every other field. All spans are borrowed until open returns. Since 1.0. */
struct tidings_open_options {
  uint32_t size;
  uint32_t flags; /* none is defined: 0 */

  /* The directory of the store; or, for a plugin that keeps stores in databases, its URL. Empty:
   * $XDG_STATE_HOME/tidings, or ~/.local/state/tidings. Open creates a missing directory with mode
   * 0700. The directory must belong to this user, be no symbolic link, be closed to group and
   * others, be on a local file system, and not be open in this process already. */
  struct tidings_span store_dir;

  uint32_t role; /* TIDINGS_ROLE_* */
  /* The process that owns this host's sessions; 0: this process. A command that an agent runs as a
   * hook, and that ends soon, names the agent's process here. Then sessions stay owned, and leases
   * stay valid, after the command has ended. */
  uint32_t owner_pid;

  /* the name by which the model knows the host, such as "Aster"; empty: "the agent host" */
  struct tidings_span host_name;
  /* one JSON object (schema/config.schema.json); empty: the defaults */
  struct tidings_span configuration;

  /* A call answers BUSY after it has waited this many milliseconds in all for other processes that
   * open, create or write the store, or begin to read it. This holds even if one of them is
   * stopped. 0: 10,000 for open, 250 for the other calls. */
  uint32_t hook_budget_ms;
  /* 0: the host settles each delivery. 1: a delivery is committed when its hook returns, and the
   * reply's delivery_id is 0; this is for hosts that cannot say when their transcript was
   * written. */
  uint32_t settle_on_return;
  /* Calls of this instance stop waiting for other processes this many milliseconds after open
   * began: a call that would have to wait answers BUSY at once. This is for commands that answer a
   * caller and end. 0: only hook_budget_ms bounds a call. Since 1.1. */
  uint64_t total_budget_ms;
};
#define TIDINGS_OPEN_OPTIONS_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_open_options, settle_on_return)

/* The symbol that a plugin exports. It and all that it points to live as long as the image is
 * loaded. Since 1.0. */
struct tidings_entry {
  uint32_t size;
  uint16_t abi_major;   /* TIDINGS_ABI_MAJOR of the plugin's headers */
  uint16_t abi_minor;   /* TIDINGS_ABI_MINOR of the plugin's headers */
  const char *name;     /* NUL-terminated: the plugin's name, such as "tidings" */
  const char *version;  /* NUL-terminated: the plugin's own version, semantic versioning */
  const char *build_id; /* NUL-terminated: differs between builds of one version; may be "" */

  /* Opens an instance on a store. [any thread] [never from a callback] It must not run while
   * another instance on the same store is being opened or closed in this process.
   *
   * The plugin copies `host`; its context and functions must work until close has returned. On
   * success *ret_plugin is the instance. On an error it is not written, and nothing stays open.
   *
   * Errors:
   *   INVAL         a null pointer, a short struct, a missing host function, an unknown role, flag
   *                 or pid, a settle_on_return that is neither 0 nor 1, a configuration that is not
   *                 JSON, a store_dir with a NUL, a URL that cannot be read
   *   UNSUPPORTED   store_dir is a URL, and this plugin keeps stores in folders
   *   TOO_BIG       store_dir or host_name has more than 4,096 bytes, or the configuration is too
   *                 long
   *   SCHEMA        the configuration does not match its schema
   *   STORE         the directory or its files are not what they must be, or the disk is full; the
   *                 text says what to do
   *   SCHEMA_NEWER  a newer version wrote the store
   *   BUSY          another process is opening or creating the store and did not finish in time,
   *                 or the store is large and its check has not ended: try again
   *   NOMEM         as in abi.h
   * Since 1.0. */
  int32_t (*open)(const struct tidings_host *host, const struct tidings_open_options *options,
                  struct tidings_plugin **ret_plugin, struct tidings_error *error);

  /* Returns the table of functions of an extension. [any thread] NULL: this plugin does not have
   * it. `id` is NUL-terminated, such as "tidings.query/1" (query.h, store.h, wake.h); if it is
   * NULL, so is the result. The table is constant, starts with its size, and lives as long as the
   * image is loaded. Since 1.0. */
  const void *(*get_extension)(const char *id);
};
#define TIDINGS_ENTRY_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_entry, get_extension)

/* The plugin defines this symbol. A host finds it with dlsym, and never links to it. Since 1.0. */
extern TIDINGS_EXPORT const struct tidings_entry tidings_entry;

#ifdef __cplusplus
}
#endif

#endif
