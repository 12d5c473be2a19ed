/* SPDX-License-Identifier: MIT
 *
 * wake/last_call.c: a waiting host needs no clock. A pusher wakes the host before and after its
 * commit, and is killed at each point around the two wakes. If the push was committed, a host that
 * follows wake.h must get an action. A host gets a time only while a push is being made.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tidings/hostkit.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/interpose.h"
#include "kit/rig.h"

#define SESSION span_of_text("s")

enum death { BEFORE_FIRST, AFTER_FIRST, BEFORE_SECOND, AFTER_SECOND, NEVER, DEATHS };

static const struct {
  const char *name;
  bool stored;
} deaths[DEATHS] = {{"before the first call", false},
                    {"after the first call", false},
                    {"before the second call", true},
                    {"after the second call", true},
                    {"never", true}};

struct pusher { /* in shared memory */
  sem_t begin, stopped, go_on;
  pid_t pid;
};

struct host {
  struct hostkit *kit;
  int fd;
  int64_t wake_at_ms;
};

static struct tidings_span span_of_text(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static void check(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("%s: %s", what, rig_why(code, error));
}

static void await(sem_t *sem) {
  while (sem_wait(sem) != 0) {
    if (errno != EINTR) die("sem_wait: %s", strerror(errno));
  }
}

/* -- the pusher -------------------------------------------------------------------------------- */

static enum death when;
static struct pusher *self;
static unsigned calls;
static bool stopped;

static _Noreturn void die_now(void) {
  io_watch(NULL); /* a build for coverage writes its counts first */
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Does this write wake the host? Nothing else in a pusher writes a single byte. */
static bool is_call(const struct io_op *op) { return op->kind == IO_WRITE && op->length == 1; }

static bool before(struct io_op *op) {
  if (is_call(op)) {
    calls++;
    if (calls == 1 && when == BEFORE_FIRST) die_now();
    if (calls == 2 && when == BEFORE_SECOND) die_now();
  } else if (calls == 1 && !stopped) { /* the commit */
    stopped = true;
    sem_post(&self->stopped);
    await(&self->go_on);
  }
  return true;
}

static void after(const struct io_op *op) {
  if (!is_call(op)) return;
  if (calls == 1 && when == AFTER_FIRST) die_now();
  if (calls == 2 && when == AFTER_SECOND) die_now();
}

static const struct io_watch watch = {.before = before, .after = after};

static _Noreturn void push(struct rig *rig, const char *store) {
  struct tidings_error error = RIG_ERROR;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  await(&self->begin);
  check(rig_open(rig,
                 &(struct rig_open){
                     .store = store, .role = TIDINGS_ROLE_PRODUCER, .hook_budget_ms = 60000},
                 &error),
        &error, "a pusher opens");
  io_watch(&watch);
  check(rig_event(rig,
                  "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\","
                  "\"message\":\"m\",\"level\":\"critical\"}}",
                  &error),
        &error, "a push");
  io_watch(NULL);
  exit(0);
}

/* -- the host ---------------------------------------------------------------------------------- */

static bool wake(struct host *host, const struct tidings_span *session) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_reply *reply = NULL;
  check(hostkit_wake(host->kit, session, &reply, &error), &error, "wake");
  host->wake_at_ms = reply ? reply->wake_at_ms : 0;
  bool acts = reply && reply->action_count;
  hostkit_reply_free(reply);
  return acts;
}

/* Does any session that rang have an action? */
static bool look(struct host *host) {
  struct tidings_error error = RIG_ERROR;
  char id[256];
  size_t len;
  bool acts = false;
  for (;;) {
    check(hostkit_next_session(host->kit, id, sizeof id, &len, &error), &error, "next_session");
    if (!len) return acts;
    struct tidings_span session = {id, len};
    if (wake(host, &session)) acts = true;
  }
}

static int left_ms(const struct host *host) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t left = host->wake_at_ms - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
  return left > 0 ? (int)left : 0;
}

/* Call it when nobody pushes any more. Returns whether the host gets an action before it would
 * sleep for ever. */
static bool comes_to_act(struct host *host) {
  struct tidings_span session = SESSION;
  struct pollfd polled = {.fd = host->fd, .events = POLLIN};
  for (;;) {
    int count = poll(&polled, 1, host->wake_at_ms ? left_ms(host) : 0);
    if (count > 0 && look(host)) return true;
    if (count > 0) continue;
    if (!host->wake_at_ms) return false;
    if (!left_ms(host) && wake(host, &session)) return true;
  }
}

