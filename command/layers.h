/* SPDX-License-Identifier: MIT
 *
 * command/layers.h: configurations laid over each other, and which of them a value came from. Pure:
 * JSON values in, JSON values out; it knows no key but those that a project may set.
 *
 * A place in a configuration is a JSON pointer (RFC 6901): /delivery/format.
 */
#ifndef COMMAND_LAYERS_H
#define COMMAND_LAYERS_H

#include <jansson.h>
#include <stdbool.h>

struct layer {
  const char *file;
  json_t *config; /* an object; NULL: there is no such file */
  bool of_project;
};

/* The first value that a project may not set (its file comes with a cloned repository, and nobody
 * vouches for it: what protects the model and the user from what is pushed stays theirs, and what
 * is critical reaches them), as "limits.event_bytes" (free it); *ret_why: what is wrong with it.
 * NULL: there is none, or memory ran out, which *ret_failed tells apart. */
char *layers_refused_key(const json_t *project, const char **ret_why, bool *ret_failed);

/* `project` laid over `user`: objects key by key, all else is replaced. A key that a project may
 * not set gets the value that it has in `in_force`, the whole configuration without the project: a
 * preset of the project changes none of these. NULL: out of memory. */
json_t *layers_merge(const json_t *user, const json_t *project, const json_t *in_force);

/* For each value of `effective`, a whole configuration, by its pointer: {"from": "file", "file"},
 * {"from": "preset", "preset", "file"} or {"from": "default"}. `layers`: the lowest first;
 * `defaults`: the whole configuration without any. NULL: out of memory. */
json_t *layers_origins(const json_t *effective, const json_t *defaults, const struct layer *layers,
                       size_t count);

/* Calls `visit` for each value that is no object, and for each empty object, in the order in which
 * they stand, with its pointer. Stops when it answers other than 0. Returns that, or -1: out of
 * memory. */
int layers_walk(const json_t *config,
                int (*visit)(void *context, const char *pointer, json_t *value), void *context);

/* The first name in a pointer that is not empty, which moves on to the next. Free it; NULL: out of
 * memory. */
char *layers_take_name(const char **pointer);

/* The value at a pointer, or NULL. */
json_t *layers_at(const json_t *config, const char *pointer);

#endif
