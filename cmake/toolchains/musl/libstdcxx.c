/* SPDX-License-Identifier: MIT
 *
 * libstdcxx.c: what a libstdc++ that was made for glibc takes from glibc and musl does not have.
 */
#include <stdint.h>
#include <stdlib.h>

struct dl_find_object;

extern char __libc_single_threaded;
extern int _dl_find_object(void *address, struct dl_find_object *ret_object);
extern uint32_t arc4random(void);

/* Whether there is one thread only, so that counting needs no atomic instruction. */
char __libc_single_threaded = 0;

/* Nothing is found: then the unwinder asks dl_iterate_phdr, as before glibc 2.35. */
int _dl_find_object(void *address, struct dl_find_object *ret_object) {
  (void)address;
  (void)ret_object;
  return -1;
}

/* For std::random_device, which is linked and not used. */
uint32_t arc4random(void) { abort(); }
