/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/inbox.c: The socket is of the user's alone. It answers nothing: an agent that does
 * not take the token closes the connection, as it does after a text.
 */
#include "agents/deliver/inbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/setup/controller.h"
#include "agents/setup/setup.h"
#include "agents/transcript/marker.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/file.h"

enum { VERSION = 1, PATIENCE_MS = 500 };

static const char sender[] = "tidings";

/* -- whether it takes texts -------------------------------------------------------------------- */

static const char *variable(const char *name) {
  const char *value = name ? getenv(name) : NULL;
  return value && value[0] ? value : NULL;
}

/* Takes `path` over. */
static bool accepts_by(const struct host_inbox *inbox, char *path) {
  json_t *settings = path ? setup_read_json(path) : NULL;
  const json_t *value = setup_member_at(settings, inbox->setting);
  const char *text = json_string_value(value);
  bool accepts = !value || (text && strcmp(text, inbox->setting_accepts) == 0);
  json_decref(settings);
  free(path);
  return accepts;
}

/* A text that a person keeps back may be shown later, when it has come by another way already. */
static bool accepts(const struct hook_call *call) {
  const struct host *host = call->host;
  char *home = host_home(host);
  bool all = accepts_by(host->inbox, home ? paths_join(home, host->settings_file) : NULL) &&
             accepts_by(host->inbox, paths_join(call->cwd, host->project_settings));
  for (const char *const *file = host->inbox->setting_files; all && *file; file++)
    all = accepts_by(host->inbox, strdup(*file));
  free(home);
  return all;
}

/* Free it; NULL: there is none. */
static char *token_for(const struct hook_call *call, bool of_person) {
  const char *own = variable(call->host->inbox->token_variable);
  if (of_person) return setup_controller_token(call->host);
  return own ? strdup(own) : NULL;
}

bool hook_inbox_takes(const struct hook_call *call, bool of_person) {
  const struct host_inbox *inbox = call->host->inbox;
  if (!inbox || !call->given || call->of_subagent || !variable(inbox->socket_variable) ||
      access(call->given, F_OK) == 0)
    return false;
  char *token = token_for(call, of_person);
  bool takes = token && accepts(call);
  free(token);
  return takes;
}

/* -- sending ----------------------------------------------------------------------------------- */

static int write_all(int fd, const char *text, size_t len) {
  while (len) {
    ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
    if (sent <= 0) return sent < 0 ? errno : EPIPE;
    text += sent;
    len -= (size_t)sent;
  }
  return 0;
}

/* Returns a descriptor, or -1 and errno. */
static int open_socket(const char *path) {
  const struct timeval patience = {.tv_usec = PATIENCE_MS * 1000L};
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof name.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(name.sun_path, path, strlen(path));
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (!connect(fd, (const struct sockaddr *)&name, sizeof name)) return fd;
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

static char *json_line(json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT) : NULL, *line = NULL;
  if (text && asprintf(&line, "%s\n", text) < 0) line = NULL;
  free(text);
  json_decref(value);
  return line;
}

/* Both lines in one. NULL: no memory. */
static char *lines_of(const struct hook_call *call, const json_t *given) {
  char *token = token_for(call, json_is_true(json_object_get(given, "of_person"))), *lines = NULL,
       *first = token ? json_line(json_pack("{s:i, s:s, s:s}", "msgV", VERSION, "type", "auth",
                                            "token", token))
                      : NULL,
       *second = json_line(json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s}}", "msgV",
                                     VERSION, "msgId", json_value_text(given, "id"), "type", "user",
                                     "fromName", sender, "fromMode", "prompting", "toSessionId",
                                     call->session, "priority", "next", "message", "role", "user",
                                     "content", json_value_text(given, "text")));
  if (first && second && asprintf(&lines, "%s%s", first, second) < 0) lines = NULL;
  free(first);
  free(second);
  free(token);
  return lines;
}

/* Returns 0 or an errno. */
static int send_text(const struct hook_call *call, const json_t *given) {
  const char *path = variable(call->host->inbox->socket_variable);
  char *lines = path ? lines_of(call, given) : NULL;
  if (!lines) return path ? ENOMEM : ENOENT;
  int fd = open_socket(path), reason = fd < 0 ? errno : write_all(fd, lines, strlen(lines));
  if (fd >= 0) close(fd);
  free(lines);
  return reason;
}

/* -- what was given ---------------------------------------------------------------------------- */

static int write_given(const char *path, const json_t *given) {
  char *text = json_dumps(given, JSON_COMPACT), *fresh = NULL, *folder = NULL;
  const char *slash = strrchr(path, '/');
  if (slash) folder = strndup(path, (size_t)(slash - path));
  int reason = text && folder ? paths_make_folders(folder) : ENOMEM;
  if (asprintf(&fresh, "%s.new", path) < 0) fresh = NULL;
  if (!reason) reason = fresh ? file_write_whole(fresh, text, strlen(text)) : ENOMEM;
  if (!reason && rename(fresh, path)) reason = errno;
  free(fresh);
  free(folder);
  free(text);
  return reason;
}

/* NULL: nothing is on its way. */
static json_t *read_given(const struct hook_call *call) {
  return call->given ? setup_read_json(call->given) : NULL;
}

uint64_t hook_inbox_given(const struct hook_call *call) {
  json_t *given = read_given(call);
  uint64_t delivery = strtoull(json_value_text(given, "delivery"), NULL, 10);
  json_decref(given);
  return delivery;
}

void hook_inbox_give_again(const struct hook_call *call) {
  json_t *given = read_given(call);
  int reason = given ? send_text(call, given) : 0;
  if (reason) hook_log("cannot give a text to the inbox again: %s", strerror(reason));
  json_decref(given);
}

void hook_inbox_forget(const struct hook_call *call) {
  if (call->given) (void)unlink(call->given);
}

/* The text's id is the delivery's marker, which no other session has. */
static json_t *new_given(uint64_t delivery, bool of_person, const char *text) {
  char marker[HOOK_MARKER_SIZE];
  hook_marker_write(HOOK_MARKER_OF_DELIVERY, delivery, marker);
  const char *id = marker + strlen(HOOK_MARKER_OPENING);
  return json_pack("{s:o, s:b, s:o, s:s}", "delivery", json_sprintf("%" PRIu64, delivery),
                   "of_person", of_person, "id",
                   json_sprintf("%s-%.*s", sender, (int)strcspn(id, "]"), id), "text", text);
}

/* The file is there before the text can be, so that a process that is killed in between leaves a
 * text that is given once more, and not one that is given up. */
void hook_inbox_give(const struct hook_call *call, bool of_person, struct hook_answer *answer) {
  const char *text = json_value_text(answer->output, "reason");
  if (!answer->delivery || !text[0] || !hook_inbox_takes(call, of_person)) return;
  json_t *given = new_given(answer->delivery, of_person, text);
  int reason = given ? write_given(call->given, given) : ENOMEM;
  if (!reason) reason = send_text(call, given);
  json_decref(given);
  if (reason) {
    hook_log("cannot give a text to the inbox: %s", strerror(reason));
    hook_inbox_forget(call);
    return;
  }
  (void)json_object_del(answer->output, "decision");
  (void)json_object_del(answer->output, "reason");
  answer->delivery = 0;
  answer->given = true;
}
