/* SPDX-License-Identifier: MIT
 */
#include "command/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/kit.h"
#include "command/print.h"
#include "common/file.h"
#include "common/spawn.h"
#include "common/store_url.h"

enum { LONGEST_ANSWER = 1 << 20 };
#define CHECK_VERB "store-check"

static const struct json_rules answers = {.max_depth = 16};

static int32_t do_task(uint32_t task, const struct tidings_store_request *request,
                       json_t **ret_answer, struct tidings_error *error) {
  char *plugin = kit_plugin_path(), *json = NULL;
  if (!plugin) return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  const struct hostkit_options options = {
      .size = sizeof options, .flags = kit_flags(), .plugin_path = plugin};
  int32_t code = hostkit_store(&options, task, request, &json, error);
  free(plugin);
  if (!code) code = json_value_read(&answers, span_text(json), "the answer", ret_answer, error);
  hostkit_free(json);
  return code;
}

int32_t store_do(uint32_t task, uint32_t flags, const char *from, const char *to,
                 json_t **ret_answer, struct tidings_error *error) {
  const struct tidings_store_request request = {.size = sizeof request,
                                                .flags = flags,
                                                .from = span_text(from),
                                                .to = span_text(to ? to : "")};
  return do_task(task, &request, ret_answer, error);
}

int32_t store_forget(const char *store, const char *session, uint32_t flags, json_t **ret_answer,
                     struct tidings_error *error) {
  const struct tidings_store_request request = {.size = sizeof request,
                                                .flags = flags,
                                                .from = span_text(store),
                                                .session = span_text(session)};
  return do_task(HOSTKIT_STORE_FORGET, &request, ret_answer, error);
}

/* -- a copy ------------------------------------------------------------------------------------ */

/* Makes a file without a name, which nobody else can open, and which ends with this process.
 * Returns a descriptor, or -1 with errno. */
static int make_nameless(void) {
  const char *folder = getenv("TMPDIR");
  char *path = NULL;
  if (asprintf(&path, "%s/tidings-copy-XXXXXX", folder && *folder ? folder : "/tmp") < 0) {
    errno = ENOMEM;
    return -1;
  }
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) (void)unlink(path);
  free(path);
  return fd;
}

int32_t store_copy(const char *from, const char *to, json_t **ret_answer,
                   struct tidings_error *error) {
  json_t *dumped = NULL;
  char path[32];
  int fd = make_nameless();
  if (fd < 0)
    return kit_error(error, TIDINGS_E_STORE,
                     "no file for the rows can be made in $TMPDIR or /tmp: %s", strerror(errno));
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int32_t code = store_do(HOSTKIT_STORE_DUMP, 0, from, path, &dumped, error);
  if (!code) code = store_do(HOSTKIT_STORE_LOAD, 0, path, to, ret_answer, error);
  json_decref(dumped);
  close(fd);
  return code;
}

/* -- a check in another process ---------------------------------------------------------------- */

static int check_verb(struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 1, 1, "a folder is");
  if (code) return code;
  int32_t refused = store_do(HOSTKIT_STORE_CHECK, 0, cli->words[0], NULL, &answer, &error);
  if (refused)
    answer = json_pack("{s:{s:i, s:s}}", "error", "code", (int)refused, "text", error.text);
  code = answer ? print_json(cli, answer) : cli_fail(cli, "out of memory");
  json_decref(answer);
  return code;
}

const struct cli_verb verb_store_check = {
    .name = CHECK_VERB,
    .usage = "FOLDER",
    .summary = "check a store, for the program itself",
    .help = "Prints the answer of the plugin, or its error, as JSON.",
    .run = check_verb,
};

/* Returns 0 or an errno. */
static int run_child(const char *path, char **ret_text, int *ret_status) {
  const char *const argv[] = {"tidings", CHECK_VERB, "--", path, NULL};
  int ends[2];
  size_t len = 0;
  pid_t pid = -1;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  const struct spawn spawn = {
      .program = "/proc/self/exe", .argv = argv, .in = SPAWN_NULL, .out = ends[1]};
  int reason = spawn_start(&spawn, &pid);
  close(ends[1]);
  if (!reason) {
    reason = file_read_all(ends[0], LONGEST_ANSWER, ret_text, &len);
    (void)spawn_wait(pid, -1, ret_status);
  }
  close(ends[0]);
  return reason;
}

/* Takes the answer over. */
static int32_t judge(json_t *answer, json_t **ret_answer, struct tidings_error *error) {
  const json_t *refused = json_object_get(answer, "error");
  int32_t code = (int32_t)json_integer_value(json_object_get(refused, "code"));
  if (refused) {
    code = kit_error(error, code, "%s", json_value_text(refused, "text"));
    json_decref(answer);
    return code;
  }
  *ret_answer = answer;
  return TIDINGS_OK;
}

int32_t store_check(const char *path, json_t **ret_answer, struct tidings_error *error) {
  char *text = NULL;
  int status = 0;
  json_t *answer = NULL;
  /* A store in a database is checked in this process: only the server reads its files, and the URL
   * must not become an argument, which other users can read. */
  if (store_url_is(path)) return store_do(HOSTKIT_STORE_CHECK, 0, path, NULL, ret_answer, error);
  int reason = run_child(path, &text, &status);
  if (!reason && !text) reason = EIO;
  if (reason)
    return kit_error(error, TIDINGS_E_STORE, "the check cannot be run: %s", strerror(reason));
  if (WIFSIGNALED(status)) {
    char said[128];
    snprintf(said, sizeof said, "the process that checked it was ended by signal %d (%s)",
             WTERMSIG(status), strsignal(WTERMSIG(status)));
    free(text);
    answer = json_pack("{s:b, s:[{s:s}]}", "sound", 0, "findings", "text", said);
    if (!answer) return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
    *ret_answer = answer;
    return TIDINGS_OK;
  }
  int32_t code = json_value_read(&answers, span_text(text), "the check's answer", &answer, error);
  free(text);
  return code ? code : judge(answer, ret_answer, error);
}
