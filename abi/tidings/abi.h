/* SPDX-License-Identifier: MIT
 *
 * tidings/abi.h: the part of the contract that all other headers use: the version, the size rule,
 * the thread tags, spans, error codes, levels. The contract is between two binaries: the host (an
 * agent program) and the plugin (tidings.so). They may be built at different times, by different
 * people, from different minor versions of these headers. The headers compile as C11, C17 and
 * C++17.
 *
 * Words. Each has one meaning in these headers:
 *   session       one conversation of the host with a model
 *   notification  a short text from a subsystem for the model
 *   message       what starts a turn: typed by a person, or sent by a trigger
 *   turn          one run of the model's loop
 *   carrier       what the host is about to send to the model anyway: a tool result or a chat
 *                 request
 *   part          one text that tidings adds to a carrier, or beside it
 *   delivery      what one hook hands out; the host settles it
 *   status        how a session stands: its state, its phase, the messages of its turn
 *   origin        who wants a turn: a user, or tidings itself
 *   kind          what a notification is about: a source and a name, such as tool and failed
 *
 * The size rule. Every struct that crosses the boundary, except tidings_span, starts with
 * `uint32_t size`:
 *   - Whoever fills the struct sets `size` to sizeof the struct as its own headers have it, and
 *     sets every field that it does not use to zero.
 *   - Whoever reads the struct first checks that `size` is at least TIDINGS_..._SIZE_1_0. Then it
 *     copies the smaller of `size` and its own sizeof into a zeroed struct of its own, and reads
 *     only that copy. A field that the writer did not know reads as zero.
 *   - Fields are only appended, and never raise the struct's alignment. A field that the reader
 *     does not know is ignored. That is safe because zero in an appended field means "as before";
 *     a host that needs more checks the plugin's abi_minor.
 *   - A flag bit that these headers do not name must be zero. A plugin answers TIDINGS_E_INVAL to
 *     one that it does not know, and to a reserved field that is not zero.
 *   - Arrays cross as arrays of pointers, so that their elements can grow.
 * STABILITY.md beside these headers has the whole policy.
 *
 * Thread tags. Each function of the contract has one or two of these:
 *   [any thread]             Any thread may call it at any time, while other calls run as well, on
 *                            the same instance and the same session too.
 *   [one thread at a time]   Any thread may call it, but only one at a time. The comment says which
 *                            calls exclude each other.
 *   [never from a callback]  It must not be called by a function of struct tidings_host (host.h),
 *                            directly or indirectly.
 * No function may be called from a signal handler. After fork, the child must not use the parent's
 * instance: every call answers TIDINGS_E_CLOSED, and the child opens an instance of its own.
 */
#ifndef TIDINGS_ABI_H
#define TIDINGS_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the contract that these headers describe. Two sides with the same major work
 * together; either side's minor may be the lower one. Two sides with different majors never do. */
#define TIDINGS_ABI_MAJOR 1
#define TIDINGS_ABI_MINOR 2

/* The length of a struct up to the end of `field`: `field` may be read only if `size` is at least
 * that. `type` is written with its keyword: TIDINGS_SIZE_TO(struct tidings_error, text).
 * TIDINGS_..._SIZE_1_0 is the length of a struct in version 1.0, its shortest. */
#define TIDINGS_SIZE_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Makes a symbol visible outside its shared object: for tidings_entry (entry.h). */
#if defined(__GNUC__)
#define TIDINGS_EXPORT __attribute__((visibility("default")))
#else
#define TIDINGS_EXPORT
#endif

/* Text or bytes that somebody else owns. Text is UTF-8. No terminating NUL is needed, and none is
 * counted. An empty span has len 0; then ptr may be NULL. This is the only struct without a size:
 * it will never grow. Since 1.0. */
struct tidings_span {
  const char *ptr;
  size_t len; /* bytes */
};

/* A function that can fail returns 0 or one of these. The numbers never change. A later minor may
 * add codes; treat a negative number that you do not know as TIDINGS_E_STORE.
 *
 * On any error of a hook, the host sends its carrier unchanged; what was pending stays pending. The
 * exception is a chat request that names messages: the host does not send it. After
 * TIDINGS_E_FIRED, TIDINGS_E_NOT_FOUND or TIDINGS_E_STATE its messages are not on offer any more;
 * after other errors they still wait, and would be sent a second time. Since 1.0. */
