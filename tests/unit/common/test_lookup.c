/* SPDX-License-Identifier: MIT
 *
 * test_lookup.c: looking up names where the C library has no threads for it (common/libc_lookup.c,
 * compiled for this test alone), with a resolver that answers when the test says so.
 */
#include <criterion/criterion.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/libc.h"

enum { PATIENCE_S = 60 };

static sem_t asked, may_answer, freed;

static void begin(void) {
  sem_init(&asked, 0, 0);
  sem_init(&may_answer, 0, 0);
  sem_init(&freed, 0, 0);
}

TestSuite(lookup, .init = begin);

static void take(sem_t *semaphore) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  cr_assert(!sem_timedwait(semaphore, &until));
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_found) {
  (void)service;
  cr_assert(hints->ai_socktype == SOCK_STREAM);
  sem_post(&asked);
  take(&may_answer);
  if (strcmp(name, "nowhere") == 0) return EAI_NONAME;
  struct addrinfo *found = calloc(1, sizeof *found);
  found->ai_canonname = strdup(name);
  *ret_found = found;
  return 0;
}

void freeaddrinfo(struct addrinfo *found) {
  free(found->ai_canonname);
  free(found);
  sem_post(&freed);
}

static bool wait_for_all(struct libc_lookup *lookup) {
  for (int i = 0; i < PATIENCE_S; i++) {
    if (libc_lookup_wait(lookup, 1000)) return true;
  }
  return false;
}

Test(lookup, answers_come_in_the_order_of_the_names) {
  struct libc_lookup *lookup = libc_lookup_begin((const char *[]){"one", "nowhere", "two"}, 3);
  cr_assert(lookup);
  take(&asked);
  cr_expect(!libc_lookup_wait(lookup, 0), "it is not over before the resolver answers");
  cr_expect(!libc_lookup_wait(lookup, 5));
  for (int i = 0; i < 3; i++) sem_post(&may_answer);
  cr_assert(wait_for_all(lookup));
  cr_expect_str_eq(libc_lookup_of(lookup, 0)->ai_canonname, "one");
  cr_expect(!libc_lookup_of(lookup, 1));
  cr_expect_str_eq(libc_lookup_of(lookup, 2)->ai_canonname, "two");
  libc_lookup_end(lookup);
  take(&freed);
  take(&freed);
}

Test(lookup, one_that_is_left_frees_itself_when_the_resolver_answers) {
  struct libc_lookup *lookup = libc_lookup_begin((const char *[]){"slow"}, 1);
  cr_assert(lookup);
  take(&asked);
  cr_expect(!libc_lookup_wait(lookup, 0));
  libc_lookup_end(lookup);
  cr_expect(sem_trywait(&freed), "the resolver still has it");
  sem_post(&may_answer);
  take(&freed);
}

Test(lookup, too_many_names_are_refused) {
  const char *names[LIBC_MOST_NAMES + 1];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) names[i] = "one";
  cr_expect(!libc_lookup_begin(names, sizeof names / sizeof *names));
}
