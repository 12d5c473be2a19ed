/* SPDX-License-Identifier: MIT
 *
 * render/age.h: how long ago something happened, in words. Private to render/.
 */
#ifndef RENDER_AGE_H
#define RENDER_AGE_H

#include "render/render.h"

struct age {
  char text[40]; /* "12 min ago", "newest 12 min ago" */
  size_t len;    /* 0: it is not old enough to say, or the clock went backwards */
};

/* The age is that of the newest item that the line stands for. */
struct age render_age(const struct render_input *input, const struct line *line);

#endif
