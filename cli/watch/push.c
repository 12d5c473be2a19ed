/* SPDX-License-Identifier: MIT
 *
 * watch/push.c: pushes the content of the outbox. A few files are pushed one by one, so that the
 * assistant's own edits among them can be withdrawn; many files are one push, a burst. A change
 * that is still pending in the session is not pushed again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/watch/outbox.h"
#include "command/destination.h"
#include "command/mailbox.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session.h"
#include "command/session_now.h"
#include "command/session_path.h"
#include "common/utf8.h"

enum { ONE_BY_ONE = 8, LISTED = 100, NAMED = 20 };

static const char *const kind_names[FILE_EVENT_KINDS] = {"modified", "created", "deleted",
                                                         "renamed"};

struct pushing {
  const struct cli *cli;
  struct hostkit *kit;
  char *session;
  char *cwd;              /* the session's folder; "": not known */
  struct address mailbox; /* the mailbox that `session` is, until a session collects it; without a
                             name: none */
  json_t *pending;
  json_t *pushed_bursts; /* the bursts of the outbox that are still pending */
};

/* -- the address ------------------------------------------------------------------------------- */

/* Chooses the session of the folder, or else its mailbox. */
static int choose_address(const struct cli *cli, struct pushing *pushing) {
  struct tidings_error error = {.size = sizeof error};
  struct address address = {.name = NULL};
  int code = destination_parse(cli, &address);
  if (code) return code;
  int32_t refused = address.kind == ADDRESS_SESSION
                        ? TIDINGS_OK
                        : mailbox_find_session(pushing->kit, &address, &pushing->session, &error);
  if (!refused && !pushing->session) pushing->session = strdup(address.name);
  if (refused) code = cli_fail_with(cli, refused, &error);
  else if (!pushing->session) code = cli_fail(cli, "out of memory");
  if (!code && address_is_mailbox(pushing->session)) pushing->mailbox = address;
  else address_finish(&address);
  return code;
}

/* Lets a session that has started since then collect the mailbox. The push is stored in any
 * case. */
static void forward(struct pushing *pushing) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved;
  char *session = NULL;
  if (pushing->mailbox.name &&
      mailbox_forward(pushing->kit, &pushing->mailbox, &session, &moved, &error))
    cli_warn(pushing->cli, "it waits in %s: %s", pushing->mailbox.name, error.text);
  free(session);
}

/* Chooses the session. It prints no error, because the last host may come back. */
static int choose(const struct cli *cli, struct pushing *pushing, const char *session,
                  char **last) {
  if (cli->to) return choose_address(cli, pushing);
  if (session) {
    pushing->session = strdup(session);
    if (!pushing->session) return cli_fail(cli, "out of memory");
    return session_may_be_short(session) ? session_complete(cli, pushing->kit, &pushing->session)
                                         : 0;
  }
  int code = session_used_last_here(cli, pushing->kit, &pushing->session);
  if (!code && !pushing->session && *last) pushing->session = strdup(*last);
  if (code || !pushing->session)
    return code ? code : cli_fail(cli, "no running session works in this folder");
  char *copy = strdup(pushing->session);
  if (copy) {
    free(*last);
    *last = copy;
  }
  return 0;
}

/* Changes to the session that the window shows now: after /clear nobody reads the old one. */
static int follow(const struct cli *cli, struct pushing *pushing) {
  if (pushing->mailbox.name) return 0;
  char *now = session_now(pushing->kit, pushing->session);
  if (!now) return cli_fail(cli, "out of memory");
  free(pushing->session);
  pushing->session = now;
  return 0;
}

static int ask_store(const struct pushing *pushing, const char *name, json_t **ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  json_t *request = json_pack("{s:s, s:s}", "name", name, "session", pushing->session);
  if (request && strcmp(name, "pending") == 0)
    json_object_set_new(request, "limit", json_integer(10000));
  int32_t code = kit_query(pushing->kit, request, ret_answer, &error);
  return code ? cli_fail_with(pushing->cli, code, &error) : 0;
}

static int begin(const struct cli *cli, struct pushing *pushing, const char *session, char **last) {
  json_t *status = NULL;
  pushing->cli = cli;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &pushing->kit);
  if (!code) code = choose(cli, pushing, session, last);
  if (!code) code = follow(cli, pushing);
  if (!code) project_lay_here(cli, pushing->kit, pushing->session);
  if (!code) code = ask_store(pushing, "status", &status);
  if (!code) code = ask_store(pushing, "pending", &pushing->pending);
  if (!code &&
      !(pushing->cwd = strdup(json_value_text(json_object_get(status, "attachment"), "cwd"))))
    code = cli_fail(cli, "out of memory");
  json_decref(status);
  return code;
}

static void end(struct pushing *pushing) {
  json_decref(pushing->pending);
  kit_close(pushing->kit);
  address_finish(&pushing->mailbox);
  free(pushing->session);
  free(pushing->cwd);
}

/* -- what -------------------------------------------------------------------------------------- */

