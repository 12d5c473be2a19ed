/* SPDX-License-Identifier: MIT
 *
 * test_lookup_begun.c: looking up names where the C library has threads for it
 * (common/libc_lookup.c), when it can begin with some of them only. The resolver is this test's.
 */
#include <criterion/criterion.h>
#include <netdb.h>
#include <string.h>

#include "common/libc.h"

#ifdef __GLIBC__

static struct gaicb *begun; /* NULL: it begins with none */
static bool begins;

int getaddrinfo_a(int mode, struct gaicb *list[], int count, struct sigevent *event) {
  (void)event;
  cr_assert_eq(mode, GAI_NOWAIT);
  cr_assert_eq(count, 2);
  if (begins) {
    begun = list[0];
    begun->__return = EAI_INPROGRESS;
  }
  return begins ? EAI_SYSTEM : EAI_AGAIN;
}

int gai_error(struct gaicb *request) { return request->__return; }

int gai_suspend(const struct gaicb *const list[], int count, const struct timespec *most) {
  (void)most;
  cr_assert(count == 1 && list[0] == begun);
  return EAI_AGAIN;
}

static const char *const names[] = {"one", "two"};

Test(lookup_begun, what_has_begun_is_not_freed) {
  begins = true;
  struct libc_lookup *lookup = libc_lookup_begin(names, 2);
  cr_assert(begun);
  cr_assert(lookup, "it is freed while the resolver has it");
  cr_assert_str_eq(begun->ar_name, "one");
  cr_expect(!libc_lookup_wait(lookup, 0));
  begun->__return = EAI_NONAME;
  cr_expect(libc_lookup_wait(lookup, 0));
  cr_expect(!libc_lookup_of(lookup, 0));
  cr_expect(!libc_lookup_of(lookup, 1), "it never began");
  libc_lookup_end(lookup);
}

Test(lookup_begun, when_nothing_has_begun_there_is_none) {
  begins = false;
  cr_expect(!libc_lookup_begin(names, 2));
}

#endif
