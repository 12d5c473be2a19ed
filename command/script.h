/* SPDX-License-Identifier: MIT
 *
 * command/script.h: finds the program that a process runs through an interpreter, an emulator or
 * the dynamic loader. Pure: the caller gives the command line.
 */
#ifndef COMMAND_SCRIPT_H
#define COMMAND_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/* `program`: the name of the file that the process runs; `line`: its arguments, each with a NUL at
 * its end, as in /proc/PID/cmdline. Returns the argument that names what an interpreter runs:
 * "/usr/bin/gemini" for `node --no-warnings /usr/bin/gemini`, "/bin/sh" for
 * `qemu-aarch64 /bin/sh -c ...`. NULL: it is no interpreter, or its code is in the arguments. */
const char *script_path(const char *program, const char *line, size_t len);

/* Is it an interpreter, by the name of its file? */
bool script_is_run_by(const char *program);

/* Is the file at `path` the program `name`? Its own name without an extension counts, or the name
 * of the npm package that contains it. */
bool script_is_of(const char *path, const char *name);

#endif
