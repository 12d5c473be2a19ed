/* SPDX-License-Identifier: MIT
 *
 * agents/setup/hooks.c: our hooks in a host's JSON. All hosts write them as Claude Code does:
 * {"hooks": {EVENT: [{"matcher", "hooks": [{"type": "command", "command", "timeout"}]}]}}. Ours are
 * known by their command; others are never touched.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/json_text.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"

enum { HOOK_SECONDS = 10, END_SECONDS = 3, WAIT_SECONDS = 604800 };

/* Recognizes "/usr/bin/tidings hook codex", with any quotes around the program and any words after
 * it. */
bool setup_is_our_hook(const struct host *host, const char *command) {
  char *words = NULL;
  if (!command || asprintf(&words, " hook %s", host->name) < 0) return false;
  const char *found = strstr(command, words);
  bool ours = found && strchr(" ", found[strlen(words)]) && found - command >= 7;
  if (ours) {
    const char *name = found - (found[-1] == '\'' ? 8 : 7);
    ours = name >= command && strncmp(name, "tidings", 7) == 0 &&
           (name == command || strchr(" /'", name[-1]));
  }
  free(words);
  return ours;
}

/* -- what is to be there ----------------------------------------------------------------------- */

/* Codex warns about more than three seconds for a hook at an end. */
static int seconds_of(const struct host_hook *hook) {
  bool ends = hook->moment == HOOK_INTERRUPTED || hook->moment == HOOK_SESSION_END;
  return ends ? END_SECONDS : HOOK_SECONDS;
}

/* Codex warns about a limit for a hook whose context it ignores. */
static bool shows_context(const struct host_hook *hook) {
  return hook->moment == HOOK_SESSION_START || hook->moment == HOOK_PROMPT ||
         hook->moment == HOOK_AFTER_TOOL;
}

/* `option`: " --wait", " --wake" or nothing. `raised`: its answers may be as long as the host's
 * context_limit. */
static json_t *hook_value(const struct host *host, const struct host_hook *hook,
                          const struct setup_wish *wish, const char *option, bool raised) {
  char *line = NULL, *store = wish->store ? setup_quote(wish->store) : NULL, room[32] = "";
  const char *command = wish->command;
  bool wait = strcmp(option, " --wait") == 0, by_path = strcmp(command, SETUP_BY_PATH) == 0;
  /* The hook must succeed without the program, because some agents stop when a hook fails. */
  const char *otherwise = wait ? ":" : "echo {}";
  if (raised) snprintf(room, sizeof room, " --room %zu", host->context_room);
  int len = wish->store && !store ? -1
                                  : asprintf(&line, "%s %s%s && exec %s hook %s%s%s%s%s || %s",
                                             by_path ? "command -v" : "test -x", command,
                                             by_path ? " >/dev/null" : "", command, host->name,
                                             store ? SETUP_STORE_OPTION : "", store ? store : "",
                                             option, room, otherwise);
  free(store);
  if (len < 0) return NULL;
  int seconds = wait ? WAIT_SECONDS : seconds_of(hook);
  json_t *value = json_pack("{s:s, s:s, s:i}", "type", "command", "command", line, "timeout",
                            seconds * (int)host->timeout_unit);
  if (value && host->hook_name) json_object_set_new(value, "name", json_string(host->hook_name));
  if (value && wait) json_object_set_new(value, "asyncRewake", json_true());
  if (value && raised)
    json_object_set_new(value, "additionalContextLimit",
                        json_integer((json_int_t)host->context_limit));
  free(line);
  return value;
}

json_t *setup_hook_group(const struct host *host, const struct host_hook *hook,
                         const struct setup_wish *wish) {
  json_t *group = json_object(), *hooks = json_array();
  bool failed = !group || !hooks;
  if (hook->matcher)
    failed |= json_object_set_new(group, "matcher", json_string(hook->matcher)) != 0;
  bool raised = host->context_limit && shows_context(hook);
  const char *waker = wish->wake && hook->waits && host_is_woken_apart(host) ? " --wake" : "";
  failed |= json_array_append_new(hooks, hook_value(host, hook, wish, waker, raised)) != 0;
  if (wish->wake && hook->waits && host->rewakes)
    failed |= json_array_append_new(hooks, hook_value(host, hook, wish, " --wait", false)) != 0;
  failed |= json_object_set_new(group, "hooks", hooks) != 0;
  if (!failed) return group;
  json_decref(group);
  return NULL;
}

