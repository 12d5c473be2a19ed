/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/notes.h: notes that a hook call leaves for later calls of its session. They are
 * files beside the place of the process that waits for the session (wait/place.h), and belong to
 * one process of the agent.
 */
#ifndef AGENTS_DELIVER_NOTES_H
#define AGENTS_DELIVER_NOTES_H

#include "agents/call/call.h"

/* The last delivery that was a reason to continue, for an agent whose transcript lacks reasons:
 * only this delivery is settled without a proof. The hook writes the note after its answer: a
 * delivery whose answer was not written gets no note. */
#define HOOK_NOTE_REASON ".reason"
/* The marker of the last reason with which the agent has called the prompt's hook, which proves
 * that it got this reason. After the first such call nothing else proves that, because the agent
 * drops a reason if a person stops the turn while the hook runs. The reader of the note checks the
 * marker, because its writer cannot if the store is busy. */
#define HOOK_NOTE_GOT ".got"
/* The delivery whose id follows this name was written in an answer. For an agent whose next call is
 * the only proof that it has read an answer: a hook that was killed leaves no such note. */
#define HOOK_NOTE_ANSWERED ".answered-"
/* The line for the person, kept for the turn's end by an agent that shows lines only then. */
#define HOOK_NOTE_SAID ".said"

/* The process that waits for the session could not start the last turn. Until it can, the hook of a
 * turn's end delivers what is next. */
#define HOOK_NOTE_FAILED ".failed"

/* At the session's start the model did not get the paragraph (turn/start.h), because the store
 * could not be opened. The next prompt gets it. */
#define HOOK_NOTE_UNSAID ".unsaid"

/* Returns 0 or an errno, which the log explains. Does nothing if the call has no place for
 * notes. */
int hook_note_write(const struct hook_call *call, const char *name, const char *text);
/* Write HOOK_NOTE_REASON (0: there is no such delivery yet) and HOOK_NOTE_GOT. They do nothing for
 * other agents. */
int hook_note_reason(const struct hook_call *call, uint64_t delivery);
void hook_note_got(const struct hook_call *call, const char *marker);
/* Write and look for HOOK_NOTE_ANSWERED. A call without a place for notes counts as answered. */
void hook_note_answered(const struct hook_call *call, uint64_t delivery);
bool hook_note_is_answered(const struct hook_call *call, uint64_t delivery);
/* Call it when the delivery has been settled. */
void hook_note_forget_answer(const struct hook_call *call, uint64_t delivery);
/* Writes or removes HOOK_NOTE_FAILED. */
void hook_note_failed(const struct hook_call *call, bool failed);
/* Returns the text of a note, which the caller frees; NULL: there is none. */
char *hook_note_read(const struct hook_call *call, const char *name);
void hook_note_remove(const struct hook_call *call, const char *name);

#endif
