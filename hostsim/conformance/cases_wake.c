/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_wake.c: tidings.wake/1. Tests what rings, that the session is named, and that
 * no ring is lost when the instance is closed and another is opened. The cases are skipped for a
 * plugin without the extension.
 */
#include "conformance/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void load(struct trial *trial) {
  trial_load(trial);
  if (!trial->wake) trial_skip("it has no " TIDINGS_EXT_WAKE);
}

static int descriptor(const struct trial *trial, struct tidings_plugin *plugin) {
  struct tidings_error error = {.size = sizeof error};
  int32_t fd = -1;
  trial_expect(TIDINGS_OK, trial->wake->descriptor(plugin, &fd, &error), &error, "descriptor");
  if (fcntl(fd, F_GETFD) < 0)
    trial_fail("descriptor answers OK and gives %d, which is not open", (int)fd);
  return fd;
}

/* Takes sessions until none is left; was `session` among them? */
static bool is_named(const struct trial *trial, struct tidings_plugin *plugin,
                     const char *session) {
  bool named = false;
  for (int left = 1000; left > 0; left--) {
    struct tidings_error error = {.size = sizeof error};
    char id[256];
    size_t len = 0;
    trial_expect(TIDINGS_OK, trial->wake->next_session(plugin, id, sizeof id, &len, &error), &error,
                 "next_session");
    if (len == 0) return named;
    named = named || (len == strlen(session) && memcmp(id, session, len) == 0);
  }
  trial_fail("next_session never comes to an end");
}

static void expect_ring(const struct trial *trial, struct tidings_plugin *plugin, int fd,
                        const char *what) {
  struct pollfd readable = {.fd = fd, .events = POLLIN};
  if (poll(&readable, 1, AGENT_TIMEOUT_MS / 2) != 1) trial_fail("%s did not wake the host", what);
  if (!is_named(trial, plugin, "s"))
    trial_fail("%s woke the host, and next_session does not name its session", what);
}

/* Begins to wait as the contract says: takes the descriptor, then asks once. Session "s" belongs to
 * this host. */
static int begin_waiting(const struct trial *trial, struct tidings_plugin *plugin) {
  int fd = descriptor(trial, plugin);
  trial_expect_nothing(plugin, "s");
  (void)is_named(trial, plugin, "s");
  return fd;
}

/* Makes another process push, as a producer, with these members in `data`. */
static void other_pushes(const struct trial *trial, const char *members) {
  struct agent producer;
  char event[256];
  snprintf(event, sizeof event,
           "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"ci.done\","
           "\"message\":\"one\",%s}}",
           members);
  trial_start_other(trial, &producer, "producer", 0);
  json_decref(trial_other(&producer, json_pack("{s:s, s:s}", "op", "event", "event", event)));
  if (agent_stop(&producer, NULL) != AGENT_OK)
    trial_fail("the producer did not exit cleanly (status %d)", producer.status);
}

static void arguments(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  char id[256];
  size_t len = 0;
  int32_t fd = -1;
  trial_expect(TIDINGS_E_INVAL, trial->wake->descriptor(plugin, NULL, &error), &error,
               "descriptor with no ret_fd");
  trial_expect(TIDINGS_E_INVAL, trial->wake->descriptor(NULL, &fd, &error), &error,
               "descriptor of no instance");
  trial_expect(TIDINGS_E_INVAL, trial->wake->next_session(plugin, NULL, sizeof id, &len, &error),
               &error, "next_session with no buffer");
  trial_expect(TIDINGS_E_INVAL, trial->wake->next_session(plugin, id, sizeof id, NULL, &error),
               &error, "next_session with no ret_len");
  trial_expect(TIDINGS_E_INVAL, trial->wake->next_session(NULL, id, sizeof id, &len, &error),
               &error, "next_session of no instance");
  trial_close(plugin);
}

static void is_a_fifo(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct stat status;
  int fd = descriptor(trial, plugin);
  if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode))
    trial_fail("the descriptor is not a FIFO's");
  if (!(fcntl(fd, F_GETFL) & O_NONBLOCK)) trial_fail("the descriptor is not O_NONBLOCK");
  if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC)) trial_fail("the descriptor is not close-on-exec");
  if (is_named(trial, plugin, "s")) trial_fail("a session without any event woke the host");
  trial_close(plugin);
}

