/* SPDX-License-Identifier: MIT
 *
 * command/session_path.h: names a file to a session. The notification of a watcher about the
 * assistant's own edit is withdrawn only if both reports name the file by the same bytes, so all
 * programs here use this function.
 */
#ifndef COMMAND_SESSION_PATH_H
#define COMMAND_SESSION_PATH_H

/* `path` as seen from the session's folder `cwd`: relative to it without "./" if it lies inside,
 * else absolute. A relative path is meant from `cwd`. Symbolic links of folders are resolved as far
 * as they exist; the last component is not. With `cwd` empty the path is absolute, from the current
 * folder. Free it; NULL: out of memory. */
char *session_path(const char *cwd, const char *path);

#endif
