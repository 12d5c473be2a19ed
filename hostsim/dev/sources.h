/* SPDX-License-Identifier: MIT
 *
 * dev/sources.h: finds out which files have been saved: sources in some folders, and the plugin.
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
    bool tree;  /* the folders below count too */
  } * folders;
  size_t count, capacity;
  char *plugin; /* the plugin's name in the first folder, which is no tree */
};

/* The saves since the last call of sources_read. */
struct sources_saved {
  bool plugin;
  char source[256]; /* the path of one of them; "": none */
};

/* These functions return 0 or an errno. They watch the plugin's folder, because builds replace the
 * plugin by renaming. */
int sources_begin(const char *plugin, struct sources *ret_sources);
int sources_add(struct sources *sources, const char *folder);
void sources_finish(struct sources *sources);

void sources_read(struct sources *sources, struct sources_saved *ret_saved);

#endif
