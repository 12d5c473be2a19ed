/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust.c: Codex runs only hooks whose hashes its configuration trusts, and silently
 * skips the others. Its versions hash different things, so the installed one is asked for the
 * hashes: `codex app-server`, JSON-RPC in lines on stdin and stdout. Codex could write the hashes
 * too, but it changes line ends, headers and the file's mode, so they are written here.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "command/json_value.h"
#include "command/toml.h"
#include "common/file.h"
#include "common/spawn.h"

enum { PATIENCE_MS = 20000, CHUNK = 65536 };

struct server {
  const struct cli *cli;
  const struct host *host;
  pid_t pid;
  int to, from;
  char *said; /* what was read, without the lines that were returned */
  size_t said_len;
  int last_id;
};

/* -- talking ----------------------------------------------------------------------------------- */

static int start(const struct cli *cli, const struct host *host, const char *program,
                 struct server *ret_server) {
  const char *const argv[] = {program, host->server_word, NULL};
  struct server server = {.cli = cli, .host = host, .pid = -1};
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
    return cli_fail(cli, "cannot start %s: %s", program, strerror(errno));
  const struct spawn spawn = {.argv = argv, .in = in[0], .out = out[1], .err = SPAWN_NULL};
  int reason = spawn_start(&spawn, &server.pid);
  close(in[0]);
  close(out[1]);
  server.to = in[1];
  server.from = out[0];
  if (reason) {
    close(in[1]);
    close(out[0]);
    return cli_fail(cli, "cannot start %s: %s", program, strerror(reason));
  }
  *ret_server = server;
  return 0;
}

/* The server ends when its stdin is closed; it leaves no process. */
static void stop(struct server *server) {
  int status = 0;
  close(server->to);
  struct pollfd ended = {.fd = server->from, .events = 0};
  if (poll(&ended, 1, PATIENCE_MS) == 0) kill(server->pid, SIGKILL);
  spawn_wait(server->pid, -1, &status);
  close(server->from);
  free(server->said);
}

static int send_line(const struct server *server, json_t *message) {
  char *text = message ? json_dumps(message, JSON_COMPACT) : NULL, *line = NULL;
  json_decref(message);
  int len = text ? asprintf(&line, "%s\n", text) : -1;
  int reason = len < 0 ? ENOMEM : file_write_all(server->to, line, (size_t)len);
  free(text);
  if (len >= 0) free(line);
  if (!reason) return 0;
  return cli_fail(server->cli, "cannot talk to %s %s: %s", server->host->program,
                  server->host->server_word, strerror(reason));
}

/* Returns the next line; free it. NULL: the server has ended, or is silent for too long. */
static char *read_line(struct server *server) {
  for (;;) {
    char *end = server->said_len ? memchr(server->said, '\n', server->said_len) : NULL;
    if (end) {
      size_t len = (size_t)(end - server->said);
      char *line = strndup(server->said, len);
      server->said_len -= len + 1;
      memmove(server->said, end + 1, server->said_len);
      return line;
    }
    struct pollfd ready = {.fd = server->from, .events = POLLIN};
    char *larger =
        poll(&ready, 1, PATIENCE_MS) > 0 ? realloc(server->said, server->said_len + CHUNK) : NULL;
    if (!larger) return NULL;
    server->said = larger;
    ssize_t got = read(server->from, server->said + server->said_len, CHUNK);
    if (got <= 0) return NULL;
    server->said_len += (size_t)got;
  }
}

static json_t *read_answer(struct server *server, int id) {
  static const struct json_rules rules = {.max_depth = 256, .repeats = true};
  for (char *line; (line = read_line(server));) {
    json_t *answer = NULL;
    (void)json_value_read(&rules, span_text(line), "it", &answer, NULL);
    const json_t *number = json_object_get(answer, "id");
    free(line);
    if (json_is_integer(number) && json_integer_value(number) == id) return answer;
    json_decref(answer);
  }
  return NULL;
}

/* Takes `params` over. The caller releases *ret_result. */
static int call(struct server *server, const char *method, json_t *params, json_t **ret_result) {
  const int id = ++server->last_id;
  int code =
      send_line(server, json_pack("{s:i, s:s, s:o}", "id", id, "method", method, "params", params));
  if (code) return code;
  json_t *answer = read_answer(server, id), *result = json_object_get(answer, "result");
  const char *problem =
      json_string_value(json_object_get(json_object_get(answer, "error"), "message"));
  const char *program = server->host->program, *word = server->host->server_word;
  if (!answer) code = cli_fail(server->cli, "%s %s does not answer %s", program, word, method);
  else if (!result)
    code = cli_fail(server->cli, "%s %s: %s: %s", program, word, method,
                    problem ? problem : "an answer without a result");
  else *ret_result = json_incref(result);
  json_decref(answer);
  return code;
}

static int greet(struct server *server) {
  json_t *result = NULL;
  int code =
      call(server, "initialize",
           json_pack("{s:{s:s, s:s}}", "clientInfo", "name", "tidings", "version", TIDINGS_VERSION),
           &result);
  json_decref(result);
  return code ? code : send_line(server, json_pack("{s:s}", "method", "initialized"));
}

/* -- what is said ------------------------------------------------------------------------------ */

/* Codex names the folder without links and superfluous slashes, so texts may differ. */
bool setup_same_file(const char *one, const char *other) {
  if (strcmp(one, other) == 0) return true;
  char *real_one = realpath(one, NULL), *real_other = realpath(other, NULL);
  bool same = real_one && real_other && strcmp(real_one, real_other) == 0;
  free(real_one);
  free(real_other);
  return same;
}

