/* SPDX-License-Identifier: MIT
 *
 * watch/tell.c: pushing what the outbox holds. A few files are pushed one by one, so that the
 * assistant's own edits among them can be withdrawn; a burst is pushed as one. What is still
 * pending in the session is not pushed a second time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/watch/outbox.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session.h"
#include "command/session_path.h"
#include "common/utf8.h"

enum { ONE_BY_ONE = 8, LISTED = 100, NAMED = 20 };

static const char *const kind_names[NEWS_KINDS] = {"modified", "created", "deleted", "renamed"};

struct telling {
  const struct cli *cli;
  struct hostkit *kit;
  char *session;
  char *cwd; /* the session's folder; "": not known */
  json_t *pending;
  json_t *told; /* the outbox's: those of its bursts that are pending still */
};

/* -- to whom ----------------------------------------------------------------------------------- */

/* Quietly: while no host runs here, the last one may come back. */
static int choose(const struct cli *cli, struct telling *telling, const char *session,
                  char **last) {
  if (session) {
    telling->session = strdup(session);
    return telling->session ? 0 : cli_fail(cli, "out of memory");
  }
  int code = session_used_last_here(cli, telling->kit, &telling->session);
  if (!code && !telling->session && *last) telling->session = strdup(*last);
  if (code || !telling->session)
    return code ? code : cli_fail(cli, "no running session works in this folder");
  char *copy = strdup(telling->session);
  if (copy) {
    free(*last);
    *last = copy;
  }
  return 0;
}

static int ask_store(const struct telling *telling, const char *name, json_t **ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  json_t *request = json_pack("{s:s, s:s}", "name", name, "session", telling->session);
  if (request && strcmp(name, "pending") == 0)
    json_object_set_new(request, "limit", json_integer(10000));
  int32_t code = kit_query(telling->kit, request, ret_answer, &error);
  return code ? cli_fail_with(telling->cli, code, &error) : 0;
}

static int begin(const struct cli *cli, struct telling *telling, const char *session, char **last) {
  json_t *status = NULL;
  telling->cli = cli;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &telling->kit);
  if (!code) code = choose(cli, telling, session, last);
  if (!code) project_lay_here(cli, telling->kit, telling->session);
  if (!code) code = ask_store(telling, "status", &status);
  if (!code) code = ask_store(telling, "pending", &telling->pending);
  if (!code &&
      !(telling->cwd = strdup(json_value_text(json_object_get(status, "attachment"), "cwd"))))
    code = cli_fail(cli, "out of memory");
  json_decref(status);
  return code;
}

static void end(struct telling *telling) {
  json_decref(telling->pending);
  kit_close(telling->kit);
  free(telling->session);
  free(telling->cwd);
}

/* -- what -------------------------------------------------------------------------------------- */

/* A path as JSON wants it: UTF-8. */
static json_t *path_value(const struct telling *telling, const char *path) {
  char *name = session_path(telling->cwd, path);
  struct buffer text = BUFFER_EMPTY;
  if (name) utf8_repair(span_text(name), &text);
  json_t *value = name && !text.failed ? json_stringn(text.len ? text.bytes : "", text.len) : NULL;
  buffer_free(&text);
  free(name);
  return value;
}

/* By RFC 3339. */
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

/* `time_ms`: when it happened; 0: now. */
static int push(const struct telling *telling, const char *type, json_t *data, int64_t time_ms) {
  struct tidings_error error = {.size = sizeof error};
  json_t *event = kit_new_event(type, telling->session, data);
  if (event && time_ms) json_object_set_new(event, "time", time_value(time_ms));
  int32_t code = kit_event(telling->kit, event, NULL, &error);
  return code ? cli_fail_with(telling->cli, code, &error) : 0;
}

/* The same line is pending already. Unless an edit of the assistant's own is: then that line may be
 * the same edit, and be withdrawn with it, and this the change of somebody else. */
