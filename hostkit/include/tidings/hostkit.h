/* SPDX-License-Identifier: MIT
 *
 * tidings/hostkit.h: the host's side of the contract as a library, static and shared
 * (-ltidings-hostkit).
 *
 * It loads a plugin safely, makes typed calls, copies each reply at once, turns carrier and reply
 * into what to send, and swaps a running plugin for a rebuilt one without losing a call. It knows
 * the contract and nothing of a plugin's insides. A host whose foreign functions know only strings
 * and integers uses the flat functions at the end.
 *
 * The size rule, the thread tags and the error codes are those of tidings/abi.h. The structs of
 * this header follow the size rule too: the caller sets `size` to sizeof the struct that it passes
 * in; hostkit sets it in what it hands out. `error` may be NULL everywhere. A `ret_` argument is
 * written only on success.
 *
 * Every function here is [any thread], from the moment when hostkit_open has returned, except
 * hostkit_close. Those that take a `struct hostkit *` or a handle are [never from a callback]: they
 * call the plugin, or wait for calls of it. Calls that arrive during a swap wait for it to end.
 */
#ifndef TIDINGS_HOSTKIT_H
#define TIDINGS_HOSTKIT_H

#include <tidings/tidings.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOSTKIT_API TIDINGS_EXPORT

/* A loaded plugin with an open instance. */
struct hostkit;

/* -- open, close, swap ------------------------------------------------------------------------- */

/* Flags of hostkit_options. Since 1.0. */
/* Do not try the load in a probe process first: for plugins that are known to be sound, or where no
 * process may be started. */
#define HOSTKIT_NO_PROBE 1u
/* Never unload: the image stays mapped after close and swap, so that a leak checker can still name
 * its functions. */
#define HOSTKIT_KEEP_MAPPED 2u
/* Keep the private copy in memory instead of in a folder: for commands that end soon, which spend
 * a good part of their time on making and removing the folder. A debugger finds no symbols by its
 * name. Needs HOSTKIT_NO_PROBE. On a system that runs no code from memory, the copy is a file.
 * Since 1.1. */
#define HOSTKIT_COPY_IN_MEMORY 4u
/* This process ends as soon as hostkit_close has returned: that call quiesces the plugin, and
 * leaves the memory, the descriptors and the image to the kernel, which takes them back faster. Do
 * not fork meanwhile: the child would keep the store's locks. A plugin of an older ABI is closed.
 * Since 1.2.
 */
#define HOSTKIT_LEAVE_TO_EXIT 8u

/* Zero it, set `size`, and then what is needed. Strings are NUL-terminated and borrowed until
 * hostkit_open returns; NULL means the default. Since 1.0. */
struct hostkit_options {
  uint32_t size;
  uint32_t flags; /* HOSTKIT_* */
  /* Required: the tidings.so to load. A private copy of it is loaded, so the file may be replaced
   * at any time. For a store in a database the tidings-postgres.so beside it is loaded. */
  const char *plugin_path;
  /* The next seven are as in struct tidings_open_options (entry.h). */
  const char *store_dir;
  const char *host_name;
  const char *configuration;
  uint32_t role;
  uint32_t owner_pid;
  uint32_t hook_budget_ms;
  uint32_t settle_on_return;
  /* The place of the private copy, in a folder of its own with mode 0700. NULL: the first of
   * $XDG_RUNTIME_DIR, $TMPDIR and /tmp that is writable, not mounted noexec, and has room. */
  const char *copy_dir;
  /* The probe program. NULL: $TIDINGS_HOSTKIT_PROBE, else where hostkit was installed. */
  const char *probe_path;
  uint32_t probe_timeout_ms; /* 0: 10,000 */
  uint32_t reserved;         /* 0 */
  /* Log, clocks and random bytes. It must stay valid until hostkit_close has returned. NULL: the
   * system's clocks, getrandom, and no log. */
  const struct tidings_host *host;
  /* As in struct tidings_open_options: it is a bound for each instance, so a swap begins it anew.
   * Since 1.1. */
  uint64_t total_budget_ms;
};
#define HOSTKIT_OPTIONS_SIZE_1_0 TIDINGS_SIZE_TO(struct hostkit_options, host)

