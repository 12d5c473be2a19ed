/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/deliver/deliver.h"
#include "agents/deliver/notes.h"
#include "agents/deliver/status.h"
#include "agents/turn/ours.h"
#include "agents/turn/person.h"
#include "agents/wait/apart.h"
#include "agents/wait/files.h"
#include "agents/wait/place.h"
#include "agents/wait/queue.h"
#include "agents/wait/scheduler.h"
#include "agents/wait/watch.h"
#include "command/interrupt.h"
#include "command/project.h"
#include "common/clock.h"

enum {
  EXIT_REWAKE = 2,
  BLIND_MS = 2000, /* between two looks of a process that may miss a wake */
  SETTLING_MS = 500,
  STARTING_MS = 1500, /* after a session's start, by then a prompt given with it has begun */
  BUSY_MS = 100,
  FIRST_PAUSE_MS = 500, /* after the agent's command has failed; each pause doubles */
  LONGEST_PAUSE_MS = 600000,
  LONGEST_STORE_PAUSE_MS = 30000 /* while the store cannot be reached */
};

struct waiter {
  struct hostkit *kit;
  const struct hook_call *call;
  int owner_fd;       /* a pidfd: readable when the agent has ended */
  int wake_fd;        /* -1: there is none, and only wake_at counts */
  int place_fd;       /* gets the requests to look or to end */
  int alarm_fd;       /* readable at wake_at_ms, also after the machine slept; -1: there is none */
  int files_fd;       /* readable when the opened store's files are gone; -1: they cannot be
                         watched */
  int64_t wake_at_ms; /* wall clock; 0: none */
  struct hook_watch watch;
  bool resumes;         /* starts what the end of a turn has left queued */
  int64_t settle_at_ms; /* monotonic: when the hook of the turn's end has surely ended; 0: it has */
  bool unreported;      /* an interruption that the store was too busy to take */
  bool lost_offer;      /* a turn is offered, but whoever got the offer did nothing */
  bool asked_to_end;
  bool remote;  /* the store is in a database, which may be unreachable for a while */
  int pause_ms; /* before the next attempt to reach the store */
};

