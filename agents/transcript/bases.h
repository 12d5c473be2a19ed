/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/bases.h: a session may continue in another file, which says how much of the
 * former file stays.
 */
#ifndef AGENTS_TRANSCRIPT_BASES_H
#define AGENTS_TRANSCRIPT_BASES_H

#include "agents/hosts/hosts.h"
#include "agents/transcript/marks.h"

struct hook_record;

struct hook_base {
  char id[64];  /* the end of the former file's name; "": there is none */
  size_t bytes; /* how much of it stays */
  bool unread;  /* it is not known whether there is a former file, because this file was not read
                   completely */
};

/* Returns the former file that the first record of a file names. */
struct hook_base hook_base_of(const struct hook_record *first);

/* Adds the marks of the former files of the session to those of the file `path`, which continues
 * `base`. Marks outside of the part that stays are undone. Returns -1 if there is no memory. */
int hook_bases_mark(struct hook_marks *marks, const struct host *host, const char *path,
                    struct hook_base base);

#endif