/* Loads a plugin and opens an instance. [any thread] [never from a callback] Close what it returns
 * with hostkit_close.
 *
 * It refuses, with a sentence that says why: a file that is missing or not readable; one that is
 * not a whole ELF shared object of this machine; one that crashes, exits or hangs in the probe; one
 * without the symbol tidings_entry, with another ABI major, with an entry shorter than
 * version 1.0's or with a function missing; and a plugin whose open fails, with the plugin's own
 * sentence. On an error nothing stays loaded or written.
 *
 * The probe is a process that loads the copy, checks the entry, and opens an instance on an empty
 * folder of its own. It does not touch the store.
 *
 * Errors:
 *   INVAL        wrong options; the file is not a whole plugin
 *   NOT_FOUND    there is no such plugin, or no probe program
 *   UNSUPPORTED  it is for another machine, or has another ABI major
 *   STATE        it crashed, exited or hung in the probe
 *   STORE        the file cannot be read or copied
 *   NOMEM        as in abi.h
 *   and those of the plugin's open (entry.h). Since 1.0. */
HOSTKIT_API int32_t hostkit_open(const struct hostkit_options *options,
                                 struct hostkit **ret_hostkit, struct tidings_error *error);

/* Waits up to drain_ms for calls under way, closes the instance and unloads the image.
 * [one thread at a time: no other call on this object may begin] [never from a callback]
 *
 * After success the pointer must not be used any more. NULL is allowed. Errors: BUSY (calls are
 * still under way, or the plugin's close answered BUSY) and those of the plugin's close; everything
 * is then as it was. Since 1.0. */
HOSTKIT_API int32_t hostkit_close(struct hostkit *hostkit, uint32_t drain_ms,
                                  struct tidings_error *error);

/* Swaps the running plugin for another build. [any thread] [never from a callback] `plugin_path`
 * NULL: the same path again; else as in hostkit_options.
 *
 * First the new file is copied, checked and probed. Then new calls wait, and calls under way get up
 * to drain_ms to end. The old instance is closed, its image unloaded; the new build is loaded and
 * opened with the old options and with the configuration last in force.
 *
 * Errors: those of hostkit_open, and BUSY with what was still under way: the old build goes on. If
 * the new build fails in open, the old build is opened again, and the new build's error is returned
 * with " (the old build goes on)" at its end. If even that fails, every later call answers CLOSED
 * until another hostkit_swap succeeds. Since 1.0. */
HOSTKIT_API int32_t hostkit_swap(struct hostkit *hostkit, const char *plugin_path,
                                 uint32_t drain_ms, struct tidings_error *error);

/* Describes the build that is loaded. Zero it and set `size` before the call: hostkit writes no
 * further. Since 1.0. */
struct hostkit_info {
  uint32_t size;
  uint32_t generation; /* 1 after hostkit_open, and one more after each swap */
  uint16_t abi_major;  /* of the plugin */
  uint16_t abi_minor;
  uint32_t has_query; /* 1: it has the extension tidings.query/1; 0: it has not */
  uint32_t has_wake;  /* 1: it has the extension tidings.wake/1; 0: it has not */
  char name[64];      /* NUL-terminated, cut if need be; so are the next two */
  char version[64];
  char build_id[64];
};
#define HOSTKIT_INFO_SIZE_1_0 TIDINGS_SIZE_TO(struct hostkit_info, build_id)

/* Fills *ret_info. [any thread] [never from a callback] Errors: INVAL (a null pointer, a size that
 * is less than 4), CLOSED. Since 1.0. */
HOSTKIT_API int32_t hostkit_info(struct hostkit *hostkit, struct hostkit_info *ret_info);

/* -- calls ------------------------------------------------------------------------------------- */

/* The functions of an instance (plugin.h): when to call them and what their errors mean is written
 * there. [any thread] [never from a callback]
 *
 * *ret_reply becomes a copy of the plugin's reply, or NULL if there was none. The copy is one
 * allocation of hostkit's: free it with hostkit_reply_free. It stays valid after swap and close.
 * Each text in it has a NUL after its last byte. Every struct in it has the length that this
 * hostkit knows; what the plugin did not know is zero.
 *
 * More errors: INVAL (a null pointer), CLOSED (a swap failed and no plugin is loaded), NOMEM (the
 * reply could not be copied: its delivery was rolled back, or the text says that it stays leased).
 * Since 1.0. */
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
/* [any thread] [never from a callback] `outcome` is TIDINGS_OUTCOME_COMMITTED or
 * TIDINGS_OUTCOME_ROLLED_BACK; ret_reply may be NULL. Since 1.0. */
HOSTKIT_API int32_t hostkit_settle(struct hostkit *hostkit, uint64_t delivery_id, uint32_t outcome,
                                   struct tidings_reply **ret_reply, struct tidings_error *error);

/* Gives back the memory of a reply. [any thread] NULL is allowed. Since 1.0. */
HOSTKIT_API void hostkit_reply_free(struct tidings_reply *reply);

