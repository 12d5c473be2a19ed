/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_processes.c: several processes on one store: forks, producers, who owns a
 * session, and the death of an owner.
 */
#include "conformance/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static json_t *request_tool_result(void) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", "tool_result", "session", "s", "call_id",
                   "c1", "tool", "bash", "content", "ok");
}

static json_t *request_push(const char *level, const char *message) {
  json_t *event = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "type", "notification", "session", "s",
                            "data", "kind", "ci.done", "level", level, "message", message);
  char *text = json_dumps(event, JSON_COMPACT);
  json_t *request = json_pack("{s:s, s:s}", "op", "event", "event", text);
  free(text);
  json_decref(event);
  return request;
}

static json_t *request_settle(const char *delivery) {
  return json_pack("{s:s, s:s, s:s}", "op", "settle", "delivery", delivery, "outcome", "committed");
}

/* Makes the other process deliver, insists on `count` notifications, and returns the delivery's id
 * as text; free it. */
static char *other_delivers(struct agent *agent, size_t count) {
  json_t *answer = trial_other(agent, request_tool_result());
  const json_t *reply = json_object_get(answer, "reply");
  size_t got = json_array_size(json_object_get(reply, "notifications"));
  if (got != count)
    trial_fail("in the second process: expected %zu notifications got %zu", count, got);
  const char *delivery = json_string_value(json_object_get(reply, "delivery"));
  char *copy = strdup(delivery ? delivery : "");
  json_decref(answer);
  return copy;
}

static void other_stops(struct agent *agent) {
  if (agent_stop(agent, NULL) != AGENT_OK)
    trial_fail("the second process did not exit cleanly (status %d)", agent->status);
}

/* Runs in the child, where every call must answer CLOSED. Returns an exit code that says which call
 * did not. */
static int use_in_child(struct tidings_plugin *plugin) {
  static const char event[] = "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a."
                              "b\",\"message\":\"from the child\"}}";
  const struct tidings_reply *reply = NULL;
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .content = trial_span("hello")};
  if (trial_tool_result(plugin, "s", &reply, NULL) != TIDINGS_E_CLOSED) return 1;
  if (plugin->on_chat_request(plugin, &request, &reply, NULL) != TIDINGS_E_CLOSED) return 2;
  if (trial_event(plugin, event, sizeof event - 1, NULL) != TIDINGS_E_CLOSED) return 3;
  return trial_settle(plugin, 1, TIDINGS_OUTCOME_COMMITTED, NULL) != TIDINGS_E_CLOSED ? 4 : 0;
}

static void fork_child(struct trial *trial) {
  static const char *const calls[] = {"", "on_tool_result", "on_chat_request", "on_event",
                                      "settle"};
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  trial_push(plugin, "s", "one");
  pid_t child = fork();
  if (child < 0) trial_fail("fork: %s", strerror(errno));
  if (child == 0) _exit(use_in_child(plugin));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFEXITED(status)) trial_fail("the forked child was killed by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) {
    trial_fail("%s in a forked child did not answer CLOSED",
               WEXITSTATUS(status) <= 4 ? calls[WEXITSTATUS(status)] : "a call");
  }
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

static void producer_role_among_processes(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  options.role = TIDINGS_ROLE_PRODUCER;
  struct tidings_plugin *plugin = trial_open(trial, &options);
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = NULL;
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .content = trial_span("hello")};
  trial_push(plugin, "s", "one");
  trial_expect(TIDINGS_E_UNSUPPORTED, trial_tool_result(plugin, "s", &reply, &error), &error,
               "on_tool_result of a producer");
  trial_expect(TIDINGS_E_UNSUPPORTED, plugin->on_chat_request(plugin, &request, &reply, &error),
               &error, "on_chat_request of a producer");
  trial_expect(TIDINGS_E_UNSUPPORTED, trial_settle(plugin, 1, TIDINGS_OUTCOME_COMMITTED, &error),
               &error, "settle of a producer");
  trial_close(plugin);
  plugin = trial_open(trial, NULL);
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

static void producer_beside_host(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct agent agent;
  trial_expect_nothing(plugin, "s");
  trial_start_other(trial, &agent, "producer", 0);
  json_decref(trial_other(&agent, request_push("info", "from the producer")));
  trial_expect_delivery(plugin, "s", "from the producer");
  other_stops(&agent);
  trial_close(plugin);
}

