/* SPDX-License-Identifier: MIT
 *
 * dev/sources.h: which files have been saved: all sources in some folders, and one other file, the
 * plugin.
 */
#ifndef HOSTSIM_DEV_SOURCES_H
#define HOSTSIM_DEV_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/inotify.h>

struct sources {
  int fd; /* readable if something may have been saved */
  struct sources_folder {
    int watch;
    char *path; /* without a slash at its end */
    bool tree;  /* every source in it and below */
  } * folders;
  size_t count, capacity;
  char *plugin; /* its name in the first folder, which is no tree */
};

/* The saves since sources_read was called last. */
struct sources_saved {
  bool plugin;
  char source[256]; /* the path of one of them; "": none */
};

/* Each returns 0 or an errno. The folder of the plugin is watched, not the file: builds publish by
 * rename. */
int sources_begin(const char *plugin, struct sources *ret_sources);
int sources_add(struct sources *sources, const char *folder);
void sources_finish(struct sources *sources);

void sources_read(struct sources *sources, struct sources_saved *ret_saved);

#endif