/* When a notification may start a turn. Since 1.0. */
#define HOSTKIT_ACTIVATION_DEFAULT 0u   /* as its kind and level say, by the configuration */
#define HOSTKIT_ACTIVATION_PASSIVE 1u   /* never: it waits for a carrier */
#define HOSTKIT_ACTIVATION_IDLE 2u      /* when the session is idle */
#define HOSTKIT_ACTIVATION_INTERRUPT 3u /* at once: it also stops a stream */

/* A notification to push. Zero it, set `size`, and then what is needed: zero and empty mean that
 * the field is absent. Texts are UTF-8, with any characters but NUL: hostkit escapes them. Since
 * 1.0. */
struct hostkit_notification {
  uint32_t size;
  uint32_t flags;                  /* none is defined: 0 */
  struct tidings_span session;     /* required */
  struct tidings_span kind_source; /* required: "tool"; no dot, no control character */
  struct tidings_span kind_name;   /* "failed"; no control character */
  struct tidings_span text;        /* required: what the model is to know. A byte that is not UTF-8
                                      becomes U+FFFD */
  uint32_t level;                  /* TIDINGS_LEVEL_* */
  uint32_t activation;             /* HOSTKIT_ACTIVATION_* */
  struct tidings_span data;        /* one JSON value for programs; the model does not see it */
  struct tidings_span key;         /* only the newest with the same key is delivered */
  struct tidings_span tool;        /* the tool that it is about */
  struct tidings_span handle;      /* the running thing that it is about */
  uint64_t ttl_ms;                 /* dropped when it has waited for this long; 0: it stays */
  struct tidings_span caused_by;   /* the id of the model's own call that caused it */
  /* With both, pushing again within 24 hours has no effect: so a push can be repeated after a
   * failure. */
  struct tidings_span event_source; /* who pushes, such as "ci" */
  struct tidings_span event_id;     /* unique for that source */
};
#define HOSTKIT_NOTIFICATION_SIZE_1_0 TIDINGS_SIZE_TO(struct hostkit_notification, event_id)

/* Pushes a notification: hostkit_event without writing JSON. [any thread] [never from a callback]
 * When it returns 0, the notification is stored for good.
 *
 * ret_reply may be NULL. A host that acts on critical notifications, or on an activation, passes
 * one and does the reply's actions.
 *
 * Errors: INVAL (a null pointer, a short struct, an unknown flag, level or activation, data that is
 * not JSON, a field other than text that is not UTF-8, ttl_ms above 2^63 - 1); and those of
 * on_event (plugin.h), where SCHEMA names the member of the event that is wrong: "data.message" is
 * `text`. Since 1.0. */
HOSTKIT_API int32_t hostkit_push(struct hostkit *hostkit,
                                 const struct hostkit_notification *notification,
                                 struct tidings_reply **ret_reply, struct tidings_error *error);

/* Asks what a session needs now: sends the `wake` event. [any thread] [never from a callback] Call
 * it for each session that hostkit_next_session names, and when wake_at_ms of a reply has come;
 * then do the reply's actions. Errors: INVAL (a null pointer, a session that is not UTF-8); and
 * those of on_event. Since 1.0. */
HOSTKIT_API int32_t hostkit_wake(struct hostkit *hostkit, const struct tidings_span *session,
                                 struct tidings_reply **ret_reply, struct tidings_error *error);

/* Asks a question by the extension tidings.query/1 (query.h). [any thread] [never from a callback]
 * *ret_json is NUL-terminated; free it with hostkit_free. Errors: those of query; UNSUPPORTED if
 * the plugin does not have the extension. Since 1.0. */
HOSTKIT_API int32_t hostkit_query(struct hostkit *hostkit, const struct tidings_span *request,
                                  char **ret_json, struct tidings_error *error);

/* The extension tidings.wake/1 (wake.h says how to use it). [any thread] [never from a callback]
 *
 * *ret_fd is a new duplicate of the wake descriptor, which the caller polls and closes. It works
 * after a swap too, except after one to a plugin without the extension. A swap makes it readable. A
 * host whose event loop reads the descriptors that it polls may let it read this one, if it then
 * calls hostkit_next_session.
 *
 * Errors: those of the extension; UNSUPPORTED if the plugin does not have it: go by wake_at_ms of
 * the replies. NOMEM: there is no free descriptor. Since 1.0. */
HOSTKIT_API int32_t hostkit_wake_descriptor(struct hostkit *hostkit, int32_t *ret_fd,
                                            struct tidings_error *error);
/* Writes the id of the next session that rang to `buffer`, without a NUL; *ret_len 0: none is left.
 * 255 bytes are always enough. [any thread] [never from a callback] Since 1.0. */
