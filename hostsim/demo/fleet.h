/* SPDX-License-Identifier: MIT
 *
 * hostsim demo --fleet: one session on two machines, which share a store in a database. Each
 * machine is a folder of its own; its hosts are killed, and the other one goes on.
 */
#ifndef HOSTSIM_DEMO_FLEET_H
#define HOSTSIM_DEMO_FLEET_H

#include "demo/demo.h"

#define FLEET_LIVES 3 /* on machine A, on B, and on A again */

/* Plays it in the database at `url`, in a schema that is removed after it; NULL: on a server of its
 * own. `dir` is for everything else. Returns the exit code. */
int demo_fleet(const char *plugin, const char *url, const char *dir, const struct screen *screen);

extern const struct cli_verb verb_internal_fleet_host;

/* -- server.c ---------------------------------------------------------------------------------- */

/* A PostgreSQL server in a temporary folder, on a socket in it, which never runs as root. */
struct demo_server {
  char *folder;
  char *url;
  pid_t pid; /* 0: it does not run */
};
/* Returns 0; -1 with a sentence on stderr. demo_server_stop may follow in either case, if *server
 * was zero before. */
int demo_server_start(struct demo_server *server);
void demo_server_stop(struct demo_server *server);

#endif
