/* SPDX-License-Identifier: MIT
 *
 * agents/wait/place.h: ensures that only one process waits for an agent's session: a FIFO in a
 * folder that belongs to the user. The process that holds its lock waits, and reads what the
 * session's hooks write into it. Other users can neither take its place nor write to it.
 */
#ifndef AGENTS_WAIT_PLACE_H
#define AGENTS_WAIT_PLACE_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Words for the process that waits there. */
enum { PLACE_LOOK = 'l', PLACE_STAY = 's', PLACE_END = 'e' };

/* Return the folder of all places, and the path of a session's place in it, OWNER-HASH. Free them.
 * NULL: no memory, or there is no home. */
char *hook_place_folder(void);
char *hook_place_path(const struct cli *cli, const struct hook_call *call, uint32_t owner);

/* Takes the place, for this process and those that it forks, until the last of them has closed the
 * descriptor or has ended. Returns the descriptor; -1: another process has the place, and gets
 * `word`; or the place cannot be made, which the log says. */
int hook_place_take(const struct cli *cli, const struct hook_call *call, uint32_t owner, char word);

/* Gives the place up, and removes it. Only one of the processes that have it does this. Returns the
 * newest word that was said and not read; 0: there is none. The process that said it has not taken
 * the place, although this one leaves it. */
char hook_place_leave(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                      int place);

/* Returns the newest word that was said; 0: there is none. Each word replaces those before it. */
char hook_place_hear(int place);

/* Say a word to the process that has the place, if there is one. */
void hook_place_say(const struct cli *cli, const struct hook_call *call, uint32_t owner, char word);
void hook_place_say_at(const char *path, char word);

/* Does a process wait there? */
bool hook_place_is_taken(const struct cli *cli, const char *session, uint32_t owner);

#endif