HOSTKIT_API int32_t hostkit_next_session(struct hostkit *hostkit, char *buffer, size_t buffer_size,
                                         size_t *ret_len, struct tidings_error *error);

/* The tasks of hostkit_store. Since 1.1. */
#define HOSTKIT_STORE_CHECK 1u
#define HOSTKIT_STORE_BACKUP 2u
#define HOSTKIT_STORE_SALVAGE 3u
#define HOSTKIT_STORE_MIGRATE 4u
#define HOSTKIT_STORE_INIT 5u
#define HOSTKIT_STORE_UPGRADE 6u
#define HOSTKIT_STORE_DROP 7u
#define HOSTKIT_STORE_DUMP 8u
#define HOSTKIT_STORE_LOAD 9u
#define HOSTKIT_STORE_FORGET 10u /* since 1.2 */

/* Does one task on a store, by the extension tidings.store/1 (store.h) of a plugin that is loaded
 * for this call: no instance is opened, and `options` says only which plugin is loaded, and how.
 * A store that is named by a URL takes the plugin for databases beside tidings.so.
 * [any thread] [never from a callback] It may take minutes. *ret_json is NUL-terminated; free it
 * with hostkit_free. Errors: INVAL (an unknown task), those of hostkit_open and of the extension;
 * UNSUPPORTED if the plugin does not have it. Since 1.1. */
HOSTKIT_API int32_t hostkit_store(const struct hostkit_options *options, uint32_t task,
                                  const struct tidings_store_request *request, char **ret_json,
                                  struct tidings_error *error);

/* Gives back what hostkit_query, hostkit_store, hostkit_reply_json and the flat functions returned.
 * [any thread] NULL is allowed. Since 1.0. */
HOSTKIT_API void hostkit_free(void *memory);

/* -- what to send ------------------------------------------------------------------------------ */

/* A message to send, or a block of the carrier's message. Since 1.0. */
struct hostkit_part {
  uint32_t size;
  uint32_t voice;      /* TIDINGS_VOICE_*; CARRIER for the carrier itself */
  uint32_t is_carrier; /* 1: this is the carrier, with what belongs into its text already in it */
  uint32_t reserved;   /* 0 */
  char *text;          /* NUL-terminated; has other NULs only if the carrier or the reply has */
  size_t text_len;     /* bytes */
  char *call_id;       /* NUL-terminated; NULL unless the voice is TOOL */
  char *tool;          /* the same */
};
#define HOSTKIT_PART_SIZE_1_0 TIDINGS_SIZE_TO(struct hostkit_part, tool)

/* The parts to send, in this order: messages before the carrier, blocks before its text, the
 * carrier, blocks after its text, messages after it, synthetic calls. Since 1.0. */
struct hostkit_outgoing {
  uint32_t size;
  uint32_t carrier; /* the index of the carrier in parts */
  const struct hostkit_part *const *parts;
  size_t part_count;
};
#define HOSTKIT_OUTGOING_SIZE_1_0 TIDINGS_SIZE_TO(struct hostkit_outgoing, part_count)

/* Turns a carrier's text and a reply into what to send. [any thread] `reply` may be NULL, or a
 * plugin's own. Within a place the reply's order is the reading order. Free the result with
 * hostkit_outgoing_free; it has copies of all texts.
 *
 * Errors: INVAL (a null pointer; a voice and place that this version does not know), NOMEM. On any
 * of them send the carrier unchanged and roll the delivery back; but do not send a chat request
 * that names messages: these then wait again. Since 1.0. */
HOSTKIT_API int32_t hostkit_compose(const struct tidings_span *content,
                                    const struct tidings_reply *reply,
                                    struct hostkit_outgoing **ret_outgoing,
                                    struct tidings_error *error);
/* [any thread] NULL is allowed. Since 1.0. */
HOSTKIT_API void hostkit_outgoing_free(struct hostkit_outgoing *outgoing);

/* The JSON form of a reply (schema/reply.schema.json). [any thread] NULL gives the empty one.
 * *ret_json is NUL-terminated; free it with hostkit_free. Errors: INVAL (a null pointer), NOMEM.
 * Since 1.0. */
HOSTKIT_API int32_t hostkit_reply_json(const struct tidings_reply *reply, char **ret_json,
                                       struct tidings_error *error);

/* The name of a code: "TIDINGS_E_BUSY"; "TIDINGS_OK" for 0; "TIDINGS_E_UNKNOWN" for a code that
 * this version does not know. [any thread] Never NULL. Since 1.0. */
