/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/alert.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "common/spawn.h"

enum { MOST_WORDS = 16 };

static bool is_wanted(struct hostkit *kit) {
  json_t *answer = NULL, *value = NULL;
  const char *name = NULL;
  bool wanted = false;
  if (kit_query(kit, json_pack("{s:s}", "name", "configure"), &answer, NULL)) return false;
  json_object_foreach(json_object_get(json_object_get(answer, "config"), "alerts"), name, value)
      wanted = wanted || (json_is_true(value) && strcmp(name, "delivered") != 0);
  json_decref(answer);
  return wanted;
}

void hook_alert_begin(const struct cli *cli, struct hostkit *kit, const struct hook_call *call,
                      uint32_t owner) {
  char pid[16];
  const char *words[MOST_WORDS] = {"tidings",   "wait",        "--alert", "--follow",
                                   "--session", call->session, "--owner", pid};
  size_t count = 8;
  pid_t child = -1;
  if (call->moment != HOOK_SESSION_START || call->of_subagent || !owner || !is_wanted(kit)) return;
  (void)snprintf(pid, sizeof pid, "%u", owner);
  if (cli->store) {
    words[count++] = "--store";
    words[count++] = cli->store;
  }
  if (cli->config) {
    words[count++] = "--config";
    words[count++] = cli->config;
  }
  /* Without the hook's pipes, because the host waits until they are closed. */
  const struct spawn spawn = {.program = "/proc/self/exe",
                              .argv = words,
                              .in = SPAWN_NULL,
                              .out = SPAWN_NULL,
                              .err = SPAWN_NULL,
                              .close_others = true,
                              .own_group = true,
                              .fresh_signals = true};
  int reason = spawn_start(&spawn, &child);
  if (reason) hook_log("cannot alert: %s", strerror(reason));
}