static bool is_our_trust(const struct server *server, const json_t *hook, const char *hooks_path) {
  return setup_is_our_hook(server->host, json_value_text(hook, "command")) &&
         setup_same_file(json_value_text(hook, "sourcePath"), hooks_path);
}

/* `status` NULL: any status counts. */
static size_t count_our_trusts(const struct server *server, const json_t *hooks,
                               const char *hooks_path, const char *status) {
  const json_t *hook = NULL;
  size_t i = 0, count = 0;
  json_array_foreach(hooks, i, hook) {
    const char *has = json_value_text(hook, "trustStatus");
    count += is_our_trust(server, hook, hooks_path) && (!status || strcmp(has, status) == 0);
  }
  return count;
}

/* The caller releases *ret_hooks. */
static int list_hooks(struct server *server, json_t **ret_hooks) {
  char folder[4096];
  json_t *list = NULL;
  if (!getcwd(folder, sizeof folder)) strcpy(folder, "/");
  int code = greet(server);
  if (!code) code = call(server, "hooks/list", json_pack("{s:[s]}", "cwds", folder), &list);
  if (!code)
    *ret_hooks =
        json_incref(json_object_get(json_array_get(json_object_get(list, "data"), 0), "hooks"));
  json_decref(list);
  return code;
}

/* -- what is written --------------------------------------------------------------------------- */

json_t *setup_trust_read(const char *text, struct tidings_error *error) {
  static const struct json_rules rules = {.max_depth = 256, .repeats = true};
  char *json = NULL;
  json_t *value = NULL;
  if (toml_to_json_any(text, strlen(text), &json, error)) return NULL;
  (void)json_value_read(&rules, span_text(json), "it", &value, NULL);
  free(json);
  return value;
}

static json_t *table_in(json_t *object, const char *name) {
  if (!json_object_get(object, name)) json_object_set_new(object, name, json_object());
  return json_object_get(object, name);
}

static void drop_if_empty(json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (json_is_object(value) && !json_object_size(value)) json_object_del(object, name);
}

/* An empty table means the same as none. */
static void drop_empty_tables(json_t *config) {
  drop_if_empty(json_object_get(config, "hooks"), "state");
  drop_if_empty(config, "hooks");
}

bool setup_trust_says(const char *text, json_t *expected) {
  json_t *config = setup_trust_read(text, NULL);
  drop_empty_tables(config);
  drop_empty_tables(expected);
  bool same = config && expected && json_equal(config, expected);
  json_decref(config);
  return same;
}

/* Does the new text mean the same as the old one, except for these hashes? */
static bool says_the_same(const char *before, const char *after, const json_t *hashes) {
  json_t *expected = setup_trust_read(before, NULL);
  const char *key = NULL;
  const json_t *hash = NULL;
  json_t *state = table_in(table_in(expected, "hooks"), "state");
  json_object_foreach((json_t *)(uintptr_t)hashes, key, hash) {
    json_object_set(table_in(state, key), "trusted_hash", (json_t *)(uintptr_t)hash);
  }
  bool same = setup_trust_says(after, expected);
  json_decref(expected);
  return same;
}

/* The changes to write: a hash for each key. */
static json_t *hashes_of(const struct server *server, const json_t *hooks, const char *hooks_path) {
  json_t *hashes = json_object();
  const json_t *hook = NULL;
  size_t i = 0;
  json_array_foreach(hooks, i, hook) {
    const char *trust = json_value_text(hook, "trustStatus");
    if (!is_our_trust(server, hook, hooks_path) || strcmp(trust, "trusted") == 0) continue;
    const char *hash = json_value_text(hook, "currentHash");
    json_object_set_new(hashes, json_value_text(hook, "key"), json_string(hash));
  }
  return hashes;
}

static int write_hashes(const struct cli *cli, const json_t *hashes, struct change *change) {
  const char *key = NULL, *before = change->after ? change->after : "";
  const json_t *hash = NULL;
  char *text = strdup(before);
  json_object_foreach((json_t *)(uintptr_t)hashes, key, hash) {
    char *next = text ? setup_trust_text(text, key, json_string_value(hash)) : NULL;
    free(text);
    text = next;
  }
  if (!text) return cli_fail(cli, "out of memory");
  if (!says_the_same(before, text, hashes)) {
    free(text);
    return cli_fail(cli, "%s has the table hooks.state in a form that setup does not edit",
                    change->path);
  }
  free(change->after);
  change->after = text;
  return 0;
}

static int plan_trust(struct server *server, const char *hooks_path, struct change *change,
                      size_t *ret_changed) {
  json_t *hooks = NULL;
  int code = list_hooks(server, &hooks);
  if (code) return code;
  size_t ours = count_our_trusts(server, hooks, hooks_path, NULL);
  json_t *hashes = hashes_of(server, hooks, hooks_path);
  size_t count = json_object_size(hashes);
  if (!ours)
    code = cli_fail(server->cli, "%s %s does not list the hooks of tidings in %s",
                    server->host->program, server->host->server_word, hooks_path);
  if (ours > count_our_trusts(server, hooks, hooks_path, "untrusted")) change->has_ours = true;
  if (!code && count) code = write_hashes(server->cli, hashes, change);
  if (!code) *ret_changed = count;
  json_decref(hashes);
  json_decref(hooks);
  return code;
}

int setup_trust(const struct cli *cli, const struct host *host, const char *program,
                const char *hooks_path, struct change *change, size_t *ret_changed) {
  struct server server = {.pid = -1, .to = -1, .from = -1};
  *ret_changed = 0;
  if (!host->trusts_hashes) return 0;
  int code = start(cli, host, program, &server);
  if (code) return code;
  code = plan_trust(&server, hooks_path, change, ret_changed);
  stop(&server);
  return code;
}
