/* SPDX-License-Identifier: MIT
 *
 * kit.h: functions that the tests of hostkit share: folders, plugins by name, a host that keeps its
 * log, and lists of what this process has open and mapped. They need no test framework: if the
 * environment fails, the process ends.
 */
#ifndef TESTS_HOSTKIT_KIT_H
#define TESTS_HOSTKIT_KIT_H

#include <pthread.h>
#include <stdatomic.h>

#include <tidings/hostkit.h>

/* The surroundings of a test. Everything lies in `root`. */
struct kit {
  char root[64];
  char store[96];
  char copies[96]; /* copy_dir, which must be empty when nothing is loaded or tried */
  char probe[512];
  char plugin[512];
  int fds_before;
  struct tidings_host host;
  atomic_uint warnings;
  char last_warning[512];
  struct hostkit_options options; /* complete except for the plugin */
};

void kit_init(struct kit *kit);

/* Removes the folders. Returns NULL, or what the test has not cleaned up: descriptors, copies. */
const char *kit_finish(struct kit *kit);

/* Returns the path of a test plugin in the build, in a buffer of the kit, and sets it in the
 * options. */
const char *kit_plugin(struct kit *kit, const char *name);

/* Copies a test plugin's bytes over root/own.so, like a build, and makes own.so the plugin of the
 * options. */
void kit_build_own(struct kit *kit, const char *name);

/* Opens good plugin `name`, or ends the process with the reason. */
struct hostkit *kit_open(struct kit *kit, const char *name);

/* Sends the event `text` and drops the reply. */
int32_t kit_event(struct hostkit *hostkit, const char *text, struct tidings_error *error);

/* Counts the lines of the store's log that begin with `start`. */
int kit_log_lines(const struct kit *kit, const char *start);

void kit_touch(const struct kit *kit, const char *name); /* makes an empty file in the store's
                                                            folder */
void kit_untouch(const struct kit *kit, const char *name);
void kit_make_gate(const struct kit *kit); /* makes the FIFO at which the event `wait` waits */
/* Returns when a call waits there; closing the descriptor lets the call continue. */
int kit_hold_gate(const struct kit *kit);

pthread_t kit_start(void *(*run)(void *argument),
                    void *argument); /* starts a thread; on failure the process ends */

int kit_count_fds(void);
int kit_count_entries(const char *folder);
int kit_is_mapped(const char *part_of_path); /* 1 or 0, from /proc/self/maps */

struct tidings_span kit_span(const char *text);

#endif
