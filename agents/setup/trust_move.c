/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_move.c: Codex knows a hook that it trusts by its place in hooks.json. When
 * setup changes that file, hooks of others may get another place: their entries move with them, or
 * Codex would silently skip them. Entries of our removed hooks are removed.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/json_text.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"

struct moving {
  const struct host *host;
  const char *path;  /* the path of hooks.json */
  json_t *old, *new; /* its events, before and after */
  json_t *moves;     /* maps keys to new keys; null removes the entry */
  struct setup_moves counts;
};

static json_t *events_of(const char *text) {
  struct json_text json;
  char *problem = NULL;
  if (!text || json_text_read(text, &json, &problem)) {
    free(problem);
    return NULL;
  }
  json_t *root = json.root ? json_value_of(json.root) : NULL,
         *events = json_incref(json_object_get(root, "hooks"));
  json_decref(root);
  json_text_finish(&json);
  return events;
}

/* -- places ------------------------------------------------------------------------------------ */

static const json_t *hook_at(const json_t *groups, const struct setup_place *place) {
  return json_array_get(json_object_get(json_array_get(groups, place->group), "hooks"),
                        place->hook);
}

static bool is_hook_of_tidings(const struct moving *moving, const json_t *hook) {
  return setup_is_our_hook(moving->host, json_value_text(hook, "command"));
}

/* Counts the hooks of others before this one. */
static size_t number_of(const struct moving *moving, const json_t *groups,
                        const struct setup_place *place) {
  const json_t *group = NULL, *hook = NULL;
  size_t number = 0, i = 0, k = 0;
  json_array_foreach(groups, i, group) {
    json_array_foreach(json_object_get(group, "hooks"), k, hook) {
      if (i == place->group && k == place->hook) return number;
      number += !is_hook_of_tidings(moving, hook);
    }
  }
  return number;
}

/* Finds the hook of others with that number: setup keeps their order. */
static bool find_number(const struct moving *moving, const json_t *groups, size_t number,
                        struct setup_place *place) {
  const json_t *group = NULL, *hook = NULL;
  size_t i = 0, k = 0;
  json_array_foreach(groups, i, group) {
    json_array_foreach(json_object_get(group, "hooks"), k, hook) {
      if (is_hook_of_tidings(moving, hook) || number--) continue;
      place->group = i;
      place->hook = k;
      return true;
    }
  }
  return false;
}

/* -- moves ------------------------------------------------------------------------------------- */

static void note_ours(struct moving *moving, const char *key, const json_t *there) {
  moving->counts.ours++;
  if (there && is_hook_of_tidings(moving, there)) return; /* it gets the hash of the new one */
  moving->counts.dropped++;
  json_object_set_new(moving->moves, key, json_null());
}

static void note_other(struct moving *moving, const char *key, const struct setup_place *from,
                       const struct setup_place *to) {
  char *new_key = NULL;
  if (from->group == to->group && from->hook == to->hook) return;
  int len = (int)(from->event.ptr + from->event.len - key);
  if (asprintf(&new_key, "%.*s:%zu:%zu", len, key, to->group, to->hook) < 0) return;
  moving->counts.moved++;
  json_object_set_new(moving->moves, key, json_string(new_key));
  free(new_key);
}

static void note_key(struct moving *moving, const char *key) {
  struct setup_place place, to;
  const char *event = NULL;
  json_t *groups = NULL;
  if (!setup_place_read(key, moving->path, &place)) return;
  json_object_foreach(moving->old, event, groups) {
    const json_t *hook = setup_place_is_of(&place, event) ? hook_at(groups, &place) : NULL,
                 *there = json_object_get(moving->new, event);
    to = place;
    if (!hook) continue;
    if (is_hook_of_tidings(moving, hook)) note_ours(moving, key, hook_at(there, &place));
    else if (find_number(moving, there, number_of(moving, groups, &place), &to))
      note_other(moving, key, &place, &to);
  }
}

/* Removes entries of hooks that are gone, if other entries get their keys. */
static void clear_targets(struct moving *moving, const json_t *state) {
  const char *key = NULL;
  json_t *target = NULL, *cleared = json_object();
  json_object_foreach(moving->moves, key, target) {
    const char *name = json_string_value(target);
    if (name && json_object_get(state, name) && !json_object_get(moving->moves, name))
      json_object_set_new(cleared, name, json_null());
  }
  json_object_update(moving->moves, cleared);
  json_decref(cleared);
}

/* -- the text ---------------------------------------------------------------------------------- */

static json_t *state_of(const json_t *config) {
  return json_object_get(json_object_get(config, "hooks"), "state");
}

static char *moved_text(const char *text, const json_t *moves) {
  const char *key = NULL;
  const json_t *target = NULL;
  char *done = strdup(text);
  json_object_foreach((json_t *)(uintptr_t)moves, key, target) {
    if (!done || !json_is_null(target)) continue;
    char *next = setup_trust_text(done, key, NULL);
    free(done);
    done = next;
  }
  char *renamed = done ? setup_trust_rename(done, moves) : NULL;
  free(done);
  return renamed;
}

/* Makes the moves in the parsed configuration, with which the new text is compared. */
static void move_in(json_t *config, const json_t *moves) {
  const char *key = NULL;
  json_t *entry = NULL, *state = json_object();
  json_object_foreach(state_of(config), key, entry) {
    const json_t *target = json_object_get(moves, key);
    if (!json_is_null(target))
      json_object_set(state, target ? json_string_value(target) : key, entry);
  }
  json_object_set_new(json_object_get(config, "hooks"), "state", state);
}

static int write_moves(const struct cli *cli, struct moving *moving, json_t *config,
                       struct change *change) {
  char *text = moved_text(change->after, moving->moves);
  if (!text) return cli_fail(cli, "out of memory");
  move_in(config, moving->moves);
  if (setup_trust_says(text, config)) {
    free(change->after);
    change->after = text;
    return 0;
  }
  free(text);
  moving->counts.dropped = 0; /* entries of hooks that are gone do no harm */
  if (!moving->counts.moved) return 0;
  return cli_fail(cli,
                  "%s has the table hooks.state in a form that setup does not edit, and %zu hooks "
                  "of others would have to move in it; nothing was changed",
                  change->path, moving->counts.moved);
}

int setup_trust_move(const struct cli *cli, const struct host *host, const struct change *hooks,
                     struct change *change, struct setup_moves *ret_moves) {
  struct moving moving = {.host = host, .path = hooks->path, .moves = json_object()};
  json_t *config = setup_trust_read(change->after ? change->after : "", NULL), *entry = NULL;
  const char *key = NULL;
  moving.old = events_of(hooks->before);
  moving.new = events_of(hooks->after);
  json_object_foreach(state_of(config), key, entry) note_key(&moving, key);
  clear_targets(&moving, state_of(config));
  if (moving.counts.ours) change->has_ours = true;
  int code = json_object_size(moving.moves) ? write_moves(cli, &moving, config, change) : 0;
  *ret_moves = moving.counts;
  json_decref(moving.moves);
  json_decref(moving.old);
  json_decref(moving.new);
  json_decref(config);
  return code;
}
