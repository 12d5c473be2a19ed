/* SPDX-License-Identifier: MIT
 *
 * raw.h: the floor: LMDB itself with the same bytes and the same durability, without any code of
 * tidings. It uses the keys and flags that a careful program would choose: (session, n) as 13
 * bytes, MDB_NOTLS and MDB_NORDAHEAD, one tree, one transaction a change.
 */
#ifndef RAW_H
#define RAW_H

#include <stddef.h>
#include <stdint.h>

struct raw;

/* Sets the size of the next records; the plugin's size, so that both write the same bytes. */
void raw_set_record_bytes(size_t bytes);
size_t raw_record_bytes(void);

struct raw *raw_open(const char *folder); /* makes the folder */
void raw_close(struct raw *raw);
/* Writes a record and commits. */
void raw_put(struct raw *raw, uint32_t session, uint64_t n);
/* Writes the records first … first + count - 1 in one commit, for preparations. */
void raw_put_many(struct raw *raw, uint32_t session, uint64_t first, uint64_t count);
/* Renews and resets a parked read transaction `times` times. */
void raw_renew(struct raw *raw, uint64_t times);
/* Work like a plain queue. raw_deliver reads each record of the session, writes it back with a mark
 * that it is leased, commits, and returns how many there were. raw_settle deletes each one and
 * commits. */
uint64_t raw_deliver(struct raw *raw, uint32_t session);
void raw_settle(struct raw *raw, uint32_t session);

/* Returns the mean size of the values in the environment in `folder`. */
double raw_mean_value(const char *folder);

#endif