HOSTKIT_API const char *hostkit_error_name(int32_t code);

/* -- flat functions ---------------------------------------------------------------------------- */

/* For languages whose foreign functions know only strings and integers. A handle is a positive
 * integer that is never used twice. Texts are NUL-terminated UTF-8. All are [any thread]
 * [never from a callback], except hostkit_flat_error and hostkit_flat_error_code, which are
 * [any thread]. */

/* Opens a plugin. `options_json` is {"plugin": PATH, "store": DIR, "host_name", "configuration":
 * {...}, "role": "host"|"producer", "owner_pid", "hook_budget_ms", "settle_on_return": bool,
 * "probe": PATH or false, "total_budget_ms" (since 1.1)}; only "plugin" is required. Returns a
 * handle; 0: it failed; hostkit_flat_error says why, hostkit_flat_error_code has the code. Since
 * 1.0. */
HOSTKIT_API int64_t hostkit_flat_open(const char *options_json);

/* Makes a call. The request is a JSON object with "op". Returns a JSON object, to be freed with
 * hostkit_free; NULL: out of memory.
 *   {"op": "tool_result", "session", "call_id"?, "tool"?, "content"?, "room"?: bytes}
 *     -> {"reply": {...}, "content": "...", "outgoing": [...]}
 *   {"op": "chat_request", "session", "source"?, "content"?, "messages"?: [ids], "room"?: bytes}
 *     -> the same
 *   {"op": "push", "session", "kind", "message", "level"?, "data"?, "key"?, "tool"?, "handle"?,
 *    "ttl_ms"?, "activation"?, "caused_by"?, "source"?, "id"?} -> {"reply": {...}}
 *   {"op": "wake", "session"} -> {"reply": {...}}
 *   {"op": "event", "event": {...}} -> {"reply": {...}}; since 1.2 also with the event's JSON text
 *     in a string
 *   {"op": "settle", "delivery": "17", "outcome": "committed"|"rolled_back"} -> {"reply": {...}}
 *   {"op": "query", "query": {...}} -> {"answer": {...}}
 *   {"op": "swap", "plugin"?: PATH, "drain_ms"?} -> {"generation": N}
 *   {"op": "info"} -> {"name", "version", "build_id", "abi", "generation"}
 *   {"op": "wake_descriptor"} -> {"descriptor": N}, which the caller closes
 *   {"op": "next_session"} -> {"session": ID or null}
 *
 * "outgoing" is what hostkit_compose gives: {"role", "carrier": bool, "text", "call_id"?, "tool"?};
 * "content" is the carrier's text. The members of "push" are those of a notification's data, and
 * the event's own "source" and "id". "room" is room_bytes of plugin.h; since 1.1. Other members are
 * refused.
 *
 * On an error it returns {"error": {"code": "TIDINGS_E_...", "text": "..."}}. Since 1.0. */
HOSTKIT_API char *hostkit_flat_call(int64_t handle, const char *request_json);

/* Pushes a notification with no JSON at all. `kind` is "tool.failed": the source goes to the first
 * dot. `level` is TIDINGS_LEVEL_*. It drops the reply: a host that acts on critical notifications
 * uses the op "push". Returns 0 or a TIDINGS_E_*. Since 1.0. */
HOSTKIT_API int32_t hostkit_flat_push(int64_t handle, const char *session, const char *kind,
                                      int32_t level, const char *text);

/* Returns a descriptor to poll, which the caller closes, or a TIDINGS_E_*, which is negative.
 * Since 1.0. */
HOSTKIT_API int32_t hostkit_flat_wake_descriptor(int64_t handle);

/* Returns the id of the next session that rang, to be freed with hostkit_free; "": none is left;
 * NULL: it failed. Since 1.0. */
HOSTKIT_API char *hostkit_flat_next_session(int64_t handle);

/* Closes a handle; waits up to 5 s for calls under way, as the op "swap" does by default. Returns 0
 * or a TIDINGS_E_*; on BUSY the handle stays open. Since 1.0. */
HOSTKIT_API int32_t hostkit_flat_close(int64_t handle);

/* The sentence of the last flat call on this thread that failed; "": none did. It is borrowed until
 * the next flat call on this thread. Since 1.0. */
HOSTKIT_API const char *hostkit_flat_error(void);
/* The code of that failure, a TIDINGS_E_*; 0: no call failed. For the functions that return no
 * code: hostkit_flat_open, hostkit_flat_call and hostkit_flat_next_session. Since 1.2. */
HOSTKIT_API int32_t hostkit_flat_error_code(void);

#ifdef __cplusplus
}
#endif

#endif
