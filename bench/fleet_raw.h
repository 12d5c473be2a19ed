/* SPDX-License-Identifier: MIT
 *
 * fleet_raw.h: the floor of calls on a database: hand-written SQL for the same bytes and the same
 * durability, prepared and in pipelines, without any code of tidings.
 */
#ifndef FLEET_RAW_H
#define FLEET_RAW_H

#include <stdbool.h>
#include <stdint.h>

struct fleet_raw;

/* fleet_raw.sql must have made the tables. `name`: the name of the connection on the server. */
struct fleet_raw *fleet_raw_open(const char *conninfo, const char *name);
void fleet_raw_close(struct fleet_raw *raw);
/* Inserts a row and commits. */
void fleet_raw_push(struct fleet_raw *raw, const char *session);
/* Pushes with the store's own push(). */
void fleet_raw_push_in_sql(struct fleet_raw *raw, const char *session);
/* Delivers all pushed rows like a plain queue: in two transactions of two round trips each. */
void fleet_raw_deliver(struct fleet_raw *raw, const char *session);
/* Asks in one round trip whether the session has changed and whether anything waits. */
void fleet_raw_look(struct fleet_raw *raw);
/* Reads a row in a round trip. */
void fleet_raw_read(struct fleet_raw *raw);
/* Removes the rows of all pushers, including those of the plugin. */
void fleet_raw_empty(struct fleet_raw *raw);

/* Notes which of the server's processes serve connections of that name. */
void fleet_raw_find_servers(struct fleet_raw *raw, const char *name);
/* Returns the processor time of these processes, or with `own`, of the one that serves this
 * connection. */
uint64_t fleet_raw_server_ns(const struct fleet_raw *raw, bool own);

/* Pins this process, its server's process and the found processes to one processor. Otherwise the
 * system places them on one or two processors, for seconds; on two, a short call takes three times
 * as long, because each message wakes a processor up. */
void fleet_raw_hold(const struct fleet_raw *raw);

#endif
