/* SPDX-License-Identifier: MIT
 *
 * tidings/entry.h: the one symbol that a plugin exports, tidings_entry, and how an instance is
 * opened.
 *
 * A host looks the symbol up with dlsym and reads it before it calls any function of the plugin.
 * The first eight bytes are the same in every version, for ever: size, abi_major, abi_minor. If
 * abi_major is not the host's own, the host reads nothing after them.
 *
 * A plugin never does the following in the process of its host, in any call: it forks or starts a
 * program; it installs a signal handler, leaves a thread's signal mask changed, or causes a signal
 * such as SIGCHLD or SIGPIPE; it writes to standard output or error; it changes the environment,
 * the working directory, the umask or the locale. It starts threads for a store in a database only:
 * one listens for the descriptor of wake.h, one commits which calls of tools run, and both have
 * ended when close returns; those that look up a server's name may end later, even after the image
 * was unloaded. All of them block all signals. Descriptors that it opens are closed on exec.
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

/* How an instance is opened. The host writes it: a plugin answers INVAL to a role that it does not
 * know. Since 1.0. */
#define TIDINGS_ROLE_HOST 0u /* it owns sessions and may call everything */
/* It pushes, submits and queries; hooks, settle, and events about a session, turn or stream that
 * only its host knows of: UNSUPPORTED. */
#define TIDINGS_ROLE_PRODUCER 1u

/* How open behaves. Zero the struct, set `size`, and then what is needed: zero is the default of
 * every field. All spans are borrowed until open returns. Since 1.0. */
struct tidings_open_options {
  uint32_t size;
  uint32_t flags; /* none is defined: 0 */

  /* The directory of the store. Empty: $XDG_STATE_HOME/tidings, or ~/.local/state/tidings. Open
   * creates it with mode 0700 if it is missing. It must be a real directory (no symbolic link) of
   * this user, closed to group and others, on a local file system, and not open in this process
   * already. */
  struct tidings_span store_dir;

  uint32_t role; /* TIDINGS_ROLE_* */
  /* The process whose host this is; 0: this process. A short-lived hook command names the agent's
   * process. Then its sessions stay owned, and its leases valid, after the command has ended. */
  uint32_t owner_pid;

  /* the name by which the model knows the host, such as "Aster"; empty: "the agent host" */
  struct tidings_span host_name;
  /* one JSON object (schema/config.schema.json); empty: the defaults */
  struct tidings_span configuration;

  /* how many milliseconds in all a call waits for other processes before it answers BUSY: for those
   * that write, open or create the store, or begin to read it, even if one of them is stopped. 0:
   * 10,000 for open, 250 for the other calls */
  uint32_t hook_budget_ms;
  /* 1: what a hook hands out counts as delivered when the hook returns, and the reply's delivery_id
   * is 0; for hosts that cannot say when their transcript was written. 0: the host settles. */
  uint32_t settle_on_return;
  /* for how many milliseconds after the beginning of open the calls of this instance may wait for
   * other processes: after that, a call that would have to wait answers BUSY at once. It is for
   * commands that answer a caller and end. 0: only hook_budget_ms bounds a call. Since 1.1. */
  uint64_t total_budget_ms;
};
#define TIDINGS_OPEN_OPTIONS_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_open_options, settle_on_return)

/* The symbol that a plugin exports. It and all that it points to live as long as the image is
 * loaded. Since 1.0. */
struct tidings_entry {
  uint32_t size;
  uint16_t abi_major;   /* TIDINGS_ABI_MAJOR of the plugin's headers */
  uint16_t abi_minor;   /* TIDINGS_ABI_MINOR of the plugin's headers */
  const char *name;     /* NUL-terminated: what the plugin calls itself, such as "tidings" */
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
   *   TOO_BIG       store_dir or host_name has more than 4,096 bytes, or the configuration too many
   *   SCHEMA        the configuration is not as its schema says
   *   STORE         the directory or its files are not what they must be, or the disk is full; the
   *                 text says what to do
   *   SCHEMA_NEWER  a newer version wrote the store
   *   BUSY          another process is opening or creating the store and did not finish in time,
   *                 or the store is large and is still being checked: try again
   *   NOMEM         as in abi.h
   * Since 1.0. */
  int32_t (*open)(const struct tidings_host *host, const struct tidings_open_options *options,
                  struct tidings_plugin **ret_plugin, struct tidings_error *error);

  /* The table of functions of an extension; NULL: this plugin does not have it. [any thread] `id`
   * is NUL-terminated, such as "tidings.query/1" (query.h, wake.h); NULL answers NULL. The table is
   * constant, starts with its size, and lives as long as the image is loaded. Since 1.0. */
  const void *(*get_extension)(const char *id);
};
#define TIDINGS_ENTRY_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_entry, get_extension)

/* A plugin defines it. A host never links to it: it uses dlsym. Since 1.0. */
extern TIDINGS_EXPORT const struct tidings_entry tidings_entry;

#ifdef __cplusplus
}
#endif

#endif
