/* SPDX-License-Identifier: MIT
 */
#include "mcp/act.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/json_value.h"
#include "common/file.h"
#include "common/spawn.h"

#define CHILD_VERB "mcp-child"
#define SENT_KIND "agent.message"
enum { MOST_WORDS = 64, LONGEST_OUTPUT = 65536 };

struct command {
  const char *words[MOST_WORDS + 1];
  size_t count;
  const char *input; /* the command's stdin, because every user can read its words; NULL: none */
};

static void add(struct command *command, const char *word) {
  if (command->count < MOST_WORDS) command->words[command->count++] = word;
}

/* Begins a command with the verb, and with this process's options for store and configuration. */
static void begin(const struct mcp_acting *acting, const char *verb, struct command *command) {
  add(command, acting->cli->program->name);
  add(command, verb);
  if (acting->cli->store) add(command, "--store");
  if (acting->cli->store) add(command, acting->cli->store);
  if (acting->cli->config) add(command, "--config");
  if (acting->cli->config) add(command, acting->cli->config);
}

/* Starts the command, and gives it its input. Returns 0 or an errno. */
static int start_command(const struct command *command, int out, pid_t *ret_pid) {
  int ends[2] = {SPAWN_NULL, SPAWN_NULL};
  if (command->input && pipe2(ends, O_CLOEXEC)) return errno;
  const struct spawn spawn = {.program = "/proc/self/exe",
                              .argv = command->words,
                              .in = ends[0],
                              .out = out,
                              .err = SPAWN_AS_OUT,
                              .close_others = true,
                              .fresh_signals = true};
  int reason = spawn_start(&spawn, ret_pid);
  if (!command->input) return reason;
  close(ends[0]);
  if (!reason) /* a failure is ignored, because a command that refuses its options does not read */
    (void)file_write_all(ends[1], command->input, strlen(command->input));
  close(ends[1]);
  return reason;
}

/* Runs the command, and returns both of its outputs as one text. Returns 0 or an errno of the
 * start. */
