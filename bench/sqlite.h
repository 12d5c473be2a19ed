/* SPDX-License-Identifier: MIT
 *
 * sqlite.h: the same queue in SQLite, for comparison: it has WAL and synchronous=FULL, so that a
 * commit is as durable as in tidings, and one prepared INSERT a commit. It exists only if the bench
 * is built with SQLite.
 */
#ifndef SQLITE_H
#define SQLITE_H

#include <stddef.h>
#include <stdint.h>

struct sqlite;

struct sqlite *sqlite_open(const char *folder); /* makes the folder */
void sqlite_close(struct sqlite *sqlite);
/* Writes a record and commits. */
void sqlite_put(struct sqlite *sqlite, uint32_t session, uint64_t n, size_t bytes);

#endif
