/* SPDX-License-Identifier: MIT
 *
 * good_extensions.c: the extensions of good.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "good.h"

#ifndef GOOD_QUERY
#define GOOD_QUERY TIDINGS_EXT_QUERY
#endif
#ifndef GOOD_WAKE
#define GOOD_WAKE TIDINGS_EXT_WAKE
#endif
struct good_answer {
  struct tidings_answer answer;
  char json[512];
};

/* {"name":"configure"} returns the configuration, and {"name":"configure","config":{…}} sets it.
 * Any other query is unknown. */
static int32_t query(struct tidings_plugin *plugin, const struct tidings_span *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error) {
  static const char setting[] = "{\"name\":\"configure\",\"config\":";
  struct good_plugin *good = self(plugin);
  if (atomic_load(&good->closed)) return fail(error, TIDINGS_E_CLOSED, "quiesced");
  if (request->len > sizeof setting && memcmp(request->ptr, setting, sizeof setting - 1) == 0) {
    free(good->configuration);
    good->configuration = strndup(request->ptr + sizeof setting - 1, request->len - sizeof setting);
  } else if (!is(request, "{\"name\":\"configure\"}")) {
    return fail(error, TIDINGS_E_UNSUPPORTED, "unknown query");
  }
  struct good_answer *made = calloc(1, sizeof *made);
  if (!made || !good->configuration) {
    free(made);
    return fail(error, TIDINGS_E_NOMEM, "no memory");
  }
  (void)snprintf(made->json, sizeof made->json, "{\"config\":%s}", good->configuration);
  made->answer = (struct tidings_answer){.size = sizeof made->answer, .json = span(made->json)};
  atomic_fetch_add(&good->out, 1);
  *ret_answer = &made->answer;
  return TIDINGS_OK;
}

static void release_answer(struct tidings_plugin *plugin, const struct tidings_answer *answer) {
  if (!answer) return;
  struct good_answer *made = NULL;
  memcpy(&made, &answer, sizeof(void *));
  free(made);
  atomic_fetch_sub(&self(plugin)->out, 1);
}

static const struct tidings_query query_extension = {
    .size = sizeof query_extension, .query = query, .release_answer = release_answer};

static int32_t descriptor(struct tidings_plugin *plugin, int32_t *ret_fd,
                          struct tidings_error *error) {
  struct good_plugin *good = self(plugin);
  struct tidings_span nothing = span("");
  if (good->fifo < 0 && mkfifoat(good->folder, "rings", 0600) && errno != EEXIST)
    return fail(error, TIDINGS_E_STORE, "cannot make a FIFO");
  if (good->fifo < 0) good->fifo = openat(good->folder, "rings", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (good->fifo < 0) return fail(error, TIDINGS_E_STORE, "cannot open the FIFO");
  *ret_fd = good->fifo;
  return write_line(good, "waits", &nothing, error);
}

/* Names the session "rung" once for each ring. */
static int32_t next_session(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                            size_t *ret_len, struct tidings_error *error) {
  struct good_plugin *good = self(plugin);
  char byte;
  if (buffer_size < 4) return fail(error, TIDINGS_E_INVAL, "the buffer is too small");
  bool rung = good->fifo >= 0 && read(good->fifo, &byte, 1) == 1;
  if (atomic_load(&good->rings)) {
    rung = true;
    atomic_fetch_sub(&good->rings, 1);
  }
  if (rung) memcpy(buffer, "rung", 4);
  *ret_len = rung ? 4 : 0;
  return TIDINGS_OK;
}

static const struct tidings_wake wake_extension = {
    .size = sizeof wake_extension, .descriptor = descriptor, .next_session = next_session};

const void *good_get_extension(const char *id) {
  if (strcmp(id, GOOD_WAKE) == 0) return &wake_extension;
  return strcmp(id, GOOD_QUERY) == 0 ? &query_extension : NULL;
}
