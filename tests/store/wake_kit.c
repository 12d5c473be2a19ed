/* SPDX-License-Identifier: MIT
 */
#include "wake_kit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct tidings_entry tidings_entry;

const struct tidings_wake *wake_extension(void) {
  const struct tidings_wake *wake = tidings_entry.get_extension(TIDINGS_EXT_WAKE);
  cr_assert_not_null(wake);
  return wake;
}

int wake_fd(struct tidings_plugin *plugin) {
  struct tidings_error error = new_error();
  int32_t fd = -1;
  int code = wake_extension()->descriptor(plugin, &fd, &error);
  cr_assert_eq(code, 0, "descriptor: %d %s", code, error.text);
  cr_assert_geq(fd, 0);
  return fd;
}

bool is_rung(int fd, int patience_ms) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  return poll(&ready, 1, patience_ms) == 1 && (ready.revents & POLLIN);
}

static void take_next(struct tidings_plugin *plugin, char id[256]) {
  struct tidings_error error = new_error();
  size_t len = 77;
  int code = wake_extension()->next_session(plugin, id, 255, &len, &error);
  cr_assert_eq(code, 0, "next_session: %d %s", code, error.text);
  id[len] = '\0';
}

void next_is_one_of(struct tidings_plugin *plugin, const char *expected) {
  char id[256];
  take_next(plugin, id);
  cr_assert(id[0] && strstr(expected, id), "next_session says \"%s\"", id);
}

void next_is(struct tidings_plugin *plugin, const char *expected) {
  char id[256];
  take_next(plugin, id);
  cr_assert_str_eq(id, expected, "next_session says \"%s\", expected \"%s\"", id, expected);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

void next_are(struct tidings_plugin *plugin, const char *expected) {
  char ids[8][256] = {"", "", "", "", "", "", "", ""}, all[sizeof ids] = "";
  size_t count = 0, len;
  for (;
       count < 8 && wake_extension()->next_session(plugin, ids[count], 255, &len, NULL) == 0 && len;
       count++)
    ids[count][len] = '\0';
  qsort(ids, count, sizeof *ids, by_name);
  char *end = all;
  for (size_t i = 0; i < count; i++) {
    if (i) *end++ = ' ';
    end = stpcpy(end, ids[i]);
  }
  cr_assert_str_eq(all, expected, "next_session says \"%s\", expected \"%s\"", all, expected);
}

void take_session(struct tidings_plugin *plugin, const char *session) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error, "{\"type\":\"session.opened\",\"session\":\"%s\",\"data\":{}}",
                   session);
  cr_assert_eq(code, 0, "session.opened: %d %s", code, error.text);
}

int waiting(struct tidings_plugin *plugin) {
  int fd = wake_fd(plugin);
  take_session(plugin, "s");
  next_is(plugin, "s"); /* the first time every session is named */
  next_is(plugin, "");
  cr_assert(!is_rung(fd, 0));
  return fd;
}

struct other_event {
  const char *session, *type, *data;
};

static int send_other_event(struct child *self, void *context) {
  const struct other_event *other_event = context;
  struct tidings_error error = new_error();
  (void)self;
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  int code = event(plugin, &error, "{\"type\":\"%s\",\"session\":\"%s\",\"data\":{%s}}",
                   other_event->type, other_event->session, other_event->data);
  if (code) (void)fprintf(stderr, "%s: %d %s\n", other_event->type, code, error.text);
  plugin_end(plugin);
  return code ? 1 : 0;
}

void event_by_another(const char *session, const char *type, const char *data) {
  struct other_event other_event = {session, type, data};
  struct child child = child_start(send_other_event, &other_event);
  cr_assert_eq(child_wait(&child), 0);
}

void push_by_another(const char *session, const char *members) {
  char data[256];
  (void)snprintf(data, sizeof data, "\"kind\":\"a.b\",\"message\":\"m\",%s", members);
  event_by_another(session, "notification", data);
}