static int run(const struct command *command, char **ret_text, bool *ret_failed) {
  int ends[2], status = 0;
  size_t len = 0;
  pid_t pid = -1;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  int reason = start_command(command, ends[1], &pid);
  close(ends[1]);
  if (!reason) {
    reason = file_read_all(ends[0], LONGEST_OUTPUT, ret_text, &len);
    (void)spawn_wait(pid, -1, &status);
    *ret_failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  close(ends[0]);
  return reason;
}

/* Runs the command. The text for the model is its output, or `done` if there is none. */
static bool run_for_model(const struct command *command, const char *done, char **ret_text) {
  char *text = NULL;
  bool failed = true;
  int reason = run(command, &text, &failed);
  if (!reason && !text) reason = EIO;
  if (reason) {
    free(text);
    if (asprintf(ret_text, "cannot run %s: %s", command->words[0], strerror(reason)) < 0)
      *ret_text = NULL;
    return true;
  }
  char *usage = failed ? strstr(text, "\nusage: ") : NULL; /* it is only for people who type the
                                                              verb */
  if (usage) *usage = '\0';
  for (size_t len = strlen(text); len && text[len - 1] == '\n';) text[--len] = '\0';
  if (text[0]) {
    *ret_text = text;
  } else {
    free(text);
    *ret_text = strdup(failed ? "it failed" : done);
  }
  return failed;
}

/* -- the tools --------------------------------------------------------------------------------- */

/* Returns the name of the program with which a shell command begins. */
static char *first_word(const char *command) {
  command += strspn(command, " \t\n");
  size_t len = strcspn(command, " \t\n;|&<>()");
  return len ? strndup(command, len) : strdup("sh");
}

static bool act_run(struct mcp_acting *acting, const json_t *arguments, const char *session,
                    char **ret_text) {
  struct command command = {.count = 0};
  const char *text = json_value_text(arguments, "command"),
             *named = json_value_text(arguments, "name");
  char *name = named[0] ? strdup(named) : first_word(text);
  if (!name) return true;
  begin(acting, "run", &command);
  add(&command, "--session");
  add(&command, session);
  add(&command, "--detach");
  add(&command, "--name");
  add(&command, name);
  add(&command, "--");
  add(&command, "sh");
  add(&command, "-c");
  add(&command, text);
  bool failed = run_for_model(&command, "It runs.", ret_text);
  free(name);
  return failed;
}

/* Starts a watcher, which runs until this process ends in any way. */
static bool act_watch(struct mcp_acting *acting, const json_t *arguments, const char *session,
                      char **ret_text) {
  struct command command = {.count = 0};
  const json_t *paths = json_object_get(arguments, "paths"), *path = NULL;
  char parent[16];
  size_t i = 0;
  if (acting->watcher_count == MCP_MOST_WATCHERS || json_array_size(paths) > MOST_WORDS / 2) {
    *ret_text = strdup("too much is watched; start this agent again to begin anew");
    return true;
  }
  snprintf(parent, sizeof parent, "%ld", (long)getpid());
  add(&command, acting->cli->program->name);
  add(&command, CHILD_VERB);
  add(&command, parent);
  begin(acting, "watch", &command);
  add(&command, "--session");
  add(&command, session);
  add(&command, "--quiet");
  add(&command, "--");
  json_array_foreach(paths, i, path) add(&command, json_string_value(path));
  const struct spawn spawn = {.program = "/proc/self/exe",
                              .argv = command.words,
                              .in = SPAWN_NULL,
                              .out = SPAWN_NULL,
                              .close_others = true,
                              .fresh_signals = true};
  int reason = spawn_start(&spawn, &acting->watchers[acting->watcher_count]);
  if (!reason) acting->watcher_count++;
  *ret_text = strdup(reason ? strerror(reason) : "Changes by other programs are reported now.");
  return reason != 0;
}

static void add_option(struct command *command, const char *name, const json_t *arguments,
                       const char *key) {
  const char *value = json_value_text(arguments, key);
  if (!value[0]) return;
  add(command, name);
  add(command, value);
}

static bool act_remind(struct mcp_acting *acting, const json_t *arguments, const char *session,
                       char **ret_text) {
  struct command command = {.count = 0};
  begin(acting, "remind", &command);
  add(&command, "--session");
  add(&command, session);
  add_option(&command, "--in", arguments, "in");
  add_option(&command, "--at", arguments, "at");
  add(&command, "-");
  command.input = json_value_text(arguments, "text");
  return run_for_model(&command, "You will be reminded.", ret_text);
}

static bool send_to(struct mcp_acting *acting, const char *to, const char *text,
                    const char *session, char **ret_text) {
  struct command command = {.count = 0};
  char *message = NULL;
  json_t *data = json_pack("{s:o}", "from", json_sprintf("session:%s", session));
  char *data_text = data ? json_dumps(data, JSON_COMPACT) : NULL;
  bool failed = true;
  json_decref(data);
  if (data_text && asprintf(&message, "%s (from session:%s)", text, session) >= 0) {
    begin(acting, "push", &command);
    add(&command, "--to");
    add(&command, to);
    add(&command, "--kind");
    add(&command, SENT_KIND);
    add(&command, "--data");
    add(&command, data_text);
    add(&command, "-");
    command.input = message;
    failed = run_for_model(&command, "Sent.", ret_text);
    free(message);
  }
  free(data_text);
  return failed;
}

static bool act_reply(struct mcp_acting *acting, const json_t *arguments, const char *session,
                      char **ret_text) {
  char *to = mcp_news_last_sender(acting->news, session);
  if (!to) {
    *ret_text = strdup("no other agent has written to this session with 'send'");
    return true;
  }
  bool failed = send_to(acting, to, json_value_text(arguments, "text"), session, ret_text);
  free(to);
  return failed;
}

bool mcp_act(struct mcp_acting *acting, const struct mcp_action *action, char **ret_text) {
  char session[256];
  const json_t *arguments = action->arguments;
  *ret_text = NULL;
  if (!mcp_news_session(acting->news, action->session, session, sizeof session)) {
    *ret_text = strdup("tidings cannot open its store, or does not find the agent's process; "
                       "'tidings doctor' in a terminal says more");
    return true;
  }
  switch (action->tool) {
  case MCP_TOOL_RUN: return act_run(acting, arguments, session, ret_text);
  case MCP_TOOL_WATCH: return act_watch(acting, arguments, session, ret_text);
  case MCP_TOOL_REMIND: return act_remind(acting, arguments, session, ret_text);
  case MCP_TOOL_SEND:
    return send_to(acting, json_value_text(arguments, "to"), json_value_text(arguments, "text"),
                   session, ret_text);
  case MCP_TOOL_REPLY: return act_reply(acting, arguments, session, ret_text);
  default: *ret_text = strdup("Nothing is pending."); return false;
  }
}

void mcp_act_end(struct mcp_acting *acting) {
  int status = 0;
  for (size_t i = 0; i < acting->watcher_count; i++) (void)kill(acting->watchers[i], SIGTERM);
  for (size_t i = 0; i < acting->watcher_count; i++)
    (void)spawn_wait(acting->watchers[i], -1, &status);
}

/* -- a verb that ends with its parent ---------------------------------------------------------- */

/* Becomes the verb, which SIGTERM ends when its parent ends. Fails if the parent has ended
 * already. */
static int child_verb(struct cli *cli) {
  uint64_t parent = 0;
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 2, INT32_MAX, "a process and a verb are");
  if (code) return code;
  if (cli_number(cli->words[0], 1, UINT32_MAX, &parent))
    return cli_usage(cli, "'%s' is not the number of a process", cli->words[0]);
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) || (uint64_t)getppid() != parent) return 1;
  execv("/proc/self/exe", cli->words + 1);
  return cli_fail(cli, "%s: %s", cli->words[1], strerror(errno));
}

const struct cli_verb verb_mcp_child = {
    .name = CHILD_VERB,
    .usage = "PID COMMAND...",
    .summary = "run a verb for 'tidings mcp', for the program itself",
    .help = "Becomes that command of this program, and is ended when its parent ends.",
    .options_first = true,
    .run = child_verb,
};
