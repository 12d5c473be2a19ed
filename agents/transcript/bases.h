/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/bases.h: sessions that go on in another file, which says how much of the former
 * one stays.
 */
#ifndef AGENTS_TRANSCRIPT_BASES_H
#define AGENTS_TRANSCRIPT_BASES_H

#include "agents/hosts/hosts.h"
#include "agents/transcript/marks.h"

struct hook_record;

struct hook_base {
  char id[64];  /* the end of the former file's name; "": there is none */
  size_t bytes; /* what stays of it */
  bool unread;  /* whether there is one is not known: the file that says so was not read whole */
};

/* By the first record of a file. */
struct hook_base hook_base_of(const struct hook_record *first);

/* Adds the marks of the former files of the session to those of the file `path`, which goes on from
 * `base`: undone in what does not stay. Returns -1 if there is no memory. */
int hook_bases_mark(struct hook_marks *marks, const struct host *host, const char *path,
                    struct hook_base base);

#endif
