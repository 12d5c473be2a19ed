/* SPDX-License-Identifier: MIT
 */
#include "command/layers.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"

/* -- pointers ---------------------------------------------------------------------------------- */

static void put_name(struct buffer *out, const char *name) {
  buffer_byte(out, '/');
  for (; *name; name++) {
    if (*name == '~') buffer_text(out, "~0");
    else if (*name == '/') buffer_text(out, "~1");
    else buffer_byte(out, *name);
  }
}

char *layers_take_name(const char **pointer) {
  const char *begin = *pointer + 1;
  size_t len = strcspn(begin, "/"), written = 0;
  char *name = strndup(begin, len);
  *pointer = begin + len;
  for (size_t at = 0; name && at < len; at++) {
    char byte = name[at];
    if (byte == '~' && at + 1 < len && name[++at] == '1') byte = '/';
    name[written++] = byte;
  }
  if (name) name[written] = '\0';
  return name;
}

json_t *layers_at(const json_t *config, const char *pointer) {
  json_t *value = NULL;
  while (*pointer) {
    char *name = layers_take_name(&pointer);
    value = name ? json_object_get(config, name) : NULL;
    free(name);
    if (!value) return NULL;
    config = value;
  }
  return value;
}

/* Puts a value at a pointer, and makes the objects above it. If one of these is another value, it
 * stays, and the plugin refuses it. */
static int put_at(json_t *config, const char *pointer, json_t *value) {
  int failed = 0;
  while (!failed && *pointer && json_is_object(config)) {
    char *name = layers_take_name(&pointer);
    if (!name) return -1;
    if (!*pointer) failed = json_object_set(config, name, value);
    else if (!json_object_get(config, name))
      failed = json_object_set_new(config, name, json_object());
    config = json_object_get(config, name);
    free(name);
  }
  return failed;
}

struct walk {
  int (*visit)(void *context, const char *pointer, json_t *value);
  void *context;
  struct buffer pointer;
};

/* Recurses only as deep as the reader let the text be. */
static int walk_into(struct walk *walk, json_t *value) {
  if (!json_is_object(value) || !json_object_size(value)) {
    buffer_byte(&walk->pointer, '\0');
    if (walk->pointer.failed) return -1;
    walk->pointer.len--;
    return walk->visit(walk->context, walk->pointer.bytes, value);
  }
  const char *name = NULL;
  json_t *inside = NULL;
  int answer = 0;
  json_object_foreach(value, name, inside) {
    size_t len = walk->pointer.len;
    put_name(&walk->pointer, name);
    answer = walk_into(walk, inside);
    walk->pointer.len = len;
    if (answer) break;
  }
  return answer;
}

int layers_walk(const json_t *config,
                int (*visit)(void *context, const char *pointer, json_t *value), void *context) {
  struct walk walk = {.visit = visit, .context = context, .pointer = BUFFER_EMPTY};
  int answer = walk_into(&walk, (json_t *)(uintptr_t)config);
  buffer_free(&walk.pointer);
  return answer;
}

/* -- what a project may set -------------------------------------------------------------------- */

static bool is_within(const char *pointer, const char *above) {
  size_t len = strlen(above);
  return strncmp(pointer, above, len) == 0 && (!pointer[len] || pointer[len] == '/');
}

/* A project may set how notifications are shown, which kinds are wanted, and how turns follow each
 * other as long as a person starts them. It may not set the nonce that tells the model what is
 * genuine, a bound into which nothing fits, what is urgent, how many turns start by themselves,
 * whether a queue goes on after a crash, or the limits. */
static bool project_may_set(const char *pointer) {
  static const char *const allowed[] = {"/conversation/notifications/kinds",
                                        "/conversation/tools",
                                        "/delivery",
                                        "/turns/discipline",
                                        "/turns/settle_delay_ms",
                                        "/turns/default_delivery"};
  if (is_within(pointer, "/delivery/fence") || is_within(pointer, "/delivery/max_bytes"))
    return false;
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    if (is_within(pointer, allowed[i])) return true;
  return false;
}

/* Does the value turn off a whole kind? Any kind may have critical notifications, so a project may
 * not do that. */
static bool hides_critical(const char *pointer, const json_t *value) {
  static const char tools[] = "/conversation/tools";
  if (!json_is_false(value)) return false;
  if (is_within(pointer, "/conversation/notifications/kinds")) return true;
  const char *inside = is_within(pointer, tools) ? strchr(pointer + sizeof tools, '/') : NULL;
  return inside && is_within(inside, "/notifications");
}

