/* SPDX-License-Identifier: MIT
 *
 * common/libc_lookup.c: a resolver may run until long after this image was unmapped. glibc can
 * unmap an image, so there the C library's own threads do the lookup, and they use nothing of the
 * image. musl never unmaps an image, so there this file starts a thread.
 */
#include "common/libc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static struct timespec time_in(int ms) {
  return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
}

#if defined __GLIBC__ && !defined LIBC_LOOKUP_THREAD

struct libc_lookup {
  size_t count;
  char *names[LIBC_MOST_NAMES];
  struct addrinfo hints;
  struct gaicb requests[LIBC_MOST_NAMES], *request_list[LIBC_MOST_NAMES];
};

static bool is_left(struct libc_lookup *lookup) {
  for (size_t i = 0; i < lookup->count; i++) {
    if (gai_error(lookup->request_list[i]) == EAI_INPROGRESS) return true;
  }
  return false;
}

/* If memory runs out, glibc may look up some names and fail for the others, which then have no
 * address. */
static bool start_lookup(struct libc_lookup *lookup) {
  for (size_t i = 0; i < lookup->count; i++) {
    lookup->requests[i] = (struct gaicb){.ar_name = lookup->names[i], .ar_request = &lookup->hints};
    lookup->request_list[i] = &lookup->requests[i];
  }
  return !getaddrinfo_a(GAI_NOWAIT, lookup->request_list, (int)lookup->count, NULL) ||
         is_left(lookup);
}

bool libc_lookup_wait(struct libc_lookup *lookup, int ms) {
  const struct timespec most = time_in(ms);
  for (size_t i = 0; i < lookup->count; i++) {
    const struct gaicb *const one[] = {lookup->request_list[i]};
    if (gai_error(lookup->request_list[i]) != EAI_INPROGRESS) continue;
    (void)gai_suspend(one, 1, &most);
    return false; /* the caller knows how long it has waited */
  }
  return true;
}

const struct addrinfo *libc_lookup_of(const struct libc_lookup *lookup, size_t name) {
  return lookup->requests[name].ar_result;
}

static void free_lookup(struct libc_lookup *lookup) {
  for (size_t i = 0; i < lookup->count; i++) {
    if (lookup->requests[i].ar_result) freeaddrinfo(lookup->requests[i].ar_result);
    free(lookup->names[i]);
  }
  free(lookup);
}

#else

struct libc_lookup {
  size_t count;
  char *names[LIBC_MOST_NAMES];
  struct addrinfo hints, *found[LIBC_MOST_NAMES];
  pthread_mutex_t lock; /* guards the members below */
  pthread_cond_t changed;
  bool over, left; /* left: the caller does not wait any more, and the thread frees this */
};

static void free_lookup(struct libc_lookup *lookup) {
  for (size_t i = 0; i < lookup->count; i++) {
    if (lookup->found[i]) freeaddrinfo(lookup->found[i]);
    free(lookup->names[i]);
  }
  pthread_cond_destroy(&lookup->changed);
  pthread_mutex_destroy(&lookup->lock);
  free(lookup);
}

static void *look_up_names(void *context) {
  struct libc_lookup *lookup = context;
  for (size_t i = 0; i < lookup->count; i++) {
    if (getaddrinfo(lookup->names[i], NULL, &lookup->hints, &lookup->found[i]))
      lookup->found[i] = NULL;
  }
  pthread_mutex_lock(&lookup->lock);
  bool left = lookup->left;
  lookup->over = true;
  pthread_cond_signal(&lookup->changed);
  pthread_mutex_unlock(&lookup->lock);
  if (left) free_lookup(lookup);
  return NULL;
}

static int start_thread(struct libc_lookup *lookup) {
  pthread_t thread;
  int wrong = libc_thread_create(&thread, look_up_names, lookup);
  if (!wrong) (void)pthread_detach(thread);
  return wrong;
}

static bool start_lookup(struct libc_lookup *lookup) {
  pthread_condattr_t by;
  (void)pthread_mutex_init(&lookup->lock, NULL);
  (void)pthread_condattr_init(&by);
  (void)pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&lookup->changed, &by);
  (void)pthread_condattr_destroy(&by);
  return start_thread(lookup) == 0;
}

bool libc_lookup_wait(struct libc_lookup *lookup, int ms) {
  struct timespec until, most = time_in(ms);
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += most.tv_sec + (until.tv_nsec + most.tv_nsec) / 1000000000;
  until.tv_nsec = (until.tv_nsec + most.tv_nsec) % 1000000000;
  pthread_mutex_lock(&lookup->lock);
  while (!lookup->over && !pthread_cond_timedwait(&lookup->changed, &lookup->lock, &until))
    continue;
  bool over = lookup->over;
  pthread_mutex_unlock(&lookup->lock);
  return over;
}

const struct addrinfo *libc_lookup_of(const struct libc_lookup *lookup, size_t name) {
  return lookup->found[name];
}

static bool is_left(struct libc_lookup *lookup) {
  pthread_mutex_lock(&lookup->lock);
  lookup->left = !lookup->over;
  bool left = lookup->left;
  pthread_mutex_unlock(&lookup->lock);
  return left;
}

#endif

struct libc_lookup *libc_lookup_begin(const char *const *names, size_t count) {
  struct libc_lookup *lookup = calloc(1, sizeof *lookup);
  if (!lookup) return NULL;
  lookup->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM};
  bool good = count <= LIBC_MOST_NAMES;
  for (size_t i = 0; good && i < count; i++) {
    lookup->names[i] = strdup(names[i]);
    lookup->count = i + 1;
    good = lookup->names[i];
  }
  if (good && start_lookup(lookup)) return lookup;
  for (size_t i = 0; i < lookup->count; i++) free(lookup->names[i]);
  free(lookup);
  return NULL;
}

void libc_lookup_end(struct libc_lookup *lookup) {
  if (lookup && !is_left(lookup)) free_lookup(lookup);
}
