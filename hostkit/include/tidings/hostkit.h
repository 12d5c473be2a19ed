/* SPDX-License-Identifier: MIT
 *
 * tidings/hostkit.h: the host's side of the contract as a library (static and shared:
 * -ltidings-hostkit).
 *
 * It loads a plugin safely, negotiates, makes typed calls that copy each reply out at once, turns
 * carrier + reply into what to send, and swaps a running plugin for a rebuilt one without losing a
 * call. It knows the contract and nothing of any plugin's insides. Hosts whose FFI knows only
 * strings and integers use the flat functions at the end.
 *
 * Threads: every function may be called from any thread at any time after hostkit_open has
 * returned, save hostkit_close, which must be the last call on its object. Calls made during a swap
 * wait for it. Errors are TIDINGS_E_* as in tidings/abi.h; `error` may be NULL.
 */
#ifndef TIDINGS_HOSTKIT_H
#define TIDINGS_HOSTKIT_H

#include <tidings/tidings.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HOSTKIT_API __attribute__((visibility("default")))
#else
#define HOSTKIT_API
#endif

/* A loaded plugin with an open instance. */
struct hostkit;

/* Do not try the load in a probe process first: for plugins that are known to be sound, or where no
 * process may be spawned. */
#define HOSTKIT_NO_PROBE 1u
/* Never unload: the image stays mapped after close and swap, so that a leak checker can still name
 * its functions. */
#define HOSTKIT_KEEP_MAPPED 2u

/* Zero it, set `size`, then what is needed. Strings are NUL-terminated and borrowed until
 * hostkit_open returns; NULL is the default. */
struct hostkit_options {
  uint32_t size;
  uint32_t flags;          /* HOSTKIT_* */
  const char *plugin_path; /* required: the tidings.so to load. It is copied; the file may be
                              replaced while the copy is in use */
  const char *store_dir;   /* these seven as in struct tidings_open_options */
  const char *host_name;
  const char *configuration;
  uint32_t role;
  uint32_t owner_pid;
  uint32_t hook_budget_ms;
  uint32_t settle_on_return;
  const char *copy_dir;   /* where the private copies go; NULL: $XDG_RUNTIME_DIR, else $TMPDIR, else
                             /tmp. A 0700 folder is made in it */
  const char *probe_path; /* the probe program; NULL: $TIDINGS_HOSTKIT_PROBE, else where hostkit was
                             installed */
  uint32_t probe_timeout_ms; /* 0: 10,000 */
  uint32_t reserved;
  const struct tidings_host *host; /* clocks, randomness, log; must outlive the hostkit. NULL: the
                                      system's clocks, getrandom, and no log */
};

/* Loads and opens. Refuses, each in its own words: a file that is not there or not readable; not an
 * ELF shared object of this machine, or cut short; one that crashes, exits or hangs in the probe;
 * one without the symbol tidings_entry; another ABI major; an entry struct shorter than
 * version 1.0's; a missing function; a failing open (with the plugin's own sentence). On failure
 * nothing stays loaded or written. The probe loads the file and checks the entry struct; it does
 * not open a store unless it has to: a plugin that exits in open is found by opening it in the
 * probe on an empty folder of its own. Errors: INVAL (options; not a whole plugin), UNSUPPORTED
 * (another machine or major), STATE (crashed, exited or hung in the probe), NOT_FOUND (no such
 * plugin or probe program), STORE (it cannot be read or copied), NOMEM; and those of the plugin's
 * open. */
HOSTKIT_API int32_t hostkit_open(const struct hostkit_options *options,
                                 struct hostkit **ret_hostkit, struct tidings_error *error);

/* Waits up to drain_ms for calls under way, closes the instance and unloads the image. On BUSY
 * everything is as it was. After OK the pointer is dead. NULL is allowed. */
HOSTKIT_API int32_t hostkit_close(struct hostkit *hostkit, uint32_t drain_ms,
                                  struct tidings_error *error);