static void rings(struct trial *trial) {
  static const char *const members[] = {"\"level\":\"critical\"", "\"activation\":\"idle\"",
                                        "\"activation\":\"interrupt\""};
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  int fd = begin_waiting(trial, plugin);
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    other_pushes(trial, members[i]);
    expect_ring(trial, plugin, fd, members[i]);
    if (is_named(trial, plugin, "s"))
      trial_fail("a session that woke the host once is named again and again");
  }
  trial_close(plugin);
}

/* A host must find a ring whenever it asks, here without having slept. */
static void named_without_sleep(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  (void)begin_waiting(trial, plugin);
  other_pushes(trial, "\"level\":\"critical\"");
  if (!is_named(trial, plugin, "s"))
    trial_fail("next_session does not name the session that woke the host");
  trial_close(plugin);
}

static void small_buffer(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  char byte = 0;
  size_t len = 77;
  (void)begin_waiting(trial, plugin);
  other_pushes(trial, "\"level\":\"critical\"");
  trial_expect(TIDINGS_E_INVAL, trial->wake->next_session(plugin, &byte, 0, &len, &error), &error,
               "next_session with a buffer of 0 bytes");
  if (len != 77) trial_fail("next_session failed and wrote *ret_len");
  if (!is_named(trial, plugin, "s"))
    trial_fail("the session that did not fit is not named by a later call");
  trial_close(plugin);
}

static void producer_role_for_wakes(struct trial *trial) {
  load(trial);
  struct tidings_open_options options = trial_options(trial);
  options.role = TIDINGS_ROLE_PRODUCER;
  struct tidings_plugin *plugin = trial_open(trial, &options);
  struct tidings_error error = {.size = sizeof error};
  int32_t fd = -1;
  trial_expect(TIDINGS_E_UNSUPPORTED, trial->wake->descriptor(plugin, &fd, &error), &error,
               "descriptor of a producer");
  trial_close(plugin);
}

static void closed(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  char id[256];
  size_t len = 0;
  int32_t fd = -1;
  int status = 0;
  (void)begin_waiting(trial, plugin);
  pid_t child = fork();
  if (child < 0) trial_fail("fork: %s", strerror(errno));
  if (child == 0) {
    bool refused = trial->wake->descriptor(plugin, &fd, NULL) == TIDINGS_E_CLOSED &&
                   trial->wake->next_session(plugin, id, sizeof id, &len, NULL) == TIDINGS_E_CLOSED;
    _exit(refused ? 0 : 1);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (status != 0) trial_fail("descriptor or next_session in a forked child did not answer CLOSED");
  trial_expect(TIDINGS_OK, plugin->quiesce(plugin, &error), &error, "quiesce");
  trial_expect(TIDINGS_E_CLOSED, trial->wake->descriptor(plugin, &fd, &error), &error,
               "descriptor after quiesce");
  trial_expect(TIDINGS_E_CLOSED, trial->wake->next_session(plugin, id, sizeof id, &len, &error),
               &error, "next_session after quiesce");
  trial_close(plugin);
}

/* Closes and opens the instance as in a hot swap, while the host polls a duplicate of the
 * descriptor. */
static void reopened(struct trial *trial) {
  load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  int polled = fcntl(begin_waiting(trial, plugin), F_DUPFD_CLOEXEC, 0);
  trial_close(plugin);
  other_pushes(trial, "\"level\":\"critical\"");
  plugin = trial_open(trial, NULL);
  (void)descriptor(trial, plugin);
  expect_ring(trial, plugin, polled, "a push between two instances");
  other_pushes(trial, "\"level\":\"critical\"");
  expect_ring(trial, plugin, polled, "a push to the second instance");
  trial_close(plugin);
}

const struct conformance_case cases_wake[] = {
    {"wake.arguments", "null pointers answer INVAL", arguments},
    {"wake.descriptor", "it is a FIFO, non-blocking, close-on-exec", is_a_fifo},
    {"wake.rings",
     "a push from another process that needs an action wakes the host, "
     "and its session is named once",
     rings},
    {"wake.named", "a session that woke the host is named by the next call of next_session",
     named_without_sleep},
    {"wake.small-buffer", "a session that does not fit is INVAL, and named later", small_buffer},
    {"wake.producer-role", "a producer has nothing to wait for", producer_role_for_wakes},
    {"wake.closed", "CLOSED after quiesce and in a forked child", closed},
    {"wake.reopened", "a duplicate of the descriptor works on for the process's next instance",
     reopened},
    {NULL, NULL, NULL},
};
