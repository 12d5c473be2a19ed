/* SPDX-License-Identifier: MIT
 *
 * open/parts.h: functions that the files of this test share.
 */
#ifndef OPEN_PARTS_H
#define OPEN_PARTS_H

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"

enum { FILLED_TOKENS = 400, FILLED_SESSIONS = 3 };
/* A file beside data.mdb: its copy from before the last half of the pushes. */
#define FILLED_EARLIER "earlier"

/* Makes a store with FILLED_TOKENS pending notifications (token 1 and up, session "s<token % 3>");
 * some others were delivered and settled before. Closes the store. */
void fill_store(struct rig *rig, const char *store);
/* Opens, drains and closes a store. Counts in `seen` (FILLED_TOKENS + 1 bytes) how often each token
 * is delivered, and in seen[0] deliveries of settled tokens. A notification that nobody pushed
 * fails the test. */
int32_t read_store(struct rig *rig, const char *store, uint8_t *seen, struct tidings_error *error);
/* Checks that opening succeeds and that everything pending is delivered once. */
void expect_whole(struct rig *rig, const char *store, const char *what);

void part_refusals(const struct arguments *arguments,
                   const char *folder); /* places that cannot be a store */
void part_twice(const struct arguments *arguments,
                const char *folder); /* already open in this process */
void part_lock_files(const struct arguments *arguments, const char *folder);
void part_creation(const struct arguments *arguments,
                   const char *folder); /* killed while the store is made */
void part_truncation(const struct arguments *arguments, const char *folder);
void part_damage(const struct arguments *arguments, const char *folder);
void part_salvage(const struct arguments *arguments, const char *folder);

#endif
