/* SPDX-License-Identifier: MIT
 */
#include "listen/forward.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/json_value.h"
#include "command/mailbox.h"
#include "common/clock.h"

/* Requests that come within this time share one look: it costs more than a push. */
enum { PAUSE_MS = 100 };

struct wanted {
  char *mailbox;
  struct wanted *next;
};

struct forward {
  const struct cli *cli;
  struct hostkit *kit;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct wanted *first, *last; /* each mailbox at most once */
  bool waits;                  /* the thread, for a mailbox: else it looks for itself */
  bool ending;
};

static void collect_one(const struct forward *forward, const char *mailbox) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved;
  struct address address = {.name = NULL};
  char *session = NULL;
  int32_t code = address_parse(mailbox, "/", &address, &error);
  if (!code) code = mailbox_forward(forward->kit, &address, &session, &moved, &error);
  if (code) cli_warn(forward->cli, "it waits in %s: %s", mailbox, error.text);
  free(session);
  address_finish(&address);
}

static struct wanted *take_wanted(struct forward *forward) {
  struct wanted *all = forward->first;
  forward->first = forward->last = NULL;
  return all;
}

static void free_first(struct wanted **list) {
  struct wanted *one = *list;
  *list = one->next;
  free(one->mailbox);
  free(one);
}

/* With the mutex held, which is free meanwhile. Its end is not waited for when the server ends. */
static void pause_looking(struct forward *forward) {
  enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };
  uint64_t until_ns = clock_mono_ns() + (uint64_t)PAUSE_MS * NS_PER_MS;
  const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                 .tv_nsec = (long)(until_ns % NS_PER_S)};
  while (!forward->ending && !pthread_cond_timedwait(&forward->changed, &forward->mutex, &until)) {}
}

/* Names leave the list before their mailboxes are looked at: what comes later is asked for again.
 */
static void *collect_all(void *context) {
  struct forward *forward = context;
  pthread_mutex_lock(&forward->mutex);
  while (forward->first || !forward->ending) {
    struct wanted *all = take_wanted(forward);
    if (!all) {
      forward->waits = true;
      pthread_cond_wait(&forward->changed, &forward->mutex);
      forward->waits = false;
      continue;
    }
    pthread_mutex_unlock(&forward->mutex);
    for (; all; free_first(&all)) collect_one(forward, all->mailbox);
    pthread_mutex_lock(&forward->mutex);
    pause_looking(forward);
  }
  pthread_mutex_unlock(&forward->mutex);
  return NULL;
}

static int add_wanted(struct forward *forward, const char *mailbox) {
  for (const struct wanted *one = forward->first; one; one = one->next) {
    if (strcmp(one->mailbox, mailbox) == 0) return 0;
  }
  struct wanted *added = calloc(1, sizeof *added);
  if (added) added->mailbox = strdup(mailbox);
  if (!added || !added->mailbox) {
    free(added);
    return -1;
  }
  if (forward->last) forward->last->next = added;
  else forward->first = added;
  forward->last = added;
  return 0;
}

int forward_to(struct forward *forward, const char *mailbox) {
  pthread_mutex_lock(&forward->mutex);
  int failed = add_wanted(forward, mailbox);
  if (forward->waits) pthread_cond_signal(&forward->changed);
  pthread_mutex_unlock(&forward->mutex);
  return failed;
}

static void release(struct forward *forward) {
  for (struct wanted *all = take_wanted(forward); all;) free_first(&all);
  pthread_mutex_destroy(&forward->mutex);
  pthread_cond_destroy(&forward->changed);
  free(forward);
}

int32_t forward_begin(const struct cli *cli, struct hostkit *kit, struct forward **ret_forward,
                      struct tidings_error *error) {
  struct forward *forward = calloc(1, sizeof *forward);
  json_t *mailboxes = NULL, *mailbox = NULL;
  size_t i = 0;
  if (!forward) return kit_no_memory(error);
  *forward = (struct forward){.cli = cli, .kit = kit};
  (void)pthread_mutex_init(&forward->mutex, NULL);
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&forward->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
  int32_t code = mailbox_list(kit, &mailboxes, error);
  json_array_foreach(mailboxes, i, mailbox) {
    bool waits = json_value_count(mailbox, "pending") || json_value_count(mailbox, "queued");
    if (!code && waits && add_wanted(forward, json_value_text(mailbox, "session")))
      code = kit_no_memory(error);
  }
  json_decref(mailboxes);
  if (!code && pthread_create(&forward->thread, NULL, collect_all, forward))
    code = kit_error(error, TIDINGS_E_NOMEM, "cannot start a thread");
  if (code) release(forward);
  else *ret_forward = forward;
  return code;
}

void forward_end(struct forward *forward) {
  if (!forward) return;
  pthread_mutex_lock(&forward->mutex);
  forward->ending = true;
  pthread_cond_signal(&forward->changed);
  pthread_mutex_unlock(&forward->mutex);
  pthread_join(forward->thread, NULL);
  release(forward);
}
