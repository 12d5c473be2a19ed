/* SPDX-License-Identifier: MIT
 *
 * agents/setup/hooks.c: our hooks in a host's JSON. All four hosts write them as Claude Code does:
 * {"hooks": {EVENT: [{"matcher", "hooks": [{"type": "command", "command", "timeout"}]}]}}. Ours are
 * known by their command; others are never touched.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/json_text.h"
#include "agents/setup/setup.h"

enum { HOOK_SECONDS = 10, WAIT_SECONDS = 604800 };

/* "/usr/bin/tidings hook codex", however the program is quoted and whatever follows. */
static bool is_ours(const struct host *host, const char *command) {
  char *words = NULL;
  if (!command || asprintf(&words, " hook %s", host->name) < 0) return false;
  const char *found = strstr(command, words);
  bool ours = found && strchr(" ", found[strlen(words)]) && found - command >= 7;
  if (ours) {
    const char *name = found - (found[-1] == '\'' ? 8 : 7);
    ours = name >= command && strncmp(name, "tidings", 7) == 0 &&
           (name == command || strchr("/'", name[-1]));
  }
  free(words);
  return ours;
}

char *setup_command(void) {
  char path[4096], *quoted = NULL;
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  if (len <= 0) return strdup("tidings");
  path[len] = '\0';
  size_t plain =
      strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-");
  if (!path[plain]) return strdup(path);
  size_t size = 0;
  FILE *out = open_memstream(&quoted, &size);
  if (!out) return NULL;
  fputc('\'', out);
  for (const char *at = path; *at; at++) fputs(*at == '\'' ? "'\\''" : (char[]){*at, '\0'}, out);
  fputc('\'', out);
  if (!fclose(out)) return quoted;
  free(quoted);
  return NULL;
}

/* -- what is to be there ----------------------------------------------------------------------- */

/* `option`: " --wait", " --wake" or nothing. */
static json_t *hook_value(const struct host *host, const char *command, const char *option) {
  char *line = NULL;
  bool wait = strcmp(option, " --wait") == 0;
  if (asprintf(&line, "%s hook %s%s", command, host->name, option) < 0) return NULL;
  int seconds = wait ? WAIT_SECONDS : HOOK_SECONDS;
  json_t *hook = json_pack("{s:s, s:s, s:i}", "type", "command", "command", line, "timeout",
                           seconds * (int)host->timeout_unit);
  if (hook && wait) json_object_set_new(hook, "asyncRewake", json_true());
  free(line);
  return hook;
}

static json_t *group_value(const struct host *host, const struct host_hook *hook,
                           const char *command, bool wake) {
  json_t *group = json_object(), *hooks = json_array();
  bool failed = !group || !hooks;
  if (hook->matcher)
    failed |= json_object_set_new(group, "matcher", json_string(hook->matcher)) != 0;
  wake = wake && hook->moment == HOOK_STOP;
  failed |= json_array_append_new(
                hooks, hook_value(host, command, wake && host->queues ? " --wake" : "")) != 0;
  if (wake && host->rewakes)
    failed |= json_array_append_new(hooks, hook_value(host, command, " --wait")) != 0;
  failed |= json_object_set_new(group, "hooks", hooks) != 0;
  if (!failed) return group;
  json_decref(group);
  return NULL;
}

/* -- what is there ----------------------------------------------------------------------------- */

static bool hook_is_ours(const struct json_text *json, const struct host *host,
                         const struct json_node *hook) {
  json_t *value = json_text_value(json, hook);
  bool ours = is_ours(host, json_string_value(json_object_get(value, "command")));
  json_decref(value);
  return ours;
}

struct place {
  const struct json_node *event, *group, *hooks;
  size_t event_index, group_index, hook_index;
};

/* The first hook of ours, under any event. */
static bool find_ours(const struct json_text *json, const struct host *host,
                      struct place *ret_place) {
  const struct json_node *all = json_text_member(json, json->root, "hooks");
  for (size_t e = 0; all && all->kind == '{' && e < all->part_count; e++) {
    const struct json_node *event = &all->parts[e];
    for (size_t g = 0; event->kind == '[' && g < event->part_count; g++) {
      const struct json_node *hooks = json_text_member(json, &event->parts[g], "hooks");
      for (size_t h = 0; hooks && hooks->kind == '[' && h < hooks->part_count; h++) {
        if (!hook_is_ours(json, host, &hooks->parts[h])) continue;
        *ret_place = (struct place){event, &event->parts[g], hooks, e, g, h};
        return true;
      }
    }
  }
  return false;
}

/* With what would be empty without it. */
static int remove_ours(struct json_text *json, const struct place *place) {
  const struct json_node *all = json_text_member(json, json->root, "hooks");
  if (place->hooks->part_count > 1) return json_text_remove(json, place->hooks, place->hook_index);
  if (place->event->part_count > 1) return json_text_remove(json, place->event, place->group_index);
  if (all->part_count > 1) return json_text_remove(json, all, place->event_index);
  return json_text_remove(json, json->root, (size_t)(all - json->root->parts));
}

