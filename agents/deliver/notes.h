/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/notes.h: what one hook call of a session leaves for a later one: files beside the
 * place where a process waits for the session. They go with the agent's process.
 */
#ifndef AGENTS_DELIVER_NOTES_H
#define AGENTS_DELIVER_NOTES_H

#include "agents/call/call.h"

/* The delivery that was the last reason to continue, for an agent whose transcript lacks those:
 * nothing else is settled without a proof. A hook that hands one out notes it after its answer, so
 * that what an agent never got is not settled. */
#define HOOK_NOTE_REASON ".reason"
/* The marker of the last reason with which the agent has called the prompt's hook: it has got that
 * one. From its first such call on only these count, because it drops a reason if a person stops
 * the turn while the hook runs. The store may be busy then, so who reads the note checks it. */
#define HOOK_NOTE_GOT ".got"
/* The line that the person sees at the turn's end, for an agent that shows none before. */
#define HOOK_NOTE_SAID ".said"

/* The process that waits for the session could not start the last turn: until it can, the hook of a
 * turn's end hands out what follows. */
#define HOOK_NOTE_FAILED ".failed"

/* The session's start has not said the paragraph, because the store could not be opened: the next
 * prompt says it. */
#define HOOK_NOTE_UNSAID ".unsaid"

/* Returns 0 or an errno, which the log explains. Does nothing if the call has no such place. */
int hook_note_write(const struct hook_call *call, const char *name, const char *text);
/* Write HOOK_NOTE_REASON (0: there is no such delivery yet) and HOOK_NOTE_GOT. They do nothing for
 * other agents. */
int hook_note_reason(const struct hook_call *call, uint64_t delivery);
void hook_note_got(const struct hook_call *call, const char *marker);
/* Writes or removes HOOK_NOTE_FAILED. */
void hook_note_failed(const struct hook_call *call, bool failed);
/* Free it; NULL: there is none. */
char *hook_note_read(const struct hook_call *call, const char *name);
void hook_note_remove(const struct hook_call *call, const char *name);

#endif
