/* SPDX-License-Identifier: MIT
 *
 * The simulated host of the demo: what a real one does at its delivery points, and no more. The
 * words come from script.c.
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
  int wake_fd;    /* readable when another process has rung; -1: not yet */
};

/* The outcome of a carrier after the hook. */
enum ending {
  ENDING_SETTLED,             /* written to the transcript, then settled */
  ENDING_OPEN,                /* written, not settled yet: the caller does */
  ENDING_DIES_BEFORE_SETTLE,  /* written; then the process is killed */
  ENDING_DIES_BEFORE_WRITING, /* leased; then the process is killed */
};

/* Each of these ends the process with a sentence on stderr when something fails: a demo has no
 * second plan. */

/* Opens the plugin and says what happened to the session: opened, or resumed with the deliveries
 * that the transcript holds. */
void host_open(struct demo_host *host, bool resumes);
void host_close(struct demo_host *host);

/* Pushes a notification and notes it in the ledger. `path` is the file it is about, or NULL. */
void host_push(struct demo_host *host, const char *kind, const char *level, const char *message,
               const char *path);

/* Reports what a subsystem saw, an event of `type`; takes `data`. `shown` is what the transcript
 * will show of it; NULL when the configuration withholds it. */
void host_report(struct demo_host *host, const char *type, json_t *data, const char *shown);

/* Sends an event of `type`; takes `data`, which may be NULL. The reply is the caller's, to be freed
 * with hostkit_reply_free. */
struct tidings_reply *host_event(struct demo_host *host, const char *type, json_t *data);

/* Submits a message that a person has typed, and notes it in the ledger. `delivery` is "queue" or
 * "steer". */
struct tidings_reply *host_submit(struct demo_host *host, const char *id, const char *content,
                                  const char *delivery);

/* The action of that type that a reply asks for, or NULL. */
const struct tidings_action *host_find_action(const struct tidings_reply *reply, uint32_t type);

/* Starts the turn that `reply` asks for, which it takes, by a chat request that names its
 * messages. */
void host_start_turn(struct demo_host *host, struct tidings_reply *reply);

/* From now on host_sleep receives wake signals. */
void host_listen(struct demo_host *host);

/* Sleeps until another process has rung. Returns the reply to the event `wake`. */
struct tidings_reply *host_sleep(struct demo_host *host);

/* Puts a configuration in force. */
void host_configure(struct demo_host *host, const char *configuration);

/* The delivery points. They return the delivery id, 0 when there was nothing to deliver. */
uint64_t host_tool_result(struct demo_host *host, const char *tool, const char *content,
                          enum ending ending);
uint64_t host_chat_request(struct demo_host *host, const char *content);

void host_settle(struct demo_host *host, uint64_t delivery);

/* Adds what the model says; goes into the transcript and on the screen. */
void host_assistant(struct demo_host *host, const char *text);

void host_swap(struct demo_host *host);

/* The next speaker: a typed correction, a webhook, something critical, a subagent. For the third
 * life's end. */
void script_turns(struct demo_host *host);

/* A webhook that wakes the idle session, and a mailbox that another one takes over. */
void script_reach(struct demo_host *host);

/* The script, one part for each of the host's lives (1 to DEMO_LIVES). */
void script_play(struct demo_host *host, unsigned life);

#endif
