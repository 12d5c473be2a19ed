/* SPDX-License-Identifier: MIT
 *
 * host/agent.c: an agent host in a child process, seen from its parent.
 */
#include "host/agent.h"

#include "host/foreign.h"
#include "host/process.h"
#include "host/wire.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum agent_outcome agent_start(struct agent *agent, uint64_t seed, int timeout_ms, bool verbose) {
  memset(agent, 0, sizeof *agent);
  agent->fd = -1;
  agent->timeout_ms = timeout_ms;
  char seed_text[24];
  snprintf(seed_text, sizeof seed_text, "%" PRIu64, seed);
  const char *const arguments[] = {"internal-agent", seed_text, verbose ? "verbose" : "quiet",
                                   NULL};
  int reason = foreign_in_use() ? foreign_start(seed, &agent->pid, &agent->fd)
                                : process_start_with_channel(arguments, &agent->pid, &agent->fd);
  if (!reason) return AGENT_OK;
  agent->pid = 0;
  agent->status = reason;
  return AGENT_NOT_STARTED;
}

static void forget(struct agent *agent) {
  close(agent->fd);
  agent->fd = -1;
  agent->pid = 0;
}

/* Finds out why an exchange failed, and ends the process. */
static enum agent_outcome end_after(struct agent *agent, enum wire_outcome wire) {
  enum agent_outcome outcome = AGENT_DIED;
  if (wire == WIRE_CLOSED) {
    /* The process is about to end, or sends nonsense: waits for its end, but not for ever. */
    if (!spawn_wait(agent->pid, agent->timeout_ms, &agent->status)) {
      agent->status = spawn_kill(agent->pid);
      outcome = AGENT_HUNG;
    }
  } else {
    agent->status = spawn_kill(agent->pid);
    outcome = wire == WIRE_TIMEOUT    ? AGENT_HUNG
              : wire == WIRE_TOO_LONG ? AGENT_TOO_LONG
                                      : AGENT_INTERRUPTED;
  }
  forget(agent);
  return outcome;
}

enum agent_outcome agent_call(struct agent *agent, json_t *request, json_t **ret_answer) {
  json_t *answer = NULL;
  if (foreign_in_use()) foreign_prepare(request);
  enum wire_outcome wire = wire_send(agent->fd, request);
  json_decref(request);
  if (wire == WIRE_OK) wire = wire_receive(agent->fd, agent->timeout_ms, &answer);
  if (wire != WIRE_OK) return end_after(agent, wire);
  *ret_answer = answer;
  return AGENT_OK;
}

enum agent_outcome agent_stop(struct agent *agent, char **ret_error) {
  if (agent->pid == 0) return AGENT_OK;
  json_t *answer = NULL;
  enum agent_outcome outcome = agent_call(agent, json_pack("{s:s}", "op", "close"), &answer);
  if (outcome != AGENT_OK) return outcome;
  const char *text = json_string_value(json_object_get(json_object_get(answer, "error"), "text"));
  if (text && ret_error) *ret_error = strdup(text);
  bool failed = text != NULL;
  json_decref(answer);
  if (!spawn_wait(agent->pid, agent->timeout_ms, &agent->status)) {
    agent->status = spawn_kill(agent->pid);
    forget(agent);
    return AGENT_HUNG;
  }
  forget(agent);
  return failed || agent->status != 0 ? AGENT_DIED : AGENT_OK;
}

void agent_kill(struct agent *agent) {
  if (agent->pid != 0) {
    agent->status = spawn_kill(agent->pid);
    forget(agent);
  }
}

void agent_describe(FILE *out, const struct agent *agent, enum agent_outcome outcome) {
  switch (outcome) {
  case AGENT_OK: fputs("the host process is well", out); break;
  case AGENT_DIED:
    fputs("the host process ", out);
    process_describe(out, agent->status);
    break;
  case AGENT_HUNG:
    fprintf(out, "hung: the host process did not answer within %d ms and was killed",
            agent->timeout_ms);
    break;
  case AGENT_TOO_LONG: fputs("as JSON the step has more than 64 MiB", out); break;
  case AGENT_INTERRUPTED: fputs("interrupted", out); break;
  case AGENT_NOT_STARTED:
    fprintf(out, "the host process could not be started: %s", strerror(agent->status));
    break;
  }
}
