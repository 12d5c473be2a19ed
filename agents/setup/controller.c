/* SPDX-License-Identifier: MIT
 *
 * agents/setup/controller.c: The agent keeps the token's hash only, under an id that its command
 * prints beside the token.
 */
#include "agents/setup/controller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/file.h"
#include "common/fnv.h"
#include "common/spawn.h"

enum { PATIENCE_MS = 30000, MOST_SAID = 8192, MOST_WORDS = 8, MOST_DIGITS = 128 };

/* -- what is kept ------------------------------------------------------------------------------ */

/* Each folder of the agent's configuration, which has the other half, has one. */
static char *kept_path(const struct host *host) {
  char name[64], *home = host_home(host),
                 *folder = paths_in_home("XDG_CONFIG_HOME", ".config", "tidings/controllers"),
                 *path = NULL;
  uint64_t hash = fnv_span(FNV_START, span_text(home ? home : ""));
  (void)snprintf(name, sizeof name, "%s-%016llx", host->name, (unsigned long long)hash);
  if (home && folder) path = paths_join(folder, name);
  free(folder);
  free(home);
  return path;
}

static json_t *read_kept(const struct host *host) {
  char *path = host->inbox ? kept_path(host) : NULL;
  json_t *kept = path ? setup_read_json(path) : NULL;
  free(path);
  return kept;
}

static int write_kept(const struct host *host, const char *id, const char *token) {
  char *path = kept_path(host), *folder = path ? strdup(path) : NULL;
  json_t *kept = json_pack("{s:s, s:s}", "id", id, "token", token);
  char *text = kept ? json_dumps(kept, JSON_COMPACT) : NULL;
  int reason = path && folder && text ? 0 : ENOMEM;
  if (!reason) *strrchr(folder, '/') = '\0';
  if (!reason) reason = paths_make_folders(folder);
  if (!reason) reason = file_write_whole(path, text, strlen(text));
  free(text);
  json_decref(kept);
  free(folder);
  free(path);
  return reason;
}

static void forget_kept(const struct host *host) {
  char *path = kept_path(host);
  if (path) (void)unlink(path);
  free(path);
}

/* -- what the agent knows ---------------------------------------------------------------------- */

static bool is_known(const struct host *host, const char *id) {
  char *home = host_home(host), *path = home ? paths_join(home, host->inbox->controllers) : NULL;
  json_t *list = path ? setup_read_json(path) : NULL, *one;
  bool known = false;
  size_t i;
  json_array_foreach(json_object_get(list, "controllers"), i, one) {
    known = known || strcmp(json_value_text(one, "id"), id) == 0;
  }
  json_decref(list);
  free(path);
  free(home);
  return known;
}

char *setup_controller_token(const struct host *host) {
  json_t *kept = read_kept(host);
  const char *id = json_value_text(kept, "id"), *token = json_value_text(kept, "token");
  char *copy = id[0] && token[0] && is_known(host, id) ? strdup(token) : NULL;
  json_decref(kept);
  return copy;
}

bool setup_controller_can(const struct host *host, const char *version) {
  return host->inbox && version && strverscmp(version, host->inbox->controllers_since) >= 0;
}

/* -- its command ------------------------------------------------------------------------------- */

/* "PROGRAM WORDS... LAST". Returns whether it has ended well; what it has printed is in `said`. */
static bool run(const char *program, const char *const *words, const char *last,
                char said[MOST_SAID + 1]) {
  const char *argv[MOST_WORDS + 3] = {program};
  size_t count = 1, len = 0;
  int status = 0;
  for (; *words && count <= MOST_WORDS; words++) argv[count++] = *words;
  argv[count] = last;
  said[0] = '\0';
  if (spawn_capture(argv, PATIENCE_MS, said, MOST_SAID, &len, &status)) return false;
  said[len] = '\0';
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The word that begins so. Free it; NULL: there is none. */
static char *word_in(const char *said, const char *opening) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const char *at = strstr(said, opening);
  size_t len = at ? strspn(at, letters) : 0;
  return len > strlen(opening) && len <= MOST_DIGITS ? strndup(at, len) : NULL;
}

void setup_controller_announce(const struct host *host, bool remove, bool can) {
  char *token = host->inbox ? setup_controller_token(host) : NULL;
  if (remove ? token != NULL : can && !token)
    printf("%s would then be asked to %s a token for the messages that are submitted.\n",
           host->title, remove ? "revoke" : "make");
  free(token);
}

void setup_controller_make(const struct cli *cli, const struct host *host, const char *program) {
  char said[MOST_SAID + 1], *there = setup_controller_token(host), *id = NULL, *token = NULL;
  if (there) {
    free(there);
    return;
  }
  if (run(program, host->inbox->add, NULL, said)) {
    token = word_in(said, host->inbox->token_opening);
    id = word_in(said, host->inbox->id_opening);
  }
  int reason = id && token ? write_kept(host, id, token) : -1;
  if (!reason)
    printf("%s takes submitted messages as yours: it has made a token for tidings (%s), which "
           "'tidings setup %s --remove' revokes and --no-controller leaves out.\n",
           host->title, id, host->name);
  else if (reason > 0) cli_warn(cli, "cannot keep the token: %s", strerror(reason));
  else
    cli_warn(cli,
             "%s has made no token for tidings: submitted messages wait for the end of a turn, and "
             "its screen calls them an error",
             host->title);
  free(id);
  free(token);
}

void setup_controller_revoke(const struct cli *cli, const struct host *host, const char *program) {
  char said[MOST_SAID + 1];
  json_t *kept = read_kept(host);
  const char *id = json_value_text(kept, "id");
  if (id[0] && is_known(host, id)) {
    if (run(program, host->inbox->remove, id, said))
      printf("%s has revoked the token of tidings (%s).\n", host->title, id);
    else cli_warn(cli, "%s has not revoked the token %s of tidings", host->title, id);
  }
  if (kept) forget_kept(host);
  json_decref(kept);
}
