/* SPDX-License-Identifier: MIT
 *
 * dev/talk.h: the conversation: what is typed becomes notifications, which the next result of a
 * tool delivers.
 */
#ifndef HOSTSIM_DEV_TALK_H
#define HOSTSIM_DEV_TALK_H

#include <stdint.h>
#include <tidings/hostkit.h>

#include "dev/pane.h"

struct talk {
  struct hostkit *hostkit;
  struct pane *pane;
  char *last; /* the line that was said last */
};

/* Pushes what the line says, delivers it with the result of a tool, and shows what the model gets.
 * A line is the text of a notification; or a JSON object with kind, level and more of one, a whole
 * event (it has a "type"), or a list of them. */
void talk_say(struct talk *talk, const char *line);
/* The last line once more; nothing, if there is none. */
void talk_say_again(struct talk *talk);
void talk_finish(struct talk *talk);

#endif
