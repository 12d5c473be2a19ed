/* SPDX-License-Identifier: MIT
 *
 * open/damaging.h: many copies of one store, each damaged in its own way, opened in children that
 * may die.
 */
#ifndef OPEN_DAMAGING_H
#define OPEN_DAMAGING_H

#include <stdatomic.h>

#include "open/parts.h"

enum { PAGE = 4096, STORE_SECONDS = 60 /* to open one */ };

/* Shared with the child that opens. */
struct tally {
  _Atomic(uint64_t) next, refused, whole, partial, again, failing, failed;
};

struct damaging {
  struct rig rig;
  char original[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX], data[FOLDER_PATH_MAX];
  uint8_t *bytes, *earlier; /* the same file some commits before */
  size_t length, earlier_length;
  uint64_t seed, killed;
  struct tally *tally;
};

void damaging_begin(struct damaging *damaging, const struct arguments *arguments,
                    const char *folder, const char *name);
/* `what` NULL: prints no tally of what opening them did. */
void damaging_end(struct damaging *damaging, const char *what, uint64_t count);
/* Does them all in children; one that dies costs one store. */
void damaging_run(struct damaging *damaging, uint64_t count,
                  void (*one)(struct damaging *, uint64_t));
/* Stores that killed the process, and failures of the test in the children. */
uint64_t damaging_violations(const struct damaging *damaging);
/* The pages that are in use: the file may be longer than that. */
size_t damaging_used_pages(const struct damaging *damaging);
/* Does a single damage, to the first `pages` of `bytes`. */
void damaging_spoil(const struct damaging *damaging, uint8_t *bytes, size_t pages,
                    struct random *random);

#endif
