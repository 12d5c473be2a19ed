/* SPDX-License-Identifier: MIT
 *
 * lmdb_stderr.c: LMDB's archive on Debian is made for programs: it takes the address of stderr in a
 * way that a shared object cannot. cmake/dependencies.cmake has it use this variable instead, for
 * the one sentence that LMDB prints before it aborts.
 */
#include <stdio.h>

extern FILE *tidings_lmdb_stderr;
FILE *tidings_lmdb_stderr;

__attribute__((constructor)) static void know_stderr(void) { tidings_lmdb_stderr = stderr; }
