/* SPDX-License-Identifier: MIT
 *
 * agents/call/call.h: one hook call: it reads the JSON on stdin into a struct that is the same for
 * all hosts. It uses no store.
 */
#ifndef AGENTS_CALL_CALL_H
#define AGENTS_CALL_CALL_H

#include <jansson.h>
#include <sys/types.h>
#include <tidings/tidings.h>

#include "agents/call/field.h"
#include "agents/hosts/hosts.h"

struct hook_call {
  const struct host *host; /* the agent that called; if that is unknown, the one whose hook it is */
  bool known; /* false: the caller is unknown; the call is HOOK_OTHER, gets no work, and may have no
                 session */
  json_t *input;           /* owns the texts below */
  enum hook_moment moment; /* a prompt that no person has written is HOOK_OTHER */
  const char *event;       /* hook_event_name */
  const char *session;     /* never NULL; not empty if `known` */
  const char *cwd, *source, *prompt, *call_id, *tool, *failure; /* "" where the host said nothing */
  const char *transcript; /* the file in which the agent keeps the session; "" if it does not say */
  char *found;            /* owns `transcript` if the host does not name it; or NULL */
  size_t room;            /* how many bytes an answer may have; 0: no bound */
  size_t characters;      /* how many characters it may have as the host escapes it; 0: no bound */
  int64_t time_ms;        /* when the call was made; 0: the agent does not say */
  int64_t begun_ms;       /* when this process began to handle it, by the same clock */
  pid_t process;          /* the process that began to handle it */
  struct hook_seen *seen; /* the kept status (deliver/status.h); NULL: none is kept */
  char *place;            /* the place of the process that waits for the session, with its notes
                             (deliver/notes.h); owned; NULL: none */
  bool wakes;       /* a process waits for the session: after this turn it starts the next one */
  bool moved;       /* the session passes to the window that shows it now, from any earlier owner */
  bool late;        /* the call is handled again after its answer was written (wait/again.h) */
  bool unseen;      /* its window was closed, or shows another session: nobody must wake it */
  bool of_daemon;   /* its process is the agent's daemon: no window is known */
  bool of_subagent; /* an agent inside the session made the call; its output does not reach the
                       session's own agent */
};

/* Reads stdin to its end, also if it is invalid, because a host must not find its pipe broken.
 * `host`: the agent for which setup wrote the hook. Errors: INVAL, SCHEMA, TOO_BIG, NOMEM; the text
 * names the field, the value and what was expected. */
int32_t hook_call_read(const struct host *host, int fd, struct hook_call *ret_call,
                       struct tidings_error *error);
/* Does the same with JSON that was read already; takes `input` over. */
int32_t hook_call_take(const struct host *host, json_t *input, struct hook_call *ret_call,
                       struct tidings_error *error);
void hook_call_finish(struct hook_call *call);

/* Return a member of the call (agents/call/field.h). */
static inline json_t *hook_call_value(const struct hook_call *call, enum host_field field) {
  return hook_field(call->host, call->input, field);
}
static inline const char *hook_call_text(const struct hook_call *call, enum host_field field) {
  return hook_field_text(call->host, call->input, field);
}

/* Returns the text of the tool's result; "": there is none. */
const char *hook_call_result(const struct hook_call *call);

/* Returns an array of the files that the tool call has changed, as far as its input shows, with the
 * names that session_path gives them. NULL: out of memory. */
json_t *hook_call_edits(const struct hook_call *call);

#endif