/* -- what is there ----------------------------------------------------------------------------- */

static bool is_kind(const struct json *value, enum json_kind kind) {
  return value && value->kind == kind;
}

/* Returns the first member or element if `value` is of that kind. */
static const struct json *first_of(const struct json *value, enum json_kind kind) {
  return is_kind(value, kind) ? value->members : NULL;
}

static bool hook_is_ours(const struct host *host, const struct json *hook) {
  const struct json *command = json_member(hook, "command");
  return is_kind(command, JSON_IS_STRING) && setup_is_our_hook(host, command->text.ptr);
}

static const struct json *first_hook(const struct json *group) {
  return first_of(json_member(group, "hooks"), JSON_IS_ARRAY);
}

/* Finds our first hook under an event, outside of the group `except`; NULL: there is none. */
static const struct json *find_in_event(const struct host *host, const struct json *event,
                                        const struct json *except) {
  for (const struct json *group = first_of(event, JSON_IS_ARRAY); group; group = group->next) {
    for (const struct json *hook = group == except ? NULL : first_hook(group); hook;
         hook = hook->next) {
      if (hook_is_ours(host, hook)) return hook;
    }
  }
  return NULL;
}

static bool has_only_ours(const struct host *host, const struct json *group) {
  const struct json *hook = first_hook(group);
  while (hook && hook_is_ours(host, hook)) hook = hook->next;
  return first_hook(group) && !hook;
}

/* Finds the group that our new one replaces at the same place, because an agent may know others'
 * groups by their number. NULL: there is none, or the event is not ours. */
static const struct json *find_replaced(const struct json_text *json, const struct host *host,
                                        const struct json *event) {
  const struct json *all = json_member(json->root, "hooks"),
                    *group = first_of(event, JSON_IS_ARRAY);
  const struct host_hook *hook = host->hooks;
  while (hook->event && (!event || json_member(all, hook->event) != event)) hook++;
  while (group && !has_only_ours(host, group)) group = group->next;
  return hook->event ? group : NULL;
}

/* Finds our first hook under any event, also in a repeated member "hooks", of which hosts know only
 * the last. `spare`: only a hook that is not to be replaced. */
static const struct json *find_ours(const struct json_text *json, const struct host *host,
                                    bool spare) {
  const struct json *found = NULL, *all = first_of(json->root, JSON_IS_OBJECT);
  for (; all && !found; all = all->next) {
    const struct json *event = first_of(all, JSON_IS_OBJECT);
    if (!span_is(all->key, "hooks")) continue;
    for (; event && !found; event = event->next)
      found = find_in_event(host, event, spare ? find_replaced(json, host, event) : NULL);
  }
  return found;
}

/* Is there another member of the same name, which may count when this one is removed? */
static bool hides_another(const struct json *member) {
  size_t count = 0;
  for (const struct json *other = member->parent->members; other; other = other->next)
    count += span_equal(other->key, member->key);
  return count > 1;
}

/* Removes the hook, and what would be empty without it: its list, its group, its event's list, all
 * hooks. */
static int remove_ours(struct json_text *json, const struct json *hook) {
  const struct json *hooks = hook->parent, *group = hooks->parent, *event = group->parent,
                    *all = event->parent;
  if (hooks->count > 1) return json_text_remove(json, hook);
  if (event->count > 1 || hides_another(event)) return json_text_remove(json, group);
  return json_text_remove(json, all->count > 1 || hides_another(all) ? event : all);
}

static size_t count_our_hooks(const struct host *host, const struct json *event) {
  size_t count = 0;
  for (const struct json *group = first_of(event, JSON_IS_ARRAY); group; group = group->next) {
    for (const struct json *hook = first_hook(group); hook; hook = hook->next)
      count += hook_is_ours(host, hook);
  }
  return count;
}

/* Does each of our events have exactly our group, and no other event a hook of ours? */
static bool is_done(const struct json_text *json, const struct host *host,
                    const struct setup_wish *wish) {
  const struct json *all = json_member(json->root, "hooks"), *event;
  size_t wanted = 0, found = 0;
  for (event = first_of(all, JSON_IS_OBJECT); event; event = event->next)
    found += count_our_hooks(host, event);
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    json_t *ours = setup_hook_group(host, hook, wish);
    bool there = false;
    event = json_member(all, hook->event);
    for (const struct json *group = event ? event->members : NULL; group; group = group->next) {
      json_t *value = json_value_of(group);
      there = there || json_equal(value, ours);
      json_decref(value);
    }
    wanted += json_array_size(json_object_get(ours, "hooks"));
    json_decref(ours);
    if (!there) return false;
  }
  return wanted == found;
}