/* Returns a path as JSON, which must be UTF-8. */
static json_t *path_value(const struct pushing *pushing, const char *path) {
  char *name = session_path(pushing->cwd, path);
  struct buffer text = BUFFER_EMPTY;
  if (name) utf8_repair(span_text(name), &text);
  json_t *value = name && !text.failed ? json_stringn(text.len ? text.bytes : "", text.len) : NULL;
  buffer_free(&text);
  free(name);
  return value;
}

/* Returns a time as text of RFC 3339. */
static json_t *time_value(int64_t ms) {
  char text[64];
  time_t seconds = (time_t)(ms / 1000);
  struct tm utc;
  size_t len =
      gmtime_r(&seconds, &utc) ? strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) : 0;
  if (!len) return json_null();
  (void)snprintf(text + len, sizeof text - len, ".%03dZ", (int)(ms % 1000));
  return json_string(text);
}

/* Pushes an event. `time_ms`: when it happened; 0: now. */
static int push(const struct pushing *pushing, const char *type, json_t *data, int64_t time_ms) {
  struct tidings_error error = {.size = sizeof error};
  json_t *event = kit_new_event(type, pushing->session, data);
  if (event && time_ms) json_object_set_new(event, "time", time_value(time_ms));
  int32_t code = kit_event(pushing->kit, event, NULL, &error);
  return code ? cli_fail_with(pushing->cli, code, &error) : 0;
}

/* Is the same line pending already? If an edit of the assistant is pending too, this returns false:
 * the line may be about that edit and be withdrawn with it, while this change comes from another
 * program. */
static bool is_pending(const struct pushing *pushing, const char *path, enum file_event_kind kind) {
  const json_t *items = json_object_get(pushing->pending, "items"), *item = NULL;
  char *line = NULL;
  bool found = false, edited = false;
  size_t i = 0;
  if (asprintf(&line, "`%s` was %s externally.", path, kind_names[kind]) < 0) return false;
  json_array_foreach(items, i, item) {
    const char *message = json_value_text(item, "message");
    if (json_object_get(item, "caused_by")) edited = edited || strstr(message, path);
    else found = found || strcmp(message, line) == 0;
  }
  free(line);
  return found && !edited;
}

/* -- bursts that are pending still ------------------------------------------------------------- */

static bool has_message(const json_t *items, const char *message) {
  const json_t *item = NULL;
  size_t i = 0;
  json_array_foreach(items, i, item) {
    if (strcmp(json_value_text(item, "message"), message) == 0) return true;
  }
  return false;
}

/* Forgets bursts that are no longer pending: changes that the session has seen may be reported
 * again. */
static int forget_shown(struct pushing *pushing, struct outbox *outbox) {
  const json_t *items = json_object_get(pushing->pending, "items");
  if (!outbox->pushed_bursts && !(outbox->pushed_bursts = json_array()))
    return cli_fail(pushing->cli, "out of memory");
  for (size_t i = json_array_size(outbox->pushed_bursts); i-- > 0;) {
    if (!has_message(items, json_value_text(json_array_get(outbox->pushed_bursts, i), "message")))
      json_array_remove(outbox->pushed_bursts, i);
  }
  pushing->pushed_bursts = outbox->pushed_bursts;
  return 0;
}

static bool is_in_burst(const struct pushing *pushing, enum file_event_kind kind,
                        const char *path) {
  const json_t *burst = NULL;
  size_t i = 0;
  json_array_foreach(pushing->pushed_bursts, i, burst) {
    if (json_integer_value(json_object_get(burst, "kind")) == (json_int_t)kind &&
        json_object_get(json_object_get(burst, "paths"), path))
      return true;
  }
  return false;
}

/* Remembers a burst. If memory runs out, its files may be reported again. */
static void remember_burst(const struct pushing *pushing, enum file_event_kind kind,
                           const char *message, const json_t *paths) {
  json_t *set = json_object();
  const json_t *path = NULL;
  size_t i = 0;
  json_array_foreach(paths, i, path) json_object_set_new(set, json_string_value(path), json_true());
  json_array_append_new(pushing->pushed_bursts, json_pack("{s:s, s:I, s:o}", "message", message,
                                                          "kind", (json_int_t)kind, "paths", set));
}

static json_t *stamp_value(const struct file_event *event) {
  return event->stamp.text[0] ? json_string(event->stamp.text) : json_null();
}

static int push_one(const struct pushing *pushing, const struct file_event *event) {
  json_t *path = path_value(pushing, event->path);
  if (!path) return cli_fail(pushing->cli, "out of memory");
  if (is_pending(pushing, json_string_value(path), event->kind) ||
      is_in_burst(pushing, event->kind, json_string_value(path))) {
    json_decref(path);
    return 0;
  }
  json_t *data = json_pack("{s:o, s:s}", "path", path, "change", kind_names[event->kind]);
  if (data && event->stamp.text[0]) json_object_set_new(data, "stamp", stamp_value(event));
  return push(pushing, "file.changed", data, event->last_ms);
}

