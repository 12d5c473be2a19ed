/* SPDX-License-Identifier: MIT
 *
 * target.h: the measured plugin, used only through its ABI. Any failure ends the bench, because
 * figures of a failing plugin mean nothing.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include <tidings/tidings.h>

struct target {
  void *image;
  const struct tidings_entry *entry;
  struct tidings_plugin *plugin; /* NULL: not open */
};

void target_load(struct target *target, const char *path);
void target_open(struct target *target, const char *store, uint32_t role);
void target_close(struct target *target);
void target_unload(struct target *target); /* closes first */

/* Pushes a message of 120 bytes. Returns 0 or TIDINGS_E_FULL. */
int32_t target_push(struct target *target, const char *session, uint64_t n);
/* Pushes `count` messages by parallel threads. */
void target_fill(struct target *target, const char *session, uint64_t count);
void target_push_critical(struct target *target, const char *session, uint64_t n);
/* Reports a changed file, a different one for each n. */
void target_report_file(struct target *target, const char *session, uint64_t n);
struct sample_report; /* reports.h */
void target_push_report(struct target *target, const char *session,
                        const struct sample_report *report);
void target_configure(struct target *target, const char *configuration);
/* Delivers a tool result; returns the delivery id, 0 when nothing was pending. *ret_count may be
 * NULL. */
uint64_t target_deliver(struct target *target, const char *session, size_t *ret_count);
/* The same with a bound for the bytes of the texts, as an agent's hook has one. */
uint64_t target_deliver_in(struct target *target, const char *session, uint64_t room,
                           size_t *ret_count);
/* *ret_bytes: how many bytes of text the delivery had. */
uint64_t target_deliver_text(struct target *target, const char *session, size_t *ret_bytes);
void target_commit(struct target *target, uint64_t delivery);
void target_roll_back(struct target *target, uint64_t delivery);
int target_wake_descriptor(struct target *target);
/* The next session that rang, NUL-terminated; false: none. */
bool target_next_session(struct target *target, char *session, size_t size);
/* Delivers and commits until nothing is pending. */
void target_drain(struct target *target, const char *session);

#endif
