/* SPDX-License-Identifier: MIT
 *
 * good.h: declarations that the parts of good.c share.
 */
#ifndef TESTS_BADPLUGINS_GOOD_H
#define TESTS_BADPLUGINS_GOOD_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tidings/tidings.h>

#ifndef GOOD_BUILD_ID
#define GOOD_BUILD_ID "A"
#endif
#ifdef GOOD_NEWER
#define LATER_BYTES 24u
#define GOOD_MINOR (TIDINGS_ABI_MINOR + 7)
#else
#define LATER_BYTES 0u
#endif
#ifndef GOOD_MINOR
#define GOOD_MINOR TIDINGS_ABI_MINOR
#endif

/* Fields that a later minor version has after the known ones. */
struct later {
  unsigned char bytes[24];
};

struct good_plugin {
  struct tidings_plugin plugin;
  struct later later;
  const struct tidings_host *host;
  int folder;
  int log;          /* opened for appending; each line is one write */
  int lock;         /* held while the instance is open, so a second one in the folder is refused */
  int fifo;         /* "rings" in the store folder; -1: nobody waits */
  atomic_int rings; /* rings that next_session has not named */
  atomic_int out;
  atomic_int closed;
  char *configuration;
};

static inline struct good_plugin *self(struct tidings_plugin *plugin) {
  return (struct good_plugin *)(void *)plugin;
}

static inline int32_t fail(struct tidings_error *error, int32_t code, const char *text) {
  if (error && error->size >= sizeof *error) {
    error->code = code;
    (void)snprintf(error->text, sizeof error->text, "%s", text);
  }
  return code;
}

static inline struct tidings_span span(const char *text) {
  return (struct tidings_span){.ptr = text, .len = strlen(text)};
}

static inline int is(const struct tidings_span *text, const char *word) {
  return text->len == strlen(word) && memcmp(text->ptr, word, text->len) == 0;
}

static inline int32_t write_line(struct good_plugin *good, const char *what,
                                 const struct tidings_span *text, struct tidings_error *error) {
  char line[512];
  int len = snprintf(line, sizeof line, "%s %s %.*s\n", GOOD_BUILD_ID, what, (int)text->len,
                     text->ptr ? text->ptr : "");
  if (write(good->log, line, (size_t)len) != len)
    return fail(error, TIDINGS_E_STORE, "cannot write a line");
  return TIDINGS_OK;
}

/* The extensions: the query "configure", and waking through a FIFO. */
const void *good_get_extension(const char *id);

#endif