struct refused {
  char *key;
  const char *why;
};

/* Accepts an empty object, because it sets nothing. */
static int find_refused(void *context, const char *pointer, json_t *value) {
  struct refused *refused = context;
  if (json_is_object(value)) return 0;
  if (strcmp(pointer, "/$schema") == 0) return 0;
  if (!project_may_set(pointer))
    refused->why = "a project may not set it; expected conversation.notifications.kinds, "
                   "conversation.tools, delivery without fence and max_bytes, turns.discipline, "
                   "turns.settle_delay_ms, turns.default_delivery";
  else if (hides_critical(pointer, value))
    refused->why =
        "a project may not turn off critical notifications; expected true or \"critical\"";
  else return 0;
  refused->key = strdup(pointer[0] ? pointer + 1 : "the configuration");
  for (char *at = refused->key; at && *at; at++)
    if (*at == '/') *at = '.';
  return refused->key ? 1 : -1;
}

char *layers_refused_key(const json_t *project, const char **ret_why, bool *ret_failed) {
  struct refused refused = {.key = NULL};
  *ret_failed = layers_walk(project, find_refused, &refused) < 0;
  *ret_why = refused.why;
  return refused.key;
}

/* -- one over the other ------------------------------------------------------------------------ */

static int lay_over(json_t *below, const json_t *above) {
  const char *name = NULL;
  json_t *value = NULL;
  int failed = 0;
  json_object_foreach((json_t *)(uintptr_t)above, name, value) {
    json_t *there = json_object_get(below, name);
    if (failed) break;
    if (json_is_object(there) && json_is_object(value)) failed = lay_over(there, value);
    else failed = json_object_set_new(below, name, json_deep_copy(value));
  }
  return failed;
}

static int keep_users(void *context, const char *pointer, json_t *value) {
  json_t *merged = context;
  if (project_may_set(pointer)) return 0;
  if (json_is_object(value)) return 0;
  return put_at(merged, pointer, value);
}

json_t *layers_merge(const json_t *user, const json_t *project, const json_t *in_force) {
  json_t *merged = user ? json_deep_copy(user) : json_object();
  if (merged && !lay_over(merged, project) && !layers_walk(in_force, keep_users, merged))
    return merged;
  json_decref(merged);
  return NULL;
}

/* -- where a value came from ------------------------------------------------------------------- */

struct tracing {
  const json_t *defaults;
  const struct layer *layers;
  size_t count;
  json_t *origins;
};

/* Returns the topmost layer that has a value at the pointer and may set it; NULL: there is none. */
static const struct layer *layer_with(const struct tracing *tracing, const char *pointer,
                                      const char *wanted) {
  for (size_t i = tracing->count; i-- > 0;) {
    const struct layer *layer = &tracing->layers[i];
    if (layer->of_project && !project_may_set(pointer)) continue;
    if (layer->config && layers_at(layer->config, wanted)) return layer;
  }
  return NULL;
}

static int trace_value(void *context, const char *pointer, json_t *value) {
  static const char preset[] = "/delivery/preset";
  struct tracing *tracing = context;
  const struct layer *layer = layer_with(tracing, pointer, pointer);
  json_t *origin = NULL;
  if (layer && !(json_is_object(value) && !json_object_size(layers_at(layer->config, pointer)))) {
    origin = json_pack("{s:s, s:s}", "from", "file", "file", layer->file);
  } else if (json_equal(value, layers_at(tracing->defaults, pointer)) ||
             !(layer = layer_with(tracing, pointer, preset))) {
    origin = json_pack("{s:s}", "from", "default");
  } else {
    origin = json_pack("{s:s, s:O, s:s}", "from", "preset", "preset",
                       layers_at(layer->config, preset), "file", layer->file);
  }
  return json_object_set_new(tracing->origins, pointer, origin);
}

json_t *layers_origins(const json_t *effective, const json_t *defaults, const struct layer *layers,
                       size_t count) {
  struct tracing tracing = {
      .defaults = defaults, .layers = layers, .count = count, .origins = json_object()};
  if (tracing.origins && !layers_walk(effective, trace_value, &tracing)) return tracing.origins;
  json_decref(tracing.origins);
  return NULL;
}