static int open_pidfd(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

void hook_wait_end(const struct cli *cli, const struct hook_call *call, uint32_t owner) {
  hook_place_say(cli, call, owner, PLACE_END);
}

void hook_wait_look(const struct cli *cli, const struct hook_call *call, uint32_t owner) {
  if (call->host->rewakes && !call->of_subagent) hook_place_say(cli, call, owner, PLACE_LOOK);
}

/* -- waiting ----------------------------------------------------------------------------------- */

/* Takes all wakes. Fails if the store was deleted. */
static int32_t drain(const struct waiter *waiter, struct tidings_error *error) {
  char session[256];
  size_t len = 0;
  int32_t code;
  do code = hostkit_next_session(waiter->kit, session, sizeof session, &len, error);
  while (!code && len);
  return code == TIDINGS_E_STORE ? code : TIDINGS_OK;
}

/* Puts off looking for SETTLING_MS, while the hook of a turn's end may still be at work. */
static void settle(struct waiter *waiter) { waiter->settle_at_ms = clock_mono_ms() + SETTLING_MS; }

static void settle_at_start(struct waiter *waiter) {
  if (waiter->call->moment == HOOK_SESSION_START)
    waiter->settle_at_ms = clock_mono_ms() + STARTING_MS;
}

static bool is_settled(struct waiter *waiter) {
  if (waiter->settle_at_ms <= clock_mono_ms()) waiter->settle_at_ms = 0;
  return !waiter->settle_at_ms;
}

/* Did the hook of a turn's end decline its offer because the agent takes no more reasons to go on?
 * Our prompt begins a new row of reasons. */
static bool was_declined(const struct waiter *waiter) {
  json_t *history = NULL, *request = json_pack("{s:s, s:s, s:i}", "name", "history", "session",
                                               waiter->call->session, "limit", 1);
  if (kit_query(waiter->kit, request, &history, NULL)) return false;
  const json_t *last = json_array_get(json_object_get(history, "transitions"), 0);
  const char *event = json_string_value(json_object_get(last, "event"));
  bool declined = event && strcmp(event, "turn.declined") == 0;
  json_decref(history);
  return declined;
}

static void decline(const struct waiter *waiter) {
  (void)kit_event(waiter->kit, kit_new_event("turn.declined", waiter->call->session, json_object()),
                  NULL, NULL);
}

/* Did a hook get an offer without starting the turn? At a turn's end the store may have been too
 * busy; the hook of a session's start starts no turns. */
static bool has_lost_offer(struct waiter *waiter) {
  bool offered = false;
  if (!waiter->settle_at_ms || !is_settled(waiter)) return false;
  return !hook_status_is_offered(waiter->kit, waiter->call, &offered, NULL) && offered;
}

static int32_t look(struct waiter *waiter, struct tidings_reply **ret_reply,
                    struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  waiter->lost_offer = has_lost_offer(waiter);
  if (waiter->lost_offer) return TIDINGS_OK;
  bool resumes = waiter->resumes && is_settled(waiter) && was_declined(waiter);
  const char *type = resumes ? "turn.resume" : "wake";
  int32_t code = kit_event(waiter->kit, kit_new_event(type, waiter->call->session, json_object()),
                           &reply, error);
  if (code == TIDINGS_E_BUSY) {
    waiter->wake_at_ms = clock_wall_ms() + BUSY_MS;
    return TIDINGS_OK;
  }
  if (code) return code;
  waiter->wake_at_ms = reply ? reply->wake_at_ms : 0;
  *ret_reply = reply;
  return TIDINGS_OK;
}

/* Returns how long to sleep; -1: without a limit (docs/embedding.md). */
static int sleep_ms(const struct waiter *waiter) {
  bool blind = waiter->wake_fd < 0 || waiter->files_fd < 0;
  int64_t left_ms = waiter->unreported ? BUSY_MS : INT64_MAX,
          wake_ms = waiter->wake_at_ms ? waiter->wake_at_ms - clock_wall_ms() : INT64_MAX,
          settle_ms = waiter->settle_at_ms ? waiter->settle_at_ms - clock_mono_ms() : INT64_MAX;
  if (blind && left_ms > BLIND_MS) left_ms = BLIND_MS;
  if (wake_ms < left_ms) left_ms = wake_ms;
  if (settle_ms < left_ms) left_ms = settle_ms;
  if (left_ms == INT64_MAX) return -1;
  return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

/* From here on it looks every BLIND_MS, because the FIFO that would wake it may be gone. */
static void files_went(struct waiter *waiter) {
  close(waiter->files_fd);
  waiter->files_fd = -1;
}

/* Sleeps until there may be something to do: to look at the store (*ret_looks) or the transcript
 * (*ret_watches). Returns 0; or -1: the agent or the session has ended. */
static int sleep_once(struct waiter *waiter, bool *ret_looks, bool *ret_watches) {
  struct pollfd fds[] = {
      {.fd = waiter->owner_fd, .events = POLLIN}, {.fd = waiter->wake_fd, .events = POLLIN},
      {.fd = waiter->place_fd, .events = POLLIN}, {.fd = waiter->watch.fd, .events = POLLIN},
      {.fd = waiter->files_fd, .events = POLLIN}, {.fd = waiter->alarm_fd, .events = POLLIN}};
  clock_alarm_set(waiter->alarm_fd, waiter->wake_at_ms);
  int longest = sleep_ms(waiter), watched = hook_watch_sleep(&waiter->watch, longest);
  int count = interrupt_poll(fds, 6, watched);
  if (count < 0 && errno != EINTR) return -1;
  if (fds[0].revents || interrupt_seen()) return -1;
  char word = 0;
  if (fds[2].revents) word = hook_place_hear(waiter->place_fd);
  waiter->asked_to_end = word == PLACE_END;
  if (word == PLACE_END) return -1;
  if (word == PLACE_STAY) word = 0;
  if (word) settle(waiter);
  *ret_watches = hook_watch_changed(&waiter->watch, fds[3].revents != 0) || waiter->unreported;
  if (fds[4].revents) files_went(waiter);
  *ret_looks = fds[1].revents || fds[4].revents || fds[5].revents || word ||
               (count <= 0 && watched == longest) || !sleep_ms(waiter);
  return 0;
}

/* Looks into the transcript, because the agent calls no hook when a person stops a turn. */
static int32_t look_for_interruption(struct waiter *waiter, struct tidings_reply **ret_reply,
                                     struct tidings_error *error) {
  int64_t seen_ms = waiter->watch.seen_ms,
          when_ms = hook_watch_interruption(&waiter->watch, waiter->call);
  waiter->unreported = false;
  if (!when_ms) return TIDINGS_OK;
  int32_t code = hook_person_interrupted(waiter->kit, waiter->call, when_ms, ret_reply, error);
  if (!code) return code;
  waiter->watch.seen_ms = seen_ms;
  waiter->unreported = true;
  return code == TIDINGS_E_BUSY ? TIDINGS_OK : code;
}

/* Sleeps for *pause_ms, and doubles it for the next time. It returns early after a turn that a
 * person has begun. Returns 0; or -1: the agent has ended, or this process is to end. */
static int pause_after_failure(struct waiter *waiter, int *pause_ms, int longest_ms) {
  int64_t until_ms = clock_mono_ms() + *pause_ms;
  *pause_ms = *pause_ms < longest_ms / 2 ? 2 * *pause_ms : longest_ms;
  for (int64_t left_ms; (left_ms = until_ms - clock_mono_ms()) > 0;) {
    struct pollfd fds[] = {{.fd = waiter->owner_fd, .events = POLLIN},
                           {.fd = waiter->place_fd, .events = POLLIN}};
    int count = interrupt_poll(fds, 2, (int)left_ms);
    if ((count < 0 && errno != EINTR) || interrupt_seen()) return -1;
    if (count > 0 && fds[0].revents) return -1;
    char word = 0;
    if (count > 0) word = hook_place_hear(waiter->place_fd);
    waiter->asked_to_end = word == PLACE_END;
    if (waiter->asked_to_end) return -1;
    if (word != PLACE_LOOK) continue;
    settle(waiter);
    break;
  }
  return 0;
}

/* May the store be reached again after this error? A folder that is gone does not come back. */
static bool may_return(const struct waiter *waiter, int32_t code) {
  struct pollfd gone = {.fd = waiter->files_fd, .events = POLLIN};
  bool is_there = waiter->remote || (waiter->files_fd >= 0 && poll(&gone, 1, 0) == 0);
  if (code == TIDINGS_E_STORE || code == TIDINGS_E_OUTCOME_UNKNOWN) return is_there;
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_FULL || code == TIDINGS_E_NOMEM;
}

/* Returns 0: try again now; or -1: waiting ends. */
static int wait_for_store(struct waiter *waiter, int32_t code, const struct tidings_error *error) {
  if (!may_return(waiter, code)) {
    hook_log("waiting ends: %s", error->text);
    return -1;
  }
  if (waiter->pause_ms == FIRST_PAUSE_MS)
    hook_log("tidings tries again with growing pauses: %s", error->text);
  int ends = pause_after_failure(waiter, &waiter->pause_ms, LONGEST_STORE_PAUSE_MS);
  waiter->settle_at_ms = clock_mono_ms(); /* an offer whose reply did not arrive is lost */
  return ends;
}

/* Sleeps until there is a turn to start: *ret_reply has it, or is NULL if it was offered before.
 * Returns 0; or -1: the agent or the session has ended, or the session is no longer the agent's. It
 * first reads the transcript, for records older than the watch. */
static int wait_for_turn(struct waiter *waiter, struct tidings_reply **ret_reply) {
  struct tidings_error error = {.size = sizeof error};
  /* After a prompt there is nothing to start: a turn begins. */
  bool looks = waiter->call->moment != HOOK_PROMPT && waiter->call->moment != HOOK_SESSION_START,
       watches = waiter->watch.watched;
  waiter->lost_offer = false;
  for (;;) {
    struct tidings_reply *reply = NULL;
    int32_t code = watches ? look_for_interruption(waiter, &reply, &error) : TIDINGS_OK;
    if (looks && !code && !hook_start_turn(reply)) {
      hostkit_reply_free(reply);
      reply = NULL;
      code = drain(waiter, &error);
      if (!code) code = look(waiter, &reply, &error);
    }
    if (code) {
      hostkit_reply_free(reply);
      if (wait_for_store(waiter, code, &error)) return -1;
      looks = watches = true;
      continue;
    }
    waiter->pause_ms = FIRST_PAUSE_MS;
    if (hook_start_turn(reply) || waiter->lost_offer) {
      *ret_reply = reply;
      return 0;
    }
    hostkit_reply_free(reply);
    if (sleep_once(waiter, &looks, &watches)) return -1;
  }
}

/* Opens the store. The agent does not wait for this process, so it tries again while another
 * process opens the store, or while a database cannot be reached. */
static int32_t open_in_time(const struct cli *cli, uint32_t owner, struct waiter *waiter,
                            struct tidings_error *error) {
  for (;;) {
    int32_t code = kit_open(cli, TIDINGS_ROLE_HOST, owner, &waiter->kit, error);
    if (!code || !may_return(waiter, code)) return code;
    struct pollfd ended = {.fd = waiter->owner_fd, .events = POLLIN};
    if (code == TIDINGS_E_BUSY ? interrupt_poll(&ended, 1, BUSY_MS) != 0
                               : wait_for_store(waiter, code, error))
      return code;
  }
}

static int begin(struct cli *cli, const struct hook_call *call, uint32_t owner, int place,
                 struct waiter *ret_waiter) {
  struct tidings_error error = {.size = sizeof error};
  struct waiter waiter = {.call = call,
                          .owner_fd = open_pidfd((pid_t)owner),
                          .wake_fd = -1,
                          .place_fd = place,
                          .files_fd = -1,
                          .remote = kit_store_is_url(cli),
                          .pause_ms = FIRST_PAUSE_MS};
  int32_t fd = -1;
  if (waiter.owner_fd < 0) return -1;
  interrupt_begin();
  int32_t code = open_in_time(cli, owner, &waiter, &error);
  if (!code) code = hostkit_wake_descriptor(waiter.kit, &fd, &error);
  if (code && code != TIDINGS_E_FULL) {
    struct pollfd ended = {.fd = waiter.owner_fd, .events = POLLIN};
    if (poll(&ended, 1, 0) == 0) hook_log("cannot wait: %s", error.text);
    kit_close(waiter.kit);
    close(waiter.owner_fd);
    return -1;
  }
  project_lay(cli, waiter.kit, call->session, call->cwd);
  waiter.wake_fd = code ? -1 : fd;
  waiter.alarm_fd = clock_alarm_open();
  waiter.files_fd = code ? -1 : hook_files_watch(cli, fd);
  hook_watch_begin(&waiter.watch, call);
  *ret_waiter = waiter;
  return 0;
}

static void end(struct waiter *waiter) {
  hook_watch_end(&waiter->watch);
  if (waiter->wake_fd >= 0) close(waiter->wake_fd);
  if (waiter->files_fd >= 0) close(waiter->files_fd);
  if (waiter->alarm_fd >= 0) close(waiter->alarm_fd);
  kit_close(waiter->kit);
  close(waiter->owner_fd);
}

/* Leaves the place. If a process wanted to wait after this one was asked to end, it found the place
 * taken and ended: so this one takes the place again. Returns the place, or -1. */
static int leave(const struct cli *cli, const struct hook_call *call, uint32_t owner, int place,
                 bool asked_to_end) {
  char word = hook_place_leave(cli, call, owner, place);
  bool needed = asked_to_end && word && word != PLACE_END;
  return needed ? hook_place_take(cli, call, owner, PLACE_LOOK) : -1;
}

/* -- a hook in the background ------------------------------------------------------------------ */

static int rewake(struct cli *cli, const struct hook_call *call, uint32_t owner, int place,
                  bool *ret_asked_to_end) {
  struct waiter waiter;
  struct tidings_reply *reply = NULL;
  int code = EXIT_DONE;
  *ret_asked_to_end = false;
  if (begin(cli, call, owner, place, &waiter)) return EXIT_DONE;
  waiter.resumes = true;
  settle(&waiter);
  settle_at_start(&waiter);
  if (!wait_for_turn(&waiter, &reply)) {
    char *nudge = hook_nudge(waiter.kit, call, hook_start_turn(reply));
    if (nudge && fprintf(stderr, "%s\n", nudge) > 0) code = EXIT_REWAKE;
    else decline(&waiter);
    free(nudge);
  }
  hostkit_reply_free(reply);
  *ret_asked_to_end = waiter.asked_to_end;
  end(&waiter);
  return code;
}

/* Does the process begin at this call? At a session's start only if something may already be
 * queued: the session is resumed, or follows another one in the same window. */
static bool begins_at(const struct hook_call *call) {
  if (call->of_subagent) return false;
  if (call->moment != HOOK_SESSION_START) return true;
  return strcmp(call->source, "resume") == 0 || strcmp(call->source, "clear") == 0;
}

int hook_wait_rewake(struct cli *cli, const struct hook_call *call, uint32_t owner) {
  int code = EXIT_DONE;
  const struct host *host = call->host;
  const char *where = host->rewakes_variable ? getenv(host->rewakes_variable) : NULL;
  bool there = !host->rewakes_variable || (where && strcmp(where, host->rewakes_value) == 0);
  if (!owner || !host->rewakes || !there || !begins_at(call)) return EXIT_DONE;
  int place = hook_place_take(cli, call, owner, PLACE_LOOK);
  while (place >= 0) {
    bool asked_to_end;
    code = rewake(cli, call, owner, place, &asked_to_end);
    place = leave(cli, call, owner, place, asked_to_end);
  }
  return code;
}

/* -- a process of its own ---------------------------------------------------------------------- */

/* Returns the exit status of the agent's command; -1: it was not run. */
static int queue_nudge(const struct waiter *waiter, uint32_t owner,
                       const struct tidings_action *action, int failed_before) {
  char *nudge = hook_nudge(waiter->kit, waiter->call, action);
  int status = nudge ? hook_queue_run(waiter->call, owner, nudge, failed_before) : -1;
  if (status) decline(waiter);
  free(nudge);
  return status;
}

/* Returns 0; or -1: the window has not taken the task. */
static int schedule_nudge(struct waiter *waiter, uint32_t owner) {
  char *mark = hook_nudge_mark(waiter->kit, waiter->call);
  int failed = mark ? hook_scheduler_run(waiter->call, owner, mark, waiter->owner_fd) : -1;
  hook_note_failed(waiter->call, failed);
  /* The offer stays for the task's hook: a window that has taken a task runs it when it idles. */
  waiter->settle_at_ms = failed ? clock_mono_ms() + SETTLING_MS : 0;
  free(mark);
  return failed;
}

/* Waits for turns and starts them. Returns whether it was asked to end. */
static bool wait_apart(struct cli *cli, const struct hook_call *call, uint32_t owner, int place) {
  struct waiter waiter;
  struct tidings_reply *reply = NULL;
  int failed = 0, pause_ms = FIRST_PAUSE_MS;
  bool starts = call->moment == HOOK_SESSION_START && call->host->scheduler;
  if (starts && !hook_scheduler_begins(call, owner)) return false;
  if (begin(cli, call, owner, place, &waiter)) return false;
  hook_note_failed(call, false);
  waiter.resumes =
      call->host->scheduler != NULL; /* the hook of a turn's end leaves its offer to this process */
  if (waiter.resumes || call->late) settle(&waiter);
  settle_at_start(&waiter);
  while (!wait_for_turn(&waiter, &reply)) {
    failed = call->host->scheduler ? schedule_nudge(&waiter, owner)
                                   : queue_nudge(&waiter, owner, hook_start_turn(reply), failed);
    hostkit_reply_free(reply);
    reply = NULL;
    if (!failed) pause_ms = FIRST_PAUSE_MS;
    else if (pause_after_failure(&waiter, &pause_ms, LONGEST_PAUSE_MS)) break;
  }
  end(&waiter);
  return waiter.asked_to_end;
}

void hook_wait_apart(struct cli *cli, const struct hook_call *call, uint32_t owner) {
  struct hook_call own = *call;
  bool schedules = call->host->scheduler != NULL, starts = call->moment == HOOK_SESSION_START;
  if (!owner || !begins_at(call)) return;
  if (schedules && !(starts ? hook_scheduler_may_take(call) : hook_scheduler_takes(call, owner)))
    return;
  bool looks = schedules || call->late; /* for an offer that the end of a turn has left */
  int place = hook_place_take(cli, call, owner, looks ? PLACE_LOOK : PLACE_STAY);
  if (place < 0) return;
  if (hook_fork_apart()) {
    own.seen = NULL; /* the hook's status is out of date when there is something to do */
    while (place >= 0) place = leave(cli, &own, owner, place, wait_apart(cli, &own, owner, place));
    _exit(EXIT_DONE);
  }
  close(place);
}
