/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/notes.h: notes that a hook call leaves for later calls of its session. They are
 * files beside the place where a process waits for the session, and belong to one process of the
 * agent.
 */
#ifndef AGENTS_DELIVER_NOTES_H
#define AGENTS_DELIVER_NOTES_H

#include "agents/call/call.h"

/* The last delivery that was a reason to continue, for an agent whose transcript lacks reasons:
 * only this delivery is settled without a proof. The hook writes the note after its answer, so that
 * a reason that the agent never got is not settled. */
#define HOOK_NOTE_REASON ".reason"
/* The marker of the last reason with which the agent has called the prompt's hook, so the agent has
 * got this reason. After the first such call only such calls are proof, because the agent drops a
 * reason if a person stops the turn while the hook runs. The writer of the note cannot check the
 * marker if the store is busy, so its reader does. */
#define HOOK_NOTE_GOT ".got"
/* With the id of a delivery: the answer that has it was written. For an agent of which only its
 * next call proves that it has read an answer, this tells an answer from a hook that was killed. */
#define HOOK_NOTE_ANSWERED ".answered-"
/* The line that the person sees at the turn's end, for an agent that shows none before. */
#define HOOK_NOTE_SAID ".said"

/* The process that waits for the session could not start the last turn. Until it can, the hook of a
 * turn's end delivers what is next. */
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
/* Write and look for HOOK_NOTE_ANSWERED. A call without a place for notes counts as answered. */
void hook_note_answered(const struct hook_call *call, uint64_t delivery);
bool hook_note_is_answered(const struct hook_call *call, uint64_t delivery);
/* The delivery has been settled. */
void hook_note_forget_answer(const struct hook_call *call, uint64_t delivery);
/* Writes or removes HOOK_NOTE_FAILED. */
void hook_note_failed(const struct hook_call *call, bool failed);
/* Free it; NULL: there is none. */
char *hook_note_read(const struct hook_call *call, const char *name);
void hook_note_remove(const struct hook_call *call, const char *name);

#endif
