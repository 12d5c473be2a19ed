/* SPDX-License-Identifier: MIT
 *
 * tests/store/wake_kit.h: functions for the tests of waking: they ask which session rang, and push
 * from another process.
 */
#ifndef TESTS_STORE_WAKE_KIT_H
#define TESTS_STORE_WAKE_KIT_H

#include <criterion/criterion.h>

#include "kit.h"

const struct tidings_wake *wake_extension(void);
int wake_fd(struct tidings_plugin *plugin); /* the descriptor, which must be given */
bool is_rung(int fd, int patience_ms);      /* does it become readable within that time? */
void next_is_one_of(struct tidings_plugin *plugin, const char *expected);
void next_is(struct tidings_plugin *plugin,
             const char *expected); /* next_session must name that session; "": none */
void next_are(
    struct tidings_plugin *plugin,
    const char *expected); /* it names these until there are none: "s t", by the alphabet */
void take_session(struct tidings_plugin *plugin,
                  const char *session); /* also takes what that rings */
/* Start a producer process, which sends an event with these members of data, or pushes a
 * notification. */
void event_by_another(const char *session, const char *type, const char *data_members);
void push_by_another(const char *session, const char *data_members);
#define CRITICAL "\"level\":\"critical\""

/* Makes this plugin own the session "s", and returns the descriptor, which nothing rings yet. */
int waiting(struct tidings_plugin *plugin);

#define LONG_MS 20000 /* more than enough for anything that must happen */

#endif
