/* SPDX-License-Identifier: MIT
 *
 * dev/talk.h: turns input into notifications, which a tool's result delivers.
 */
#ifndef HOSTSIM_DEV_TALK_H
#define HOSTSIM_DEV_TALK_H

#include <stdint.h>
#include <tidings/hostkit.h>

#include "dev/pane.h"

struct talk {
  struct hostkit *hostkit;
  struct pane *pane;
  char *last; /* the last line that was said */
};

/* Pushes the notifications of a line, delivers them with the result of a tool, and shows what the
 * model gets. A line is the text of a notification; or a JSON object with the members of a
 * notification (kind, level and so on); or a whole event, which has a "type"; or a list of such
 * objects. */
void talk_say(struct talk *talk, const char *line);
/* Says the last line again, if there is one. */
void talk_say_again(struct talk *talk);
void talk_finish(struct talk *talk);

#endif
