/* SPDX-License-Identifier: MIT
 *
 * command/session_path.h: makes the path by which a session knows a file. A watcher's notification
 * about the assistant's own edit is withdrawn only if both reports name the file by the same bytes,
 * so all programs here use this function.
 */
#ifndef COMMAND_SESSION_PATH_H
#define COMMAND_SESSION_PATH_H

/* Returns `path` as seen from the session's folder `cwd`: relative to `cwd`, without "./", if the
 * file is inside it, else absolute. A relative `path` starts at `cwd`. Symbolic links of existing
 * folders are resolved; the last component is not. If `cwd` is empty, the result is absolute, and a
 * relative `path` starts at the current folder. Free it; NULL: out of memory. */
char *session_path(const char *cwd, const char *path);

#endif