#define TIDINGS_OK 0
/* The caller made a mistake: text that is not JSON, a null pointer, a struct shorter than its first
 * version, a flag or number without a meaning. Fix the caller: the same call fails again. */
#define TIDINGS_E_INVAL (-1)
/* The JSON has the wrong shape, or a value is out of range. The text names the field, its value and
 * what was expected. Fix the caller: the same call fails again. */
#define TIDINGS_E_SCHEMA (-2)
/* An input is over its limit. The text names the limit. Shorten the input. */
#define TIDINGS_E_TOO_BIG (-3)
/* This plugin does not have the event type, the query or the function, or the instance was opened
 * in a role that may not use it. Do without it. */
#define TIDINGS_E_UNSUPPORTED (-4)
/* There never was such a message, delivery or item. */
#define TIDINGS_E_NOT_FOUND (-5)
/* Too late: the message has started its turn. */
#define TIDINGS_E_FIRED (-6)
/* The call does not fit the present state of the turn or of the delivery. Nothing changed. */
#define TIDINGS_E_STATE (-7)
/* Something needed is in use: another process holds the writer lock for longer than the time
 * budget, or replies have not been released. Nothing was lost. Try again at the next occasion.
 * Before 1.2 this was also the code for a session that another host owns: see TIDINGS_E_OWNED. */
#define TIDINGS_E_BUSY (-8)
/* A limit is reached: the pending and leased notifications or the waiting messages of a session,
 * the notifications of one source in a minute (limits.source_per_minute), the processes that wait,
 * or the size of the store. The text names it. */
#define TIDINGS_E_FULL (-9)
/* The store failed: the disk is full, an I/O error, damage. Nothing was stored. Before 1.2 this was
 * also the code for an unknown outcome: see TIDINGS_E_OUTCOME_UNKNOWN. */
#define TIDINGS_E_STORE (-10)
/* A newer version wrote the store, in another layout. The store was left untouched. Use the newer
 * plugin, or another store. */
#define TIDINGS_E_SCHEMA_NEWER (-11)
/* There was no memory. Nothing changed. */
#define TIDINGS_E_NOMEM (-12)
/* The instance is quiesced or closed, belongs to the parent of a forked process, or does not own
 * the session (any more). */
#define TIDINGS_E_CLOSED (-13)
/* Another live host owns the session; the text names its pid. Try again after that host has ended,
 * or take the session over. Since 1.2. */
#define TIDINGS_E_OWNED (-14)
/* The disk or the connection to the database failed during the commit: the change may have been
 * stored or not. An event that has an id can be sent again. Since 1.2. */
#define TIDINGS_E_OUTCOME_UNKNOWN (-15)

/* A function says here what went wrong. The struct is the caller's. Set `size` to sizeof(struct
 * tidings_error) before the call; the function writes no further than `size`. Pass NULL if the code
 * is enough. On success nothing is written. Since 1.0. */
struct tidings_error {
  uint32_t size;
  int32_t code; /* the same TIDINGS_E_* as was returned */
  /* An English sentence for a person. UTF-8, always NUL-terminated; cut if it is too long. It may
   * quote input, with control characters made visible. */
  char text[504];
};
#define TIDINGS_ERROR_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_error, text)

/* How much a notification matters. Levels decide the order in which notifications are shown, and
 * which ones a cap keeps. Only critical does more: it asks for a turn, or stops the model's stream.
 * A higher number matters more: treat a number that you do not know as the highest one that you
 * know. Since 1.0. */
#define TIDINGS_LEVEL_INFO 0u
#define TIDINGS_LEVEL_WARNING 1u
#define TIDINGS_LEVEL_ERROR 2u
#define TIDINGS_LEVEL_CRITICAL 3u

/* The origin of a turn. A host copies the origin of an action into its chat request. It does so
 * even with a number that it does not know, and shows that as USER. A plugin answers INVAL to an
 * origin that it does not know. Since 1.0. */
#define TIDINGS_ORIGIN_USER 0u   /* a message, typed or triggered; also the host itself */
#define TIDINGS_ORIGIN_SYSTEM 1u /* tidings, because a notification needs the model now */

#ifdef __cplusplus
}
#endif

#endif
