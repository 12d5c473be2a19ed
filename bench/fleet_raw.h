/* SPDX-License-Identifier: MIT
 *
 * fleet_raw.h: the floor of calls on a database: the SQL that somebody would write by hand for the
 * same bytes and the same durability, prepared, in pipelines, without anything of ours.
 */
#ifndef FLEET_RAW_H
#define FLEET_RAW_H

#include <stdbool.h>
#include <stdint.h>

struct fleet_raw;

/* The tables are there: fleet_raw.sql makes them. `name`: how the server names the connection. */
struct fleet_raw *fleet_raw_open(const char *conninfo, const char *name);
void fleet_raw_close(struct fleet_raw *raw);
/* Inserts a row and commits. */
void fleet_raw_push(struct fleet_raw *raw, const char *session);
/* Pushes with the store's own push(). */
void fleet_raw_push_in_sql(struct fleet_raw *raw, const char *session);
/* Delivers all that was pushed as a plain queue does: two transactions of two round trips each. */
void fleet_raw_deliver(struct fleet_raw *raw, const char *session);
/* Asks in a round trip: is the session as it was, and does anything wait? */
void fleet_raw_look(struct fleet_raw *raw);
/* Reads a row in a round trip. */
void fleet_raw_read(struct fleet_raw *raw);
/* Removes the rows of all pushers, ours too. */
void fleet_raw_empty(struct fleet_raw *raw);

/* Notes which of the server's processes serve connections of that name. */
void fleet_raw_find_servers(struct fleet_raw *raw, const char *name);
/* Returns the processor time of these processes, or with `own`, of the one that serves this
 * connection. */
uint64_t fleet_raw_server_ns(const struct fleet_raw *raw, bool own);

/* Holds this process, its server's and those that were found on one processor. Else the system
 * places them on one or on two, for seconds: on two, a short call takes three times as long, since
 * each message wakes a processor up. */
void fleet_raw_hold(const struct fleet_raw *raw);

#endif
