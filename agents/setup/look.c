/* SPDX-License-Identifier: MIT
 *
 * agents/setup/look.c: finds the hooks of tidings in a host's JSON, event by event, whichever
 * program they name. It changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/json_text.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"

struct looking {
  const struct host *host;
  const json_t *events; /* the member "hooks" */
  struct setup_wish wish;
  struct setup_look *look;
};

/* Finds the program in "test -x '/a b/tidings' && exec '/a b/tidings' hook codex": the word before
 * " hook codex", as a shell reads it. */
static char *program_of(const struct host *host, const char *line) {
  char *words = NULL, *program = NULL;
  if (asprintf(&words, " hook %s", host->name) < 0) return NULL;
  const char *end = strstr(line, words), *start = end > line ? end - 1 : NULL;
  bool quoted = start && *start == '\'';
  while (start && start > line && strncmp(start, quoted ? " '" : " ", quoted ? 2 : 1) != 0) start--;
  if (start && *start == ' ') start++;
  program = start ? setup_unquote(start, (size_t)(end - start)) : NULL;
  free(words);
  return program;
}

/* Finds the store: the word after its option, up to the next blank, because a URL has none. */
static char *store_of(const char *line) {
  const char *at = strstr(line, SETUP_STORE_OPTION);
  if (!at) return NULL;
  at += sizeof SETUP_STORE_OPTION - 1;
  return setup_unquote(at, strcspn(at, " "));
}

/* Adds a name to a list such as "PostToolUse, Stop". */
static void add_name(char **list, const char *name) {
  char *longer = NULL;
  if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ", " : "", name) < 0) return;
  free(*list);
  *list = longer;
}

static void note_hook(const struct looking *looking, const char *line) {
  struct setup_look *look = looking->look;
  char *program = program_of(looking->host, line);
  if (strstr(line, " --wait") || strstr(line, " --wake")) look->wakes = true;
  if (!look->program) {
    look->program = program;
    look->store = store_of(line);
  } else if (program && !look->other && strcmp(program, look->program) != 0) {
    look->other = program;
  } else {
    free(program);
  }
}

/* Counts the hooks of tidings under an event. `notes`: notes the programs and stores that they
 * name. */
static size_t look_over(const struct looking *looking, const json_t *groups, bool notes) {
  const json_t *group = NULL, *hook = NULL;
  size_t count = 0, i = 0, k = 0;
  json_array_foreach(groups, i, group) {
    json_array_foreach(json_object_get(group, "hooks"), k, hook) {
      const char *line = json_value_text(hook, "command");
      if (!setup_is_our_hook(looking->host, line)) continue;
      if (notes) note_hook(looking, line);
      count++;
    }
  }
  return count;
}

static bool is_heard_without(const struct host *host, const struct host_hook *hook) {
  enum hook_moment moment = hook->moment;
  bool wakes = host->scheduler && strcmp(hook->event, host->scheduler->event) == 0;
  return wakes || (moment != HOOK_PROMPT && moment != HOOK_AFTER_TOOL && moment != HOOK_STOP);
}

/* Notes whether the event is exactly as setup writes it. */
static void compare_event(const struct looking *looking, const struct host_hook *hook) {
  struct setup_look *look = looking->look;
  const json_t *groups = json_object_get(looking->events, hook->event), *group = NULL;
  json_t *expected = setup_hook_group(looking->host, hook, &looking->wish);
  size_t count = look_over(looking, groups, false), i = 0;
  bool there = false;
  json_array_foreach(groups, i, group) there = there || json_equal(group, expected);
  if (!count) {
    add_name(&look->missing, hook->event);
    look->is_deaf = look->is_deaf || !is_heard_without(looking->host, hook);
  } else if (count > json_array_size(json_object_get(expected, "hooks"))) {
    add_name(&look->twice, hook->event);
  } else if (!there) {
    add_name(&look->edited, hook->event);
  }
  json_decref(expected);
}

static void compare_all(struct looking *looking) {
  struct setup_look *look = looking->look;
  char *command = setup_quote(look->program);
  const char *event = NULL;
  json_t *groups = NULL;
  looking->wish = (struct setup_wish){command, look->store, look->wakes};
  for (const struct host_hook *hook = looking->host->hooks; command && hook->event; hook++)
    compare_event(looking, hook);
  json_object_foreach((json_t *)(uintptr_t)looking->events, event, groups) {
    if (look_over(looking, groups, false) && host_moment(looking->host, event) == HOOK_OTHER)
      add_name(&look->edited, event);
  }
  free(command);
}

struct setup_look setup_look_at(const struct host *host, const char *text) {
  struct setup_look look = {.state = SETUP_NONE};
  struct json_text json;
  struct looking looking = {.host = host, .look = &look};
  const char *event = NULL;
  json_t *groups = NULL;
  if (!text || !text[strspn(text, " \t\r\n")]) return look;
  if (json_text_read(text, &json, &look.problem)) {
    look.state = SETUP_UNREADABLE;
    return look;
  }
  json_t *root = json.root ? json_value_of(json.root) : NULL;
  looking.events = json_object_get(root, "hooks");
  json_object_foreach((json_t *)(uintptr_t)looking.events, event, groups) {
    (void)look_over(&looking, groups, true);
  }
  if (look.program) {
    compare_all(&looking);
    look.state = !setup_is_there(look.program)                ? SETUP_GONE
                 : look.missing || look.edited || look.twice  ? SETUP_PARTLY
                 : setup_is_this(look.program) && !look.other ? SETUP_DONE
                                                              : SETUP_OTHER;
  }
  json_decref(root);
  json_text_finish(&json);
  return look;
}

void setup_look_finish(struct setup_look *look) {
  free(look->problem);
  free(look->program);
  free(look->other);
  free(look->store);
  free(look->missing);
  free(look->edited);
  free(look->twice);
  *look = (struct setup_look){.state = SETUP_NONE};
}
