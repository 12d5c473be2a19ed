/* SPDX-License-Identifier: MIT
 *
 * conformance/trial.h: the functions of a conformance case. They load the plugin without hostkit,
 * to test the contract itself. A case runs in its own process, which the first mistake ends, so
 * nothing has to be cleaned up.
 */
#ifndef HOSTSIM_TRIAL_H
#define HOSTSIM_TRIAL_H

#include "host/agent.h"
#include "host/simhost.h"

#include <stdnoreturn.h>
#include <tidings/tidings.h>

#define TRIAL_SKIPPED 77
#define TRIAL_PASSED "passed"

struct trial {
  const char *plugin_path; /* absolute */
  const char *dir;         /* a new folder for this case */
  const char *store;       /* a path in `dir` for the store, which does not exist yet */
  void *image;
  const struct tidings_entry *entry;
  const struct tidings_query *query; /* NULL: no such extension */
  const struct tidings_wake *wake;   /* NULL: no such extension */
  struct simhost simhost;
};

struct conformance_case {
  const char *name;
  const char *about; /* one clause that says what must hold */
  void (*run)(struct trial *trial);
};

/* All cases, in the order in which they run. The last has no name. */
extern const struct conformance_case cases_entry[];
extern const struct conformance_case cases_open[];
extern const struct conformance_case cases_growth[];
extern const struct conformance_case cases_call[];
extern const struct conformance_case cases_event[];
extern const struct conformance_case cases_delivery[];
extern const struct conformance_case cases_process[];
extern const struct conformance_case cases_wake[];

/* End the case. The text says what is wrong, or why the case does not apply to this plugin. */
noreturn void trial_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
noreturn void trial_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Loads the image, so that entry, query and wake can be used. */
void trial_load(struct trial *trial);

struct tidings_span trial_span(const char *text);

/* Returns options with the case's store, and defaults. */
struct tidings_open_options trial_options(const struct trial *trial);

/* Opens with these options (NULL: trial_options) and insists on success. */
struct tidings_plugin *trial_open(struct trial *trial, const struct tidings_open_options *options);

/* Closes and insists on success. */
void trial_close(struct tidings_plugin *plugin);

/* Insists that `code` is `wanted`, and that the error struct has the same code and a terminated
 * text. */
void trial_expect(int32_t wanted, int32_t code, const struct tidings_error *error,
                  const char *what);

/* The same for a mistake that several codes fit: INVAL, SCHEMA or TOO_BIG. */
void trial_expect_refused(int32_t code, const struct tidings_error *error, const char *what);

/* Insists that the error's text contains `word`. */
void trial_expect_word(const struct tidings_error *error, const char *word, const char *what);

/* Sends an event and releases the reply. */
int32_t trial_event(struct tidings_plugin *plugin, const char *text, size_t len,
                    struct tidings_error *error);

/* Sends an event made as by printf and insists on success. UNSUPPORTED skips the case. */
void trial_send(struct tidings_plugin *plugin, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Pushes a notification (tool.stopped, info) and insists on success. */
void trial_push(struct tidings_plugin *plugin, const char *session, const char *message);

/* Calls on_tool_result; *ret_reply may become NULL. */
int32_t trial_tool_result(struct tidings_plugin *plugin, const char *session,
                          const struct tidings_reply **ret_reply, struct tidings_error *error);

/* The same, insisting on success. */
const struct tidings_reply *trial_deliver(struct tidings_plugin *plugin, const char *session);

/* Delivers, insists on exactly this one message, and commits and releases. */
void trial_expect_delivery(struct tidings_plugin *plugin, const char *session, const char *message);

/* Insists that nothing is delivered. */
void trial_expect_nothing(struct tidings_plugin *plugin, const char *session);

int32_t trial_settle(struct tidings_plugin *plugin, uint64_t delivery_id, uint32_t outcome,
                     struct tidings_error *error);

/* Starts a process that opens the same store as another host (role NULL) or producer (role
 * "producer"). owner_pid 0: its own pid. */
void trial_start_other(const struct trial *trial, struct agent *agent, const char *role,
                       pid_t owner_pid);

/* Makes the other process execute a request (agent_child.c), and insists on success. Frees the
 * request; the caller frees the answer. */
json_t *trial_other(struct agent *agent, json_t *request);

/* The same, but insists on this error. */
json_t *trial_other_fails(struct agent *agent, json_t *request, const char *code);

#endif