/* Hot swap: stops admitting calls, waits up to drain_ms for those under way, closes the old
 * instance, drops every pointer into the old image, unloads it and checks that it is unmapped,
 * loads and opens the new build with the old options and the configuration last in force. New calls
 * wait meanwhile. `plugin_path` NULL: the same path again. The new file is copied, checked and
 * probed before anything is stopped. Errors: those of hostkit_open while the old one goes on
 * untouched; BUSY with what was still under way, the old one goes on; if the new build fails in
 * open, the old copy is opened again and the new build's error returned, with " (the old build goes
 * on)" at its end. If even that fails, every later call answers CLOSED. */
HOSTKIT_API int32_t hostkit_swap(struct hostkit *hostkit, const char *plugin_path,
                                 uint32_t drain_ms, struct tidings_error *error);

/* What is loaded. Set `size` before the call. `generation` is 1 after open and one more after each
 * swap. Errors: INVAL, CLOSED. */
struct hostkit_info {
  uint32_t size;
  uint32_t generation;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t has_query; /* 1 or 0 */
  uint32_t has_wake;
  char name[64];
  char version[64];
  char build_id[64];
};
HOSTKIT_API int32_t hostkit_info(struct hostkit *hostkit, struct hostkit_info *ret_info);

/* The calls. Each fills *ret_reply with a copy of the plugin's reply in one allocation of hostkit's
 * (free it with hostkit_reply_free; it outlives swap and close), or NULL when there was none. */
HOSTKIT_API int32_t hostkit_tool_result(struct hostkit *hostkit,
                                        const struct tidings_tool_result *result,
                                        struct tidings_reply **ret_reply,
                                        struct tidings_error *error);
HOSTKIT_API int32_t hostkit_chat_request(struct hostkit *hostkit,
                                         const struct tidings_chat_request *request,
                                         struct tidings_reply **ret_reply,
                                         struct tidings_error *error);
HOSTKIT_API int32_t hostkit_event(struct hostkit *hostkit, const struct tidings_span *event,
                                  struct tidings_reply **ret_reply, struct tidings_error *error);
HOSTKIT_API int32_t hostkit_settle(struct hostkit *hostkit, uint64_t delivery_id, uint32_t outcome,
                                   struct tidings_reply **ret_reply, struct tidings_error *error);
/* `tidings.query/1`; *ret_json is NUL-terminated, free it with hostkit_free. UNSUPPORTED if the
 * plugin has no such extension. */
HOSTKIT_API int32_t hostkit_query(struct hostkit *hostkit, const struct tidings_span *request,
                                  char **ret_json, struct tidings_error *error);

/* `tidings.wake/1`, see tidings/wake.h; UNSUPPORTED if the plugin has no such extension. *ret_fd is
 * a new duplicate of the wake descriptor, the caller's to poll and to close; it goes on working
 * over swaps, save to a plugin without the extension. After a swap it is readable. A caller whose
 * event loop reads what it polls may let it: then too, next_session is what tells. */
HOSTKIT_API int32_t hostkit_wake_descriptor(struct hostkit *hostkit, int32_t *ret_fd,
                                            struct tidings_error *error);
HOSTKIT_API int32_t hostkit_next_session(struct hostkit *hostkit, char *buffer, size_t buffer_size,
                                         size_t *ret_len, struct tidings_error *error);

HOSTKIT_API void hostkit_reply_free(struct tidings_reply *reply); /* NULL is allowed */
/* what hostkit_query and the flat functions returned */
HOSTKIT_API void hostkit_free(void *memory);

/* What to send, in this order: messages before, the carrier itself, messages after and pairs. */
struct hostkit_part {
  uint32_t voice;      /* TIDINGS_VOICE_*; the carrier itself and blocks beside it included */
  uint32_t is_carrier; /* 1: this is the carrier, with what belongs into its text already in it */
  char *text;          /* NUL-terminated; may hold further NULs only if the carrier did */
  size_t text_len;
  char *call_id; /* TIDINGS_VOICE_TOOL, else NULL */
  char *tool;
};
struct hostkit_outgoing {
  uint32_t size;
  uint32_t carrier; /* index of the carrier in parts */
  struct hostkit_part *parts;
  size_t part_count;
};
/* Turns carrier + reply (may be NULL) into what to send; BLOCK messages stand before or after the
 * carrier by their place. Within a place the reply's order is the reading order. Errors: INVAL
 * (also for a role and place that this version does not know: send the carrier unchanged and roll
 * the delivery back), NOMEM. */
