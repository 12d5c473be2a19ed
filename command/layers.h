/* SPDX-License-Identifier: MIT
 *
 * command/layers.h: lays configurations over each other, and tells from which of them a value came.
 * Pure: it takes and returns JSON values. It knows only the keys that a project may set.
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

/* Finds the first value that a project may not set. A project's file comes with a cloned
 * repository, and nobody vouches for it: it may not weaken what protects the model and the user
 * from pushed text, and may not hide what is critical. Returns the value's name, such as
 * "limits.event_bytes", to be freed, and in *ret_why what is wrong with it. NULL: there is none; or
 * memory has run out, and then *ret_failed is true. */
char *layers_refused_key(const json_t *project, const char **ret_why, bool *ret_failed);

/* Lays `project` over `user`: objects are merged key by key, all other values are replaced. A key
 * that a project may not set keeps its value of `in_force`, which is the whole configuration
 * without the project; so a preset of the project changes none of these keys. NULL: out of memory.
 */
json_t *layers_merge(const json_t *user, const json_t *project, const json_t *in_force);

/* Tells the origin of each value of `effective`, a whole configuration, by the value's pointer:
 * {"from": "file", "file"}, {"from": "preset", "preset", "file"} or {"from": "default"}. `layers`:
 * the lowest first; `defaults`: the whole configuration without any. NULL: out of memory. */
json_t *layers_origins(const json_t *effective, const json_t *defaults, const struct layer *layers,
                       size_t count);

/* Calls `visit` with the pointer of each value that is no object, and of each empty object, in
 * their order in the text. Stops when `visit` returns anything but 0, and returns that; -1: out of
 * memory. */
int layers_walk(const json_t *config,
                int (*visit)(void *context, const char *pointer, json_t *value), void *context);

/* Takes the first name of a pointer that is not empty, and moves the pointer to the next name. Free
 * it; NULL: out of memory. */
char *layers_take_name(const char **pointer);

/* Returns the value at a pointer, or NULL. */
json_t *layers_at(const json_t *config, const char *pointer);

#endif