static size_t count_ours(const struct json_text *json, const struct host *host,
                         const struct json_node *event) {
  size_t count = 0;
  for (size_t g = 0; event && event->kind == '[' && g < event->part_count; g++) {
    const struct json_node *hooks = json_text_member(json, &event->parts[g], "hooks");
    for (size_t h = 0; hooks && hooks->kind == '[' && h < hooks->part_count; h++)
      count += hook_is_ours(json, host, &hooks->parts[h]);
  }
  return count;
}

/* Each event of ours has exactly our group, and no other event has a hook of ours. */
static bool is_done(const struct json_text *json, const struct host *host, const char *command,
                    bool wake) {
  const struct json_node *all = json_text_member(json, json->root, "hooks");
  size_t wanted = 0, found = 0;
  for (size_t e = 0; all && all->kind == '{' && e < all->part_count; e++)
    found += count_ours(json, host, &all->parts[e]);
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    const struct json_node *event = json_text_member(json, all, hook->event);
    json_t *group = group_value(host, hook, command, wake);
    bool there = false;
    for (size_t g = 0; event && g < event->part_count; g++) {
      json_t *value = json_text_value(json, &event->parts[g]);
      there = there || json_equal(value, group);
      json_decref(value);
    }
    wanted += json_array_size(json_object_get(group, "hooks"));
    json_decref(group);
    if (!there) return false;
  }
  return wanted == found;
}

enum setup_state setup_hooks_state(const struct host *host, const char *command, const char *text,
                                   char **ret_problem) {
  struct json_text json;
  struct place place;
  if (!text) return SETUP_NONE;
  if (json_text_read(text, &json, ret_problem)) return SETUP_UNREADABLE;
  enum setup_state state = find_ours(&json, host, &place) ? SETUP_OTHER : SETUP_NONE;
  if (state && (is_done(&json, host, command, true) || is_done(&json, host, command, false)))
    state = SETUP_DONE;
  json_text_finish(&json);
  return state;
}

/* -- changing ---------------------------------------------------------------------------------- */

static int add_group(struct json_text *json, const struct host *host, const struct host_hook *hook,
                     const char *command, bool wake) {
  json_t *group = group_value(host, hook, command, wake);
  char *text = group ? json_dumps(group, 0) : NULL, *list = NULL;
  const struct json_node *all = json_text_member(json, json->root, "hooks"),
                         *event = json_text_member(json, all, hook->event);
  int failed = text ? 0 : -1;
  if (!failed && event) failed = json_text_add(json, event, NULL, text);
  else if (!failed)
    failed = asprintf(&list, "[%s]", text) < 0 ? -1 : json_text_add(json, all, hook->event, list);
  json_decref(group);
  free(text);
  free(list);
  return failed;
}

static int add_all(struct json_text *json, const struct host *host, const char *command,
                   bool wake) {
  if (!json_text_member(json, json->root, "hooks") &&
      json_text_add(json, json->root, "hooks", "{}"))
    return -1;
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    if (add_group(json, host, hook, command, wake)) return -1;
  }
  return 0;
}

/* The members that we are to add to are what they must be. */
static int check_shape(const struct cli *cli, const struct host *host, const struct json_text *json,
                       const char *path) {
  const struct json_node *all = json_text_member(json, json->root, "hooks");
  if (json->root && json->root->kind != '{')
    return cli_fail(cli, "%s: expected a JSON object", path);
  if (all && all->kind != '{') return cli_fail(cli, "%s: hooks: expected an object", path);
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    const struct json_node *event = json_text_member(json, all, hook->event);
    if (event && event->kind != '[')
      return cli_fail(cli, "%s: hooks.%s: expected a list", path, hook->event);
  }
  return 0;
}

static int edit(const struct host *host, const char *command, bool wake, struct json_text *json) {
  struct place place;
  if (command && is_done(json, host, command, wake)) return 0;
  while (find_ours(json, host, &place)) {
    if (remove_ours(json, &place)) return -1;
  }
  return command ? add_all(json, host, command, wake) : 0;
}

int setup_hooks(const struct cli *cli, const struct host *host, const char *command, bool wake,
                struct change *change) {
  struct json_text json;
  char *problem = NULL;
  const char *text = change->after ? change->after : "";
  bool blank = !text[strspn(text, " \t\r\n")];
  if (blank && !command) return 0;
  if (json_text_read(blank ? "{}\n" : text, &json, &problem)) {
    int code = cli_fail(cli, "%s: %s; nothing was changed", change->path,
                        problem ? problem : "out of memory");
    free(problem);
    return code;
  }
  if (!json.root) {
    json_text_finish(&json);
    return cli_fail(cli, "%s: holds comments only; expected a JSON object", change->path);
  }
  struct place place;
  int code = check_shape(cli, host, &json, change->path);
  change->has_ours = !code && find_ours(&json, host, &place);
  if (!code && edit(host, command, wake, &json)) code = cli_fail(cli, "out of memory");
  if (!code && strcmp(text, json.text) != 0) {
    char *done = json.text;
    json.text = NULL;
    if (!command) code = change_to_rest(cli, change, done, !json.root->part_count);
    else {
      free(change->after);
      change->after = done;
    }
  }
  json_text_finish(&json);
  return code;
}
