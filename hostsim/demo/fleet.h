/* SPDX-License-Identifier: MIT
 *
 * demo/fleet.h: `hostsim demo --fleet`: one session on two machines, which share a store in a
 * database. Each machine is a folder. When a host is killed on one machine, the session continues
 * on the other.
 */
#ifndef HOSTSIM_DEMO_FLEET_H
#define HOSTSIM_DEMO_FLEET_H

#include "demo/demo.h"

#define FLEET_LIVES 3 /* on machine A, on B, and on A again */

/* Plays the demo in the database at `url`, in a schema that is removed afterwards; NULL: on a
 * server that it starts. `dir` has everything else. Returns the exit code. */
int demo_fleet(const char *plugin, const char *url, const char *dir, const struct screen *screen);

extern const struct cli_verb verb_internal_fleet_host;

/* -- server.c ---------------------------------------------------------------------------------- */

/* A PostgreSQL server in a temporary folder, with a socket there. It never runs as root. */
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
