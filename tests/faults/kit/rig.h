/* SPDX-License-Identifier: MIT
 *
 * kit/rig.h: loads a plugin by its path, and calls it through the ABI, by functions that fault
 * tests use (push, deliver, settle).
 */
#ifndef KIT_RIG_H
#define KIT_RIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include <tidings/tidings.h>

#include "kit/random.h"
#include "kit/token.h"

/* When virtual time begins, unless virtual_ms says otherwise. */
#define RIG_VIRTUAL_START_MS 1700000000000

struct rig {
  void *image;
  const struct tidings_entry *entry;
  const struct tidings_query *query;
  struct tidings_plugin *plugin; /* NULL when not open */
  struct tidings_host host;
  bool virtual_time; /* the host's wall clock and randomness are the same in each run */
  atomic_llong virtual_ms;
  struct random random;
  _Atomic(unsigned) warnings; /* lines that the plugin logged at warning or error */

  /* If set, called before and after every call of the plugin, to make faults hit the plugin and not
   * the test. */
  void (*before)(void);
  void (*after)(void);
};

/* Loads the image (RTLD_NOW | RTLD_LOCAL) and checks the first eight bytes. Ends the test if that
 * fails. */
void rig_load(struct rig *rig, const char *plugin_path);
/* Closes if open (ends the test if the plugin refuses) and unloads. */
void rig_unload(struct rig *rig);

struct rig_open {
  const char *store;
  uint32_t role;
  uint32_t hook_budget_ms;  /* 0: 10 s, so that a busy machine fails no test */
  uint64_t total_budget_ms; /* for all calls together; 0: none */
  const char *configuration;
};
int32_t rig_open(struct rig *rig, const struct rig_open *options, struct tidings_error *error);
int32_t rig_close(struct rig *rig, struct tidings_error *error);

/* Pushes the text of `token` into a session. With `identified` the event has a source and an id
 * made from the token, so that pushing again is safe. *ret_duplicate may be NULL. */
int32_t rig_push(struct rig *rig, const char *session, uint64_t token, bool identified,
                 bool *ret_duplicate, struct tidings_error *error);
/* Writes the event of such a push as text; returns its length. `event` has RIG_EVENT_MAX bytes. */
enum { RIG_EVENT_MAX = TOKEN_TEXT_MAX + 512 };
size_t rig_push_event(char *event, const char *session, uint64_t token, bool identified);
/* Sends any event, given as text. Releases the reply, if there is one. */
int32_t rig_event(struct rig *rig, const char *event, struct tidings_error *error);
/* Sends session.resumed, which names deliveries; with NULL, session.opened. */
int32_t rig_attach(struct rig *rig, const char *session, const uint64_t *deliveries, size_t count,
                   struct tidings_error *error);

/* The contents of what a hook handed out. Zero it before the first use; free it with carried_clear.
 */
struct carried {
  uint64_t delivery;
  struct tokens tokens; /* in the order of the notifications */
  size_t damaged;       /* how many notifications have a text that no push has sent */
  char sample[80];      /* the beginning of a damaged text */
};
enum rig_hook { RIG_TOOL_RESULT, RIG_CHAT_REQUEST };
int32_t rig_deliver(struct rig *rig, const char *session, enum rig_hook hook,
                    struct carried *ret_carried, struct tidings_error *error);
void carried_clear(struct carried *carried);

int32_t rig_settle(struct rig *rig, uint64_t delivery, uint32_t outcome,
                   struct tidings_error *error);
/* Sends a query, given as text; *ret_json (may be NULL) is malloc'ed and NUL-terminated. */
int32_t rig_query(struct rig *rig, const char *request, char **ret_json,
                  struct tidings_error *error);

/* "TIDINGS_E_BUSY: the text", for messages; a buffer of the calling thread. */
const char *rig_why(int32_t code, const struct tidings_error *error);

/* A zeroed error struct ready for a call. */
#define RIG_ERROR ((struct tidings_error){.size = sizeof(struct tidings_error)})

#endif
