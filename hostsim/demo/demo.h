/* SPDX-License-Identifier: MIT
 *
 * demo/demo.h: the demo's parts. A supervisor starts the simulated host, kills it where the script
 * says and starts it again; the host plays the script; other processes push. They share a folder:
 * the store, a workspace, the transcript, and the ledger of what was pushed.
 */
#ifndef HOSTSIM_DEMO_H
#define HOSTSIM_DEMO_H

#include "command/cli.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define DEMO_SESSION "demo"
#define DEMO_LATER_SESSION "night" /* starts when the first one idles */
#define DEMO_LIVES 3               /* the host is killed twice */
#define DEMO_TIMEOUT_MS 60000

/* The places of all files. */
struct demo_folder {
  char *dir;
  char *store;
  char *workspace;
  char *transcript; /* JSON lines: what the model got and said, and each carrier's delivery id */
  char *ledger;     /* JSON lines: each text whose push or submit returned OK, as LEDGER_PUSHED or
                       LEDGER_SUBMITTED */
  char *second_plugin;
};

/* Fills in the paths. Returns 0, or -1: out of memory. demo_folder_finish is allowed in both
 * cases. */
int demo_folder_init(struct demo_folder *folder, const char *dir);
/* Makes the folder use a store and a ledger that all machines share. Returns 0, or -1 when out of
 * memory. */
int demo_folder_share(struct demo_folder *folder, const char *store, const char *ledger);
void demo_folder_finish(struct demo_folder *folder);

#define LEDGER_PUSHED "message"
#define LEDGER_SUBMITTED "submitted"

/* How the demo is shown. */
struct screen {
  bool color;
  bool fast; /* no pauses */
};

/* Prints the lines that somebody says; `who` is "user", "assistant" or "tool". */
void screen_say(const struct screen *screen, const char *who, const char *text);

/* Prints what the model gets: the content, and, marked, the text that was added before and after
 * it. */
void screen_carrier(const struct screen *screen, const char *who, const char *text, size_t len,
                    const char *content, size_t content_len);

/* Prints what happens around the conversation. */
void screen_note(const struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, for something drastic. */
void screen_alarm(const struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void screen_headline(const struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Waits, so that a person can read. */
void screen_pause(const struct screen *screen, unsigned milliseconds);

/* Appends one entry to a JSON-lines file and makes it durable. Takes the entry. Returns 0 or -1. */
int journal_append(const char *path, json_t *entry);

/* Returns all entries as a list, which is empty if the file does not exist yet. Leaves out a torn
 * last line, which a kill may leave. */
json_t *journal_read(const char *path);

/* Returns the ids of the deliveries whose carriers are in the transcript, as a list of strings. */
json_t *journal_deliveries(const char *path);

/* Compares ledger, transcript and store at the end of the demo, prints the result, and returns the
 * exit code. */
int demo_account(const struct demo_folder *folder, const char *plugin);

/* Starts a process that opens the store as a producer and pushes one notification. Waits for its
 * end and returns its exit code, or -1. */
int demo_push_from_elsewhere(const struct demo_folder *folder, const char *plugin, const char *kind,
                             const char *level, const char *message);

/* The same with any event. `data` is the event's data as JSON; the ledger notes `text` under
 * `ledger_key`. */
int demo_send_from_elsewhere(const struct demo_folder *folder, const char *plugin, const char *type,
                             const char *data, const char *ledger_key, const char *text);

/* Starts a process that pushes a notification, and does not wait for its end. Returns 0 and
 * *ret_pid, or -1. */
int demo_start_push(const struct demo_folder *folder, const char *plugin, const char *kind,
                    const char *level, const char *message, pid_t *ret_pid);

extern const struct cli_verb verb_demo;
extern const struct cli_verb verb_internal_demo_host;
extern const struct cli_verb verb_internal_push;

#endif