static bool is_pending(const struct telling *telling, const char *path, enum news_kind kind) {
  const json_t *items = json_object_get(telling->pending, "items"), *item = NULL;
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

/* What the session has seen since may be reported again. */
static int forget_shown(struct telling *telling, struct outbox *outbox) {
  const json_t *items = json_object_get(telling->pending, "items");
  if (!outbox->told && !(outbox->told = json_array()))
    return cli_fail(telling->cli, "out of memory");
  for (size_t i = json_array_size(outbox->told); i-- > 0;) {
    if (!has_message(items, json_value_text(json_array_get(outbox->told, i), "message")))
      json_array_remove(outbox->told, i);
  }
  telling->told = outbox->told;
  return 0;
}

static bool is_in_burst(const struct telling *telling, enum news_kind kind, const char *path) {
  const json_t *burst = NULL;
  size_t i = 0;
  json_array_foreach(telling->told, i, burst) {
    if (json_integer_value(json_object_get(burst, "kind")) == (json_int_t)kind &&
        json_object_get(json_object_get(burst, "paths"), path))
      return true;
  }
  return false;
}

/* Without memory for it they are reported again. */
static void remember_burst(const struct telling *telling, enum news_kind kind, const char *message,
                           const json_t *paths) {
  json_t *set = json_object();
  const json_t *path = NULL;
  size_t i = 0;
  json_array_foreach(paths, i, path) json_object_set_new(set, json_string_value(path), json_true());
  json_array_append_new(telling->told, json_pack("{s:s, s:I, s:o}", "message", message, "kind",
                                                 (json_int_t)kind, "paths", set));
}

static json_t *stamp_value(const struct news *news) {
  return news->stamp.text[0] ? json_string(news->stamp.text) : json_null();
}

static int tell_one(const struct telling *telling, const struct news *news) {
  json_t *path = path_value(telling, news->path);
  if (!path) return cli_fail(telling->cli, "out of memory");
  if (is_pending(telling, json_string_value(path), news->kind) ||
      is_in_burst(telling, news->kind, json_string_value(path))) {
    json_decref(path);
    return 0;
  }
  json_t *data = json_pack("{s:o, s:s}", "path", path, "change", kind_names[news->kind]);
  if (data && news->stamp.text[0]) json_object_set_new(data, "stamp", stamp_value(news));
  return push(telling, "file.changed", data, news->last_ms);
}

/* `time_ms`: of the earliest of the changes. */
static int tell_list(const struct telling *telling, enum news_kind kind, json_t *paths,
                     json_t *stamps, int64_t time_ms) {
  return push(
      telling, "file.changed",
      json_pack("{s:O, s:O, s:s}", "paths", paths, "stamps", stamps, "change", kind_names[kind]),
      time_ms);
}

/* More than is worth reading. */
static int tell_count(const struct telling *telling, enum news_kind kind, const json_t *paths) {
  size_t count = json_array_size(paths), len = 0;
  char *text = NULL;
  FILE *out = open_memstream(&text, &len);
  if (out) fprintf(out, "%zu files were %s externally: ", count, kind_names[kind]);
  for (size_t i = 0; out && i < NAMED; i++)
    fprintf(out, "%s`%s`", i ? ", " : "", json_string_value(json_array_get(paths, i)));
  if (out) fprintf(out, " and %zu more.", count - NAMED);
  if (!out || fclose(out)) {
    free(text);
    return cli_fail(telling->cli, "out of memory");
  }
  json_t *data = json_pack("{s:s, s:s, s:{s:s, s:I}}", "kind", "file.changed", "message", text,
                           "data", "change", kind_names[kind], "count", (json_int_t)count);
  int code = push(telling, "notification", data, 0);
  if (!code) remember_burst(telling, kind, text, paths);
  free(text);
  return code;
}

static int tell_burst(const struct telling *telling, const struct outbox *outbox,
                      enum news_kind kind) {
  json_t *paths = json_array(), *stamps = json_array();
  int64_t first_ms = INT64_MAX;
  int code = 0;
  for (size_t i = 0; !code && i < outbox->count; i++) {
    const struct news *news = &outbox->list[i];
    if (news->kind != kind) continue;
    json_t *path = path_value(telling, news->path);
    if (path && is_in_burst(telling, kind, json_string_value(path))) {
      json_decref(path);
      continue;
    }
    if (news->first_ms < first_ms) first_ms = news->first_ms;
    if (json_array_append_new(paths, path) || json_array_append_new(stamps, stamp_value(news)))
      code = cli_fail(telling->cli, "out of memory");
  }
  if (!code && json_array_size(paths))
    code = json_array_size(paths) > LISTED ? tell_count(telling, kind, paths)
                                           : tell_list(telling, kind, paths, stamps, first_ms);
  json_decref(paths);
  json_decref(stamps);
  return code;
}

/* -- in order ---------------------------------------------------------------------------------- */

static void drop_kind(struct outbox *outbox, enum news_kind kind) {
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

static int tell_trouble(const struct telling *telling, struct outbox *outbox) {
  static const char dropped[] =
      "The file watcher could not keep up and may have missed changes, deleted files above all.";
  static const char too_many[] = "The file watcher cannot watch all new folders: the system's "
                                 "limit is reached (fs.inotify.max_user_watches).";
  static const char format[] = "{s:s, s:s, s:s, s:s}";
  int code = 0;
  if (outbox->dropped)
    code = push(telling, "notification",
                json_pack(format, "kind", "watch.overflow", "level", "warning", "key",
                          "watch.overflow", "message", dropped),
                0);
  if (!code) outbox->dropped = false;
  if (!code && outbox->too_many)
    code = push(telling, "notification",
                json_pack(format, "kind", "watch.limit", "level", "warning", "key", "watch.limit",
                          "message", too_many),
                0);
  if (!code) outbox->too_many = false;
  return code;
}

int outbox_tell(const struct cli *cli, struct outbox *outbox, const char *session, char **last) {
  struct telling telling = {.cli = NULL};
  int code = begin(cli, &telling, session, last);
  if (!code) code = forget_shown(&telling, outbox);
  bool burst = outbox->count > ONE_BY_ONE;
  while (!code && !burst && outbox->count) {
    code = tell_one(&telling, &outbox->list[0]);
    if (!code) drop_first(outbox);
  }
  for (int kind = 0; !code && burst && kind < NEWS_KINDS; kind++) {
    code = tell_burst(&telling, outbox, (enum news_kind)kind);
    if (!code) drop_kind(outbox, (enum news_kind)kind);
  }
  if (!code) code = tell_trouble(&telling, outbox);
  end(&telling);
  return code;
}