static void send_event(const struct host *host, const char *event) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_reply *reply = NULL;
  struct tidings_span text = span_of_text(event);
  check(hostkit_event(host->kit, &text, &reply, &error), &error, event);
  hostkit_reply_free(reply);
}

/* Delivers and settles, so that the session is as it was before the push. */
static void take_it(const struct host *host) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_reply *reply = NULL;
  struct tidings_tool_result result = {.size = sizeof result, .session = SESSION};
  send_event(host, "{\"type\":\"turn.declined\",\"session\":\"s\",\"data\":{}}");
  check(hostkit_tool_result(host->kit, &result, &reply, &error), &error, "a hook");
  if (!reply) die("the notification is not handed out");
  check(hostkit_settle(host->kit, reply->delivery_id, TIDINGS_COMMITTED, NULL, &error), &error,
        "settle");
  hostkit_reply_free(reply);
}

static void begin(struct host *host, const char *plugin, const char *store) {
  struct tidings_error error = RIG_ERROR;
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTKIT_NO_PROBE,
                                    .plugin_path = plugin,
                                    .store_dir = store,
                                    .hook_budget_ms = 60000};
  check(hostkit_open(&options, &host->kit, &error), &error, "hostkit_open");
  check(hostkit_wake_descriptor(host->kit, &host->fd, &error), &error, "the descriptor");
  send_event(host, "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{}}");
  (void)look(host);
  if (host->wake_at_ms) fail("a host at rest is told a time");
}

/* During the pusher's commit the host was woken, finds nothing, and gets a time. */
static void meet_commit(struct host *host, struct pusher *pusher) {
  await(&pusher->stopped);
  struct pollfd polled = {.fd = host->fd, .events = POLLIN};
  if (poll(&polled, 1, 0) != 1) fail("a commit has begun, and did not call");
  if (look(host)) fail("there is an action before the commit");
  if (!host->wake_at_ms) fail("a commit is under way, and the host may sleep for ever");
  sem_post(&pusher->go_on);
}

static void run(struct host *host, enum death death, struct pusher *pusher) {
  int status;
  sem_post(&pusher->begin);
  if (death != BEFORE_FIRST && death != AFTER_FIRST) meet_commit(host, pusher);
  if (waitpid(pusher->pid, &status, 0) != pusher->pid) die("waitpid: %s", strerror(errno));
  if (death == NEVER ? status != 0 : !WIFSIGNALED(status))
    die("a pusher ended with status 0x%x", (unsigned)status);
  bool acts = comes_to_act(host);
  if (acts != deaths[death].stored)
    fail("a pusher killed %s: the host has %s", deaths[death].name, acts ? "an action" : "none");
  if (acts) take_it(host);
  struct tidings_span session = SESSION;
  if (wake(host, &session) || host->wake_at_ms)
    fail("a pusher killed %s: the host is not at rest after it", deaths[death].name);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.count = 1};
  struct tidings_error error = RIG_ERROR;
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  static struct rig rig;
  static struct host host;
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "last_call", folder);
  folder_join(store, folder, "store");
  struct pusher *pushers = mmap(NULL, DEATHS * sizeof *pushers, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pushers == MAP_FAILED) die("no shared memory");
  rig_load(&rig, arguments.plugin);
  for (int i = 0; i < DEATHS; i++) { /* before this process opens the store */
    struct pusher *pusher = &pushers[i];
    if (sem_init(&pusher->begin, 1, 0) || sem_init(&pusher->stopped, 1, 0) ||
        sem_init(&pusher->go_on, 1, 0))
      die("sem_init: %s", strerror(errno));
    fflush(NULL);
    when = (enum death)i;
    self = pusher;
    pid_t child = fork();
    if (child < 0) die("fork: %s", strerror(errno));
    if (child == 0) push(&rig, store);
    pusher->pid = child;
  }
  begin(&host, arguments.plugin, store);
  for (int i = 0; i < DEATHS; i++) run(&host, (enum death)i, &pushers[i]);
  close(host.fd);
  check(hostkit_close(host.kit, 60000, &error), &error, "hostkit_close");
  if (failures() == 0) folder_remove(folder);
  else printf("kept: %s\n", folder);
  return failures() == 0 ? 0 : 1;
}