/* Pushes a list of paths. `time_ms`: the time of the earliest change. */
static int push_list(const struct pushing *pushing, enum file_event_kind kind, json_t *paths,
                     json_t *stamps, int64_t time_ms) {
  return push(
      pushing, "file.changed",
      json_pack("{s:O, s:O, s:s}", "paths", paths, "stamps", stamps, "change", kind_names[kind]),
      time_ms);
}

/* Pushes only the number, because nobody would read so many names. */
static int push_count(const struct pushing *pushing, enum file_event_kind kind,
                      const json_t *paths) {
  size_t count = json_array_size(paths), len = 0;
  char *text = NULL;
  FILE *out = open_memstream(&text, &len);
  if (out) fprintf(out, "%zu files were %s externally: ", count, kind_names[kind]);
  for (size_t i = 0; out && i < NAMED; i++)
    fprintf(out, "%s`%s`", i ? ", " : "", json_string_value(json_array_get(paths, i)));
  if (out) fprintf(out, " and %zu more.", count - NAMED);
  if (!out || fclose(out)) {
    free(text);
    return cli_fail(pushing->cli, "out of memory");
  }
  json_t *data = json_pack("{s:s, s:s, s:{s:s, s:I}}", "kind", "file.changed", "message", text,
                           "data", "change", kind_names[kind], "count", (json_int_t)count);
  int code = push(pushing, "notification", data, 0);
  if (!code) remember_burst(pushing, kind, text, paths);
  free(text);
  return code;
}

static int push_burst(const struct pushing *pushing, const struct outbox *outbox,
                      enum file_event_kind kind) {
  json_t *paths = json_array(), *stamps = json_array();
  int64_t first_ms = INT64_MAX;
  int code = 0;
  for (size_t i = 0; !code && i < outbox->count; i++) {
    const struct file_event *event = &outbox->list[i];
    if (event->kind != kind) continue;
    json_t *path = path_value(pushing, event->path);
    if (path && is_in_burst(pushing, kind, json_string_value(path))) {
      json_decref(path);
      continue;
    }
    if (event->first_ms < first_ms) first_ms = event->first_ms;
    if (json_array_append_new(paths, path) || json_array_append_new(stamps, stamp_value(event)))
      code = cli_fail(pushing->cli, "out of memory");
  }
  if (!code && json_array_size(paths))
    code = json_array_size(paths) > LISTED ? push_count(pushing, kind, paths)
                                           : push_list(pushing, kind, paths, stamps, first_ms);
  json_decref(paths);
  json_decref(stamps);
  return code;
}

/* -- in order ---------------------------------------------------------------------------------- */

static void drop_kind(struct outbox *outbox, enum file_event_kind kind) {
  size_t kept = 0;
  for (size_t i = 0; i < outbox->count; i++) {
    if (outbox->list[i].kind != kind) outbox->list[kept++] = outbox->list[i];
    else free(outbox->list[i].path);
  }
  outbox->count = kept;
}

static void drop_first(struct outbox *outbox) {
  free(outbox->list[0].path);
  memmove(outbox->list, outbox->list + 1, --outbox->count * sizeof *outbox->list);
}

static int push_watch_warnings(const struct pushing *pushing, struct outbox *outbox) {
  static const char dropped[] =
      "The file watcher could not keep up and may have missed changes, deleted files above all.";
  static const char too_many[] = "The file watcher cannot watch all new folders: the system's "
                                 "limit is reached (fs.inotify.max_user_watches).";
  static const char format[] = "{s:s, s:s, s:s, s:s}";
  int code = 0;
  if (outbox->dropped)
    code = push(pushing, "notification",
                json_pack(format, "kind", "watch.overflow", "level", "warning", "key",
                          "watch.overflow", "message", dropped),
                0);
  if (!code) outbox->dropped = false;
  if (!code && outbox->too_many)
    code = push(pushing, "notification",
                json_pack(format, "kind", "watch.limit", "level", "warning", "key", "watch.limit",
                          "message", too_many),
                0);
  if (!code) outbox->too_many = false;
  return code;
}

int outbox_push(const struct cli *cli, struct outbox *outbox, const char *session, char **last) {
  struct pushing pushing = {.cli = NULL};
  int code = begin(cli, &pushing, session, last);
  if (!code) code = forget_shown(&pushing, outbox);
  bool burst = outbox->count > ONE_BY_ONE;
  while (!code && !burst && outbox->count) {
    code = push_one(&pushing, &outbox->list[0]);
    if (!code) drop_first(outbox);
  }
  for (int kind = 0; !code && burst && kind < FILE_EVENT_KINDS; kind++) {
    code = push_burst(&pushing, outbox, (enum file_event_kind)kind);
    if (!code) drop_kind(outbox, (enum file_event_kind)kind);
  }
  if (!code) code = push_watch_warnings(&pushing, outbox);
  if (!code) forward(&pushing);
  end(&pushing);
  return code;
}
