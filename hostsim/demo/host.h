/* SPDX-License-Identifier: MIT
 *
 * demo/host.h: the simulated host of the demo does what a real host does at its delivery points,
 * and no more. script.c has the texts.
 */
#ifndef HOSTSIM_DEMO_HOST_H
#define HOSTSIM_DEMO_HOST_H

#include "demo/demo.h"

#include <tidings/hostkit.h>

struct demo_host {
  struct demo_folder folder;
  struct screen screen;
  const char *plugin;
  const char *session;
  struct hostkit *hostkit;
  unsigned calls; /* numbers the model's tool calls */
  int wake_fd;    /* the wake descriptor; -1: not taken yet */
};

/* The outcome of a result or request after the hook. */
enum ending {
  ENDING_SETTLED,             /* written to the transcript, then settled */
  ENDING_OPEN,                /* written; the caller settles it */
  ENDING_DIES_BEFORE_SETTLE,  /* written; then the process is killed */
  ENDING_DIES_BEFORE_WRITING, /* leased; then the process is killed */
};

/* If something fails, each of these functions ends the process with a sentence on stderr. */

/* Opens the plugin and reports that the session was opened, or resumed with the deliveries in the
 * transcript. */
void host_open(struct demo_host *host, bool resumes);
void host_close(struct demo_host *host);

/* Pushes a notification and notes it in the ledger. `path` is the file that the notification is
 * about, or NULL. */
void host_push(struct demo_host *host, const char *kind, const char *level, const char *message,
               const char *path);

/* Reports an event of `type` by a subsystem; takes `data`. `shown` is the text that the transcript
 * will have; NULL if the configuration withholds it. */
void host_report(struct demo_host *host, const char *type, json_t *data, const char *shown);

/* Sends an event of `type`; takes `data`, which may be NULL. The reply is the caller's, to be freed
 * with hostkit_reply_free. */
struct tidings_reply *host_event(struct demo_host *host, const char *type, json_t *data);

/* Submits a message that a person has typed, and notes it in the ledger. `delivery` is "queue" or
 * "steer". */
struct tidings_reply *host_submit(struct demo_host *host, const char *id, const char *content,
                                  const char *delivery);

/* Returns the action of that type in a reply, or NULL. */
const struct tidings_action *host_find_action(const struct tidings_reply *reply, uint32_t type);

/* Starts the turn that `reply` asks for, by a chat request that names the turn's messages. Takes
 * the reply. */
void host_start_turn(struct demo_host *host, struct tidings_reply *reply);

/* Takes the wake descriptor, which host_sleep needs. */
void host_listen(struct demo_host *host);

/* Sleeps until another process has rung. Returns the reply to the event `wake`. */
struct tidings_reply *host_sleep(struct demo_host *host);

/* Puts a configuration in force. */
void host_configure(struct demo_host *host, const char *configuration);

/* Deliver at a tool's result and at a request. Return the delivery's id; 0: there was nothing to
 * deliver. */
uint64_t host_tool_result(struct demo_host *host, const char *tool, const char *content,
                          enum ending ending);
uint64_t host_chat_request(struct demo_host *host, const char *content);

void host_settle(struct demo_host *host, uint64_t delivery);

/* Adds a text of the model to the transcript, and prints it. */
void host_assistant(struct demo_host *host, const char *text);

void host_swap(struct demo_host *host);

/* Plays the end of the third life: a typed correction, a webhook, something critical, and a
 * subagent's end. */
void script_turns(struct demo_host *host);

/* Plays a webhook that wakes the idle session, and a mailbox that another session takes over. */
void script_reach(struct demo_host *host);

/* Plays the script's part for one of the host's lives (1 to DEMO_LIVES). */
void script_play(struct demo_host *host, unsigned life);

#endif
