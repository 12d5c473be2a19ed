/* SPDX-License-Identifier: MIT
 *
 * open/damaging.h: makes many copies of one store, damages each in a different way, and opens them
 * in children that may die.
 */
#ifndef OPEN_DAMAGING_H
#define OPEN_DAMAGING_H

#include <stdatomic.h>

#include "open/parts.h"

enum { PAGE = 4096, STORE_SECONDS = 60 /* for opening one copy */ };

/* Shared with the children. */
struct tally {
  _Atomic(uint64_t) next, refused, whole, partial, again, failing, failed;
};

struct damaging {
  struct rig rig;
  char original[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX], data[FOLDER_PATH_MAX];
  uint8_t *bytes, *earlier; /* earlier: the same file some commits before */
  size_t length, earlier_length;
  uint64_t seed, killed;
  struct tally *tally;
};

void damaging_begin(struct damaging *damaging, const struct arguments *arguments,
                    const char *folder, const char *name);
/* Prints how opening the copies ended, unless `what` is NULL. */
void damaging_end(struct damaging *damaging, const char *what, uint64_t count);
/* Opens all copies in children. If a child dies, the next one continues after that copy. */
void damaging_run(struct damaging *damaging, uint64_t count,
                  void (*one)(struct damaging *, uint64_t));
/* Returns how many copies killed the process, plus the failures of the test in the children. */
uint64_t damaging_violations(const struct damaging *damaging);
/* Counts the pages that are in use; the file may have more. */
size_t damaging_used_pages(const struct damaging *damaging);
/* Damages the first `pages` of `bytes` in a random way. */
void damaging_spoil(const struct damaging *damaging, uint8_t *bytes, size_t pages,
                    struct random *random);

#endif