static void second_host(struct trial *trial) {
  trial_load(trial);
  struct agent owner;
  trial_start_other(trial, &owner, NULL, 0);
  free(other_delivers(&owner, 0)); /* its first hook call makes it the owner */
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  char pid[24];
  snprintf(pid, sizeof pid, "%d", (int)owner.pid);
  trial_push(plugin, "s", "one"); /* every process may push */
  trial_expect(TIDINGS_E_OWNED, trial_tool_result(plugin, "s", &reply, &error), &error,
               "on_tool_result in another host's session");
  trial_expect_word(&error, pid, "BUSY names the owner's pid");
  static const char opened[] = "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{}}";
  trial_expect(TIDINGS_E_OWNED, trial_event(plugin, opened, sizeof opened - 1, &error), &error,
               "session.opened in another host's session");
  trial_expect_word(&error, pid, "BUSY names the owner's pid");
  trial_expect_nothing(plugin, "another session");
  free(other_delivers(&owner, 1));
  other_stops(&owner);
  trial_close(plugin);
}

static void takeover(struct trial *trial) {
  trial_load(trial);
  struct agent owner;
  trial_start_other(trial, &owner, NULL, 0);
  json_decref(trial_other(&owner, request_push("info", "one")));
  char *delivery = other_delivers(&owner, 1);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  trial_send(plugin,
             "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{\"takeover\":true}}");
  json_decref(trial_other_fails(&owner, request_settle(delivery), "TIDINGS_E_CLOSED"));
  trial_expect_delivery(plugin, "s", "one"); /* the old owner's lease was rolled back */
  free(delivery);
  other_stops(&owner);
  trial_close(plugin);
}

static void dead_owner(struct trial *trial) {
  trial_load(trial);
  struct agent owner;
  trial_start_other(trial, &owner, NULL, 0);
  json_decref(trial_other(&owner, request_push("info", "one")));
  free(other_delivers(&owner, 1));
  agent_kill(&owner);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  trial_expect_delivery(plugin, "s", "one");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void resumed(struct trial *trial) {
  trial_load(trial);
  struct agent owner;
  trial_start_other(trial, &owner, NULL, 0);
  json_decref(trial_other(&owner, request_push("info", "in the transcript")));
  char *delivered = other_delivers(&owner, 1);
  json_decref(trial_other(&owner, request_push("info", "not in the transcript")));
  char *lost = other_delivers(&owner, 1);
  agent_kill(&owner);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  trial_send(plugin,
             "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[\"%s\"]}}",
             delivered);
  trial_expect_delivery(plugin, "s", "not in the transcript");
  trial_expect_nothing(plugin, "s");
  free(delivered);
  free(lost);
  trial_close(plugin);
}

/* Hook commands end before their agent: what one has leased stays leased, and another one settles
 * it. */
static void owner_pid(struct trial *trial) {
  trial_load(trial);
  struct agent hook;
  trial_start_other(trial, &hook, NULL, getpid());
  json_decref(trial_other(&hook, request_push("info", "one")));
  char *delivery = other_delivers(&hook, 1);
  other_stops(&hook);
  struct agent stranger;
  trial_start_other(trial, &stranger, NULL, 0);
  json_decref(trial_other_fails(&stranger, request_tool_result(), "TIDINGS_E_OWNED"));
  other_stops(&stranger);
  trial_start_other(trial, &hook, NULL, getpid());
  json_decref(trial_other(&hook, request_settle(delivery)));
  free(other_delivers(&hook, 0));
  other_stops(&hook);
  free(delivery);
}

const struct conformance_case cases_process[] = {
    {"process.fork", "after fork the child's calls answer CLOSED", fork_child},
    {"process.producer-role", "a producer may push, not deliver", producer_role_among_processes},
    {"process.producer-beside-host", "what another process pushes is delivered",
     producer_beside_host},
    {"process.second-host", "a session of a living host is BUSY, naming its pid", second_host},
    {"process.takeover", "takeover hands a session and its leases over; the old owner gets CLOSED",
     takeover},
    {"process.dead-owner", "what a dead host had leased is delivered again", dead_owner},
    {"process.resumed", "what session.resumed names is not delivered again", resumed},
    {"process.owner-pid", "leases and ownership belong to owner_pid", owner_pid},
    {NULL, NULL, NULL},
};
