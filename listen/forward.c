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

/* Requests that come within this time share one look at the mailbox, because a look costs more than
 * a push. */
enum { PAUSE_MS = 100 };
enum { FIRST_RETRY_MS = 500, LONGEST_RETRY_MS = 30000 };

struct wanted {
  char *mailbox;
  unsigned pause_ms; /* the wait after failures; 0: the last look succeeded */
  int64_t due_ms;    /* when the next look is due, on the monotonic clock */
  struct wanted *next;
};

struct forward {
  const struct cli *cli;
  struct hostkit *kit;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct wanted *first; /* each mailbox at most once */
  bool waits;           /* the thread waits for a mailbox and has to be woken */
  bool ending;
};

/* Makes a session collect the mailbox. If that fails, or the session is full, sets when the next
 * look is due; otherwise pause_ms becomes 0. */
static void collect_one(const struct forward *forward, struct wanted *wanted) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  struct address address = {.name = NULL};
  char *session = NULL;
  int32_t code = address_parse(wanted->mailbox, "/", &address, &error);
  if (!code) code = mailbox_forward(forward->kit, &address, &session, &moved, &error);
  free(session);
  address_finish(&address);
  unsigned pause_ms = wanted->pause_ms ? wanted->pause_ms * 2 : FIRST_RETRY_MS;
  if (code && !wanted->pause_ms)
    cli_warn(forward->cli, "it waits in %s, and is tried again: %s", wanted->mailbox, error.text);
  bool again = code || moved.full;
  wanted->pause_ms = !again ? 0 : pause_ms < LONGEST_RETRY_MS ? pause_ms : LONGEST_RETRY_MS;
  wanted->due_ms = clock_mono_ms() + wanted->pause_ms;
}

static struct wanted **find_wanted(struct forward *forward, const char *mailbox) {
  struct wanted **at = &forward->first;
  while (*at && strcmp((*at)->mailbox, mailbox) != 0) at = &(*at)->next;
  return at;
}

/* Takes the mailboxes whose look is due; when the server ends, all of them. *ret_next_ms: when the
 * next of the others is due.
 */
static struct wanted *take_due(struct forward *forward, int64_t *ret_next_ms) {
  struct wanted *due = NULL, **last = &due, **at = &forward->first;
  int64_t now_ms = clock_mono_ms();
  *ret_next_ms = INT64_MAX;
  while (*at) {
    struct wanted *one = *at;
    if (!forward->ending && one->due_ms > now_ms) {
      if (one->due_ms < *ret_next_ms) *ret_next_ms = one->due_ms;
      at = &one->next;
      continue;
    }
    *at = one->next;
    *last = one;
    last = &one->next;
    one->next = NULL;
  }
  return due;
}

static void free_wanted(struct wanted *wanted) {
  free(wanted->mailbox);
  free(wanted);
}

/* Puts back the mailboxes whose look failed, unless they were asked for again meanwhile. */
static void put_back(struct forward *forward, struct wanted *all) {
  while (all) {
    struct wanted *one = all, **at = find_wanted(forward, one->mailbox);
    all = one->next;
    one->next = NULL;
    if (*at) (*at)->pause_ms = one->pause_ms;
    if (*at || !one->pause_ms || forward->ending) free_wanted(one);
    else *at = one;
  }
}

/* Waits with the mutex, which is released meanwhile. Returns whether the time is over. */
static bool wait_until(struct forward *forward, int64_t mono_ms) {
  enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };
  const struct timespec until = {.tv_sec = (time_t)(mono_ms / MS_PER_S),
                                 .tv_nsec = (long)(mono_ms % MS_PER_S * NS_PER_MS)};
  return pthread_cond_timedwait(&forward->changed, &forward->mutex, &until) != 0;
}

/* Waits for PAUSE_MS, or until the server ends. */
static void pause_looking(struct forward *forward) {
  int64_t until_ms = clock_mono_ms() + PAUSE_MS;
  while (!forward->ending && !wait_until(forward, until_ms)) {}
}

static void wait_for_wanted(struct forward *forward, int64_t until_ms) {
  forward->waits = true;
  if (until_ms < INT64_MAX) (void)wait_until(forward, until_ms);
  else pthread_cond_wait(&forward->changed, &forward->mutex);
  forward->waits = false;
}

/* Looks at mailboxes until the server ends. It removes a name from the list before it looks, so
 * that a push during the look adds the name again. */
static void *collect_all(void *context) {
  struct forward *forward = context;
  int64_t next_ms;
  pthread_mutex_lock(&forward->mutex);
  while (forward->first || !forward->ending) {
    struct wanted *due = take_due(forward, &next_ms);
    if (!due) {
      wait_for_wanted(forward, next_ms);
      continue;
    }
    pthread_mutex_unlock(&forward->mutex);
    for (struct wanted *one = due; one; one = one->next) collect_one(forward, one);
    pthread_mutex_lock(&forward->mutex);
    put_back(forward, due);
    pause_looking(forward);
  }
  pthread_mutex_unlock(&forward->mutex);
  return NULL;
}

static int add_wanted(struct forward *forward, const char *mailbox) {
  struct wanted **at = find_wanted(forward, mailbox);
  if (*at) {
    (*at)->due_ms = 0;
    return 0;
  }
  struct wanted *added = calloc(1, sizeof *added);
  if (added) added->mailbox = strdup(mailbox);
  if (!added || !added->mailbox) {
    free(added);
    return -1;
  }
  *at = added;
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
  while (forward->first) {
    struct wanted *one = forward->first;
    forward->first = one->next;
    free_wanted(one);
  }
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
