/* SPDX-License-Identifier: MIT
 */
#include "listen/forward.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/mailbox.h"

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

static struct wanted *take_first(struct forward *forward) {
  struct wanted *one = forward->first;
  if (one) forward->first = one->next;
  if (!forward->first) forward->last = NULL;
  return one;
}

/* A name leaves the list before its mailbox is looked at: what comes later is asked for again. */
static void *collect_all(void *context) {
  struct forward *forward = context;
  pthread_mutex_lock(&forward->mutex);
  while (forward->first || !forward->ending) {
    struct wanted *one = take_first(forward);
    if (!one) {
      pthread_cond_wait(&forward->changed, &forward->mutex);
      continue;
    }
    pthread_mutex_unlock(&forward->mutex);
    collect_one(forward, one->mailbox);
    free(one->mailbox);
    free(one);
    pthread_mutex_lock(&forward->mutex);
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
  pthread_cond_signal(&forward->changed);
  pthread_mutex_unlock(&forward->mutex);
  return failed;
}

static void release(struct forward *forward) {
  for (struct wanted *one = take_first(forward); one; one = take_first(forward)) {
    free(one->mailbox);
    free(one);
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
  (void)pthread_cond_init(&forward->changed, NULL);
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