HOSTKIT_API int32_t hostkit_compose(const struct tidings_span *content,
                                    const struct tidings_reply *reply,
                                    struct hostkit_outgoing **ret_outgoing,
                                    struct tidings_error *error);
HOSTKIT_API void hostkit_outgoing_free(struct hostkit_outgoing *outgoing);

/* The JSON form of a reply (schema/reply.schema.json); reply NULL gives the empty one. Free with
 * hostkit_free. */
HOSTKIT_API int32_t hostkit_reply_json(const struct tidings_reply *reply, char **ret_json,
                                       struct tidings_error *error);

/* "TIDINGS_E_BUSY" for a code, "TIDINGS_OK" for 0, "TIDINGS_E_UNKNOWN" for others; never NULL. */
HOSTKIT_API const char *hostkit_error_name(int32_t code);

/* The flat functions: a handle is a positive integer, text is NUL-terminated UTF-8, nothing else
 * crosses.
 *
 * hostkit_flat_open takes {"plugin": PATH, "store": DIR, "host_name", "configuration": {…}, "role":
 * "host"|"producer", "owner_pid", "hook_budget_ms", "settle_on_return": bool, "probe": PATH or
 * false}, of which only "plugin" is required, and returns a handle, or 0: then hostkit_flat_error
 * has a sentence for this thread.
 *
 * hostkit_flat_call takes one JSON object with "op" and returns one that the caller frees with
 * hostkit_free (NULL: out of memory):
 *   {"op": "tool_result", "session", "call_id"?, "tool"?, "content"?}
 *     -> {"reply": {...}, "content": "...", "outgoing": [...]}
 *   {"op": "chat_request", "session", "source"?, "content"?, "messages"?: [ids]} -> the same
 *   {"op": "event", "event": {...}} -> {"reply": {...}}
 *   {"op": "settle", "delivery": "17", "outcome": "committed"|"rolled_back"} -> {"reply": {...}}
 *   {"op": "query", "query": {...}} -> {"answer": {...}}
 *   {"op": "swap", "plugin"?: PATH, "drain_ms"?} -> {"generation": N}
 *   {"op": "info"} -> {"name", "version", "build_id", "abi", "generation"}
 *   {"op": "wake_descriptor"} -> {"descriptor": N}, the caller's to close
 *   {"op": "next_session"} -> {"session": ID or null}
 *
 * On failure it returns {"error": {"code": "TIDINGS_E_...", "text": "..."}}. "outgoing" is the list
 * of hostkit_compose: {"role", "carrier": bool, "text", "call_id"?, "tool"?}; "content" is the
 * carrier's text. Members not named here are refused.
 *
 * hostkit_flat_push is the shortest way to push one notification; 0 or a TIDINGS_E_*. It drops the
 * reply, so a host that acts on critical notifications calls the op "event". hostkit_flat_close
 * waits 5 s for calls under way, as "swap" does by default; 0 or a TIDINGS_E_*.
 * hostkit_flat_wake_descriptor returns a descriptor to poll, the caller's to close, or a
 * TIDINGS_E_*, which is negative. hostkit_flat_next_session returns the id of the next session that
 * rang, to be freed with hostkit_free; "": none is left; NULL: it failed. hostkit_flat_error is of
 * the last flat call on this thread that failed; "" if none; borrowed until the next. */
HOSTKIT_API int64_t hostkit_flat_open(const char *options_json);
HOSTKIT_API char *hostkit_flat_call(int64_t handle, const char *request_json);
HOSTKIT_API int32_t hostkit_flat_push(int64_t handle, const char *session, const char *kind,
                                      int32_t level, const char *message);
HOSTKIT_API int32_t hostkit_flat_wake_descriptor(int64_t handle);
HOSTKIT_API char *hostkit_flat_next_session(int64_t handle);
HOSTKIT_API int32_t hostkit_flat_close(int64_t handle);
HOSTKIT_API const char *hostkit_flat_error(void);

#ifdef __cplusplus
}
#endif

#endif
