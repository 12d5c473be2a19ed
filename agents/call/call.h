/* SPDX-License-Identifier: MIT
 *
 * agents/call/call.h: one hook call: JSON on stdin, read into a value that is the same for all
 * hosts. Knows no store.
 */
#ifndef AGENTS_CALL_CALL_H
#define AGENTS_CALL_CALL_H

#include <jansson.h>
#include <sys/types.h>
#include <tidings/tidings.h>

#include "agents/call/field.h"
#include "agents/hosts/hosts.h"

struct hook_call {
  const struct host *host; /* the one that has called; of an unknown caller the hook's */
  bool known; /* false: nothing is to be done for it; it is HOOK_OTHER, and may have no session */
  json_t *input;           /* owns the texts below */
  enum hook_moment moment; /* a prompt that no person has written is HOOK_OTHER */
  const char *event;       /* hook_event_name */
  const char *session;     /* never NULL; not empty if `known` */
  const char *cwd, *source, *prompt, *call_id, *tool, *failure; /* "" where the host said nothing */
  const char *transcript; /* the file in which the agent keeps the session; "" if it does not say */
  char *found;            /* owns that where the host does not say it; or NULL */
  size_t room;            /* bytes of one answer; 0: no bound */
  size_t characters;      /* of one answer, as the host escapes it; 0: no bound */
  int64_t time_ms;        /* when it was made; 0: the agent does not say */
  int64_t begun_ms;       /* when this process began with it, by the same clock */
  pid_t process;          /* the one that has begun with it */
  struct hook_seen *seen; /* what has been asked for it; deliver/status.h; NULL: nothing is kept */
  char *place; /* owned: where a process waits for the session; deliver/notes.h; NULL: no notes */
  bool wakes;  /* at a turn's end: a process that waits for the session starts the next one */
  bool moved;  /* to the window that shows the session now, from any process that had it before */
  bool late;   /* its answer is written: it is reported again (wait/again.h) */
  bool unseen; /* its window was closed, or shows another session: nobody must wake it */
  bool of_daemon;   /* its process is the agent's daemon: no window is known */
  bool of_subagent; /* of an agent inside the session; its output does not reach the session's own
                       agent */
};

/* Reads stdin to its end, whatever it holds: a host must not find its pipe broken. `host`: the one
 * for which setup has written the hook. Errors: INVAL,
 * SCHEMA, TOO_BIG, NOMEM; the text names the field, the value and what was expected. */
int32_t hook_call_read(const struct host *host, int fd, struct hook_call *ret_call,
                       struct tidings_error *error);
/* The same of what is read already; takes `input` over. */
int32_t hook_call_take(const struct host *host, json_t *input, struct hook_call *ret_call,
                       struct tidings_error *error);
void hook_call_finish(struct hook_call *call);

/* A member of the call (agents/call/field.h). */
static inline json_t *hook_call_value(const struct hook_call *call, enum host_field field) {
  return hook_field(call->host, call->input, field);
}
static inline const char *hook_call_text(const struct hook_call *call, enum host_field field) {
  return hook_field_text(call->host, call->input, field);
}

/* The text of what the tool has answered; "": there is none. */
const char *hook_call_result(const struct hook_call *call);

/* The files that the tool call has changed, as far as its input shows, each as session_path names
 * it. An array of texts, empty if there are none; NULL: out of memory. */
json_t *hook_call_edits(const struct hook_call *call);

#endif
