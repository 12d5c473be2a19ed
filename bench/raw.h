/* SPDX-License-Identifier: MIT
 *
 * raw.h: the floor: what LMDB itself needs for the same bytes and the same durability, without
 * anything of ours. It uses the keys and flags that a careful program would choose: (session, n) as
 * 13 bytes, MDB_NOTLS and MDB_NORDAHEAD, one tree, one transaction a change.
 */
#ifndef RAW_H
#define RAW_H

#include <stddef.h>
#include <stdint.h>

struct raw;

/* The size of the records from now on: the plugin's own, so that both write the same bytes. */
void raw_set_record_bytes(size_t bytes);
size_t raw_record_bytes(void);

struct raw *raw_open(const char *folder); /* makes the folder */
void raw_close(struct raw *raw);
/* Writes a record and commits. */
void raw_put(struct raw *raw, uint32_t session, uint64_t n);
/* Records first … first + count - 1 in one commit: for preparations. */
void raw_put_many(struct raw *raw, uint32_t session, uint64_t first, uint64_t count);
/* A read transaction that was parked: renew it and reset it, `times` times. */
void raw_renew(struct raw *raw, uint64_t times);
/* Deliver, as a plain queue does it: read each of the session's records and put it back marked as
 * leased, commit. Settle: delete each, commit. Returns how many there were. */
uint64_t raw_deliver(struct raw *raw, uint32_t session);
void raw_settle(struct raw *raw, uint32_t session);

/* The mean size of the values in the tree of the environment in `folder`. */
double raw_mean_value(const char *folder);

#endif