/* -- changing ---------------------------------------------------------------------------------- */

/* Replaces a group, unless it is right already. */
static int replace_group(struct json_text *json, const struct json *old, const json_t *group,
                         const char *text) {
  json_t *value = json_value_of(old);
  bool same = json_equal(value, group);
  json_decref(value);
  return same ? 0 : json_text_replace(json, old, text);
}

static int put_group(struct json_text *json, const struct host *host, const struct host_hook *hook,
                     const struct setup_wish *wish) {
  json_t *group = setup_hook_group(host, hook, wish);
  char *text = group ? json_dumps(group, 0) : NULL, *list = NULL;
  const struct json *all = json_member(json->root, "hooks"), *event = json_member(all, hook->event),
                    *old = find_replaced(json, host, event);
  int failed = text ? 0 : -1;
  if (!failed && old) failed = replace_group(json, old, group, text);
  else if (!failed && event) failed = json_text_add(json, event, NULL, text);
  else if (!failed)
    failed = asprintf(&list, "[%s]", text) < 0 ? -1 : json_text_add(json, all, hook->event, list);
  json_decref(group);
  free(text);
  free(list);
  return failed;
}

static int put_all(struct json_text *json, const struct host *host, const struct setup_wish *wish) {
  if (!json_member(json->root, "hooks") && json_text_add(json, json->root, "hooks", "{}"))
    return -1;
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    if (put_group(json, host, hook, wish)) return -1;
  }
  return 0;
}

/* Checks the types of the members to which hooks are added. */
static int check_shape(const struct cli *cli, const struct host *host, const struct json_text *json,
                       const char *path) {
  const struct json *all = json_member(json->root, "hooks");
  if (json->root && !is_kind(json->root, JSON_IS_OBJECT))
    return cli_fail(cli, "%s: expected a JSON object", path);
  if (all && !is_kind(all, JSON_IS_OBJECT))
    return cli_fail(cli, "%s: hooks: expected an object", path);
  for (const struct host_hook *hook = host->hooks; hook->event; hook++) {
    const struct json *event = json_member(all, hook->event);
    if (event && !is_kind(event, JSON_IS_ARRAY))
      return cli_fail(cli, "%s: hooks.%s: expected a list", path, hook->event);
  }
  return 0;
}

static int edit_hooks(const struct host *host, const struct setup_wish *wish,
                      struct json_text *json) {
  if (wish->command && is_done(json, host, wish)) return 0;
  for (const struct json *hook; (hook = find_ours(json, host, wish->command));) {
    if (remove_ours(json, hook)) return -1;
  }
  return wish->command ? put_all(json, host, wish) : 0;
}

/* Returns the text after setup and --remove, which lacks empty lists and objects that a person has
 * left. Free it; NULL: unknown. */
static char *hooks_passed_by(const struct host *host, const char *text) {
  static const struct setup_wish put = {.command = "tidings"}, take = {.command = NULL};
  struct json_text json;
  char *rest = NULL, *problem = NULL;
  if (json_text_read(text, &json, &problem)) {
    free(problem);
    return NULL;
  }
  if (json.root && !edit_hooks(host, &put, &json) && !edit_hooks(host, &take, &json))
    rest = strdup(json.text);
  json_text_finish(&json);
  return rest;
}

int setup_hooks(const struct cli *cli, const struct host *host, const struct setup_wish *wish,
                struct change *change) {
  struct json_text json;
  char *problem = NULL;
  const char *text = change->after ? change->after : "";
  bool blank = !text[strspn(text, " \t\r\n")];
  if (blank && !wish->command) return 0;
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
  int code = check_shape(cli, host, &json, change->path);
  change->has_ours = !code && find_ours(&json, host, false);
  if (!code && edit_hooks(host, wish, &json)) code = cli_fail(cli, "out of memory");
  if (!code && strcmp(text, json.text) != 0) {
    char *done = json.text;
    json.text = NULL;
    if (!wish->command) {
      char *saved = change_saved(change);
      change->saved_rest = saved ? hooks_passed_by(host, saved) : NULL;
      free(saved);
      code = change_to_rest(cli, change, done, !json.root->count);
    } else {
      free(change->after);
      change->after = done;
    }
  }
  json_text_finish(&json);
  return code;
}
