/* SPDX-License-Identifier: MIT
 *
 * agents/wait/place.h: ensures that only one process waits for an agent's session: its place is a
 * FIFO in a folder that belongs to the user. The process that holds the FIFO's lock waits, and
 * reads what the session's hooks write to it. Other users can neither take its place nor write to
 * it.
 */
#ifndef AGENTS_WAIT_PLACE_H
#define AGENTS_WAIT_PLACE_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Words that the waiting process can read. */
enum { PLACE_LOOK = 'l', PLACE_STAY = 's', PLACE_END = 'e' };

/* Return the folder of all places, and the path of a session's place in it, "OWNER-HASH". Free
 * them. NULL: no memory, or there is no home. */
char *hook_place_folder(void);
char *hook_place_path(const struct cli *cli, const struct hook_call *call, uint32_t owner);

/* Takes the place for this process and those that it forks, until all of them have closed the
 * descriptor or ended. Returns the descriptor; -1: another process has the place, and gets `word`;
 * or the place cannot be made, which the log says. */
int hook_place_take(const struct cli *cli, const struct hook_call *call, uint32_t owner, char word);

/* Gives the place up, and removes it. Only one of the processes that have it may do this. Returns
 * the newest unread word; 0: there is none. The process that said that word did not get the place,
 * although it is now free. */
char hook_place_leave(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                      int place);

/* Returns the newest word that was said, which replaces those before it; 0: there is none. */
char hook_place_hear(int place);

/* Say a word to the process that has the place, if there is one. */
void hook_place_say(const struct cli *cli, const struct hook_call *call, uint32_t owner, char word);
void hook_place_say_at(const char *path, char word);

/* Does a process wait there? */
bool hook_place_is_taken(const struct cli *cli, const char *session, uint32_t owner);

#endif
