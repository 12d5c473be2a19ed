/* SPDX-License-Identifier: MIT
 *
 * demo/push.c: a producer: a process that opens the store beside the host, sends one event, notes
 * it in the ledger when the call has returned OK, and ends.
 */
#include "demo/demo.h"

#include "host/hostkit_flags.h"
#include "host/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int start_sending(const struct demo_folder *folder, const char *plugin, const char *type,
                         const char *data, const char *ledger_key, const char *text,
                         pid_t *ret_pid) {
  const char *const arguments[] = {
      "internal-push", plugin, folder->dir, folder->store, folder->ledger, type, data,
      ledger_key,      text,   NULL};
  return process_start_self(arguments, -1, ret_pid) == 0 ? 0 : -1;
}

int demo_start_push(const struct demo_folder *folder, const char *plugin, const char *kind,
                    const char *level, const char *message, pid_t *ret_pid) {
  json_t *value = json_pack("{s:s, s:s, s:s}", "kind", kind, "level", level, "message", message);
  char *data = json_dumps(value, JSON_COMPACT);
  int failed =
      data ? start_sending(folder, plugin, "notification", data, LEDGER_PUSHED, message, ret_pid)
           : -1;
  free(data);
  json_decref(value);
  return failed;
}

static int wait_for(pid_t pid) {
  int status = 0;
  if (!spawn_wait(pid, DEMO_TIMEOUT_MS, &status)) {
    spawn_kill(pid);
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int demo_push_from_elsewhere(const struct demo_folder *folder, const char *plugin, const char *kind,
                             const char *level, const char *message) {
  pid_t pid = 0;
  return demo_start_push(folder, plugin, kind, level, message, &pid) == 0 ? wait_for(pid) : -1;
}

int demo_send_from_elsewhere(const struct demo_folder *folder, const char *plugin, const char *type,
                             const char *data, const char *ledger_key, const char *text) {
  pid_t pid = 0;
  return start_sending(folder, plugin, type, data, ledger_key, text, &pid) == 0 ? wait_for(pid)
                                                                                : -1;
}

static int push_verb(struct cli *cli) {
  if (cli->argc != 9) return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  struct hostkit_options options = {
      .size = sizeof options,
      .flags = HOSTSIM_HOSTKIT_FLAGS | HOSTKIT_NO_PROBE,
      .plugin_path = cli->argv[1],
      .store_dir = cli->argv[3],
      .copy_dir = cli->argv[2],
      .role = TIDINGS_ROLE_PRODUCER,
      .hook_budget_ms = DEMO_TIMEOUT_MS,
  };
  struct hostkit *hostkit = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_open(&options, &hostkit, &error);
  if (code == TIDINGS_OK) {
    json_t *event = json_pack("{s:s, s:s, s:s, s:o}", "type", cli->argv[5], "session", DEMO_SESSION,
                              "source", "elsewhere", "data", json_loads(cli->argv[6], 0, NULL));
    char *text = json_dumps(event, JSON_COMPACT);
    struct tidings_span span = {text, strlen(text)};
    struct tidings_reply *reply = NULL;
    code = hostkit_event(hostkit, &span, &reply, &error);
    hostkit_reply_free(reply);
    free(text);
    json_decref(event);
  }
  if (code != TIDINGS_OK)
    fprintf(stderr, "hostsim: a push from another process failed: %s\n", error.text);
  else if (journal_append(cli->argv[4], json_pack("{s:s}", cli->argv[7], cli->argv[8])) != 0)
    code = TIDINGS_E_STORE;
  hostkit_close(hostkit, DEMO_TIMEOUT_MS, NULL);
  return code == TIDINGS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct cli_verb verb_internal_push = {.name = "internal-push",
                                            .usage =
                                                "PLUGIN DIR STORE LEDGER TYPE DATA LEDGER-KEY TEXT",
                                            .run = push_verb};
