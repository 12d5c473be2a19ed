/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_transcript.c: writes the files into a folder of this process, which is removed at
 * its end.
 */
#include "fuzz_transcript.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/transcript/ended.h"
#include "agents/transcript/marker.h"
#include "agents/transcript/proof.h"
#include "agents/transcript/undone.h"
#include "common/buffer.h"
#include "fuzz.h"

#define SESSION "01a204f8-30d8-7813-9fa3-87d627a0a6e0"

static const char *const parts[] = {"", "/sessions", "/sessions/2026", "/sessions/2026/11",
                                    "/sessions/2026/11/22"};
/* The names that Codex uses; files of other agents may have any name. */
static const char *const files[] = {
    "/sessions/2026/11/22/rollout-2026-11-22T20-35-04-" SESSION
    "_01a204f8-35a6-7681-9784-c13c367ae72d.jsonl",
    "/sessions/2026/11/22/rollout-2026-11-22T20-35-04-" SESSION ".jsonl",
    "/sessions/2026/11/22/rollout-2026-11-22T20-35-04-" SESSION
    "_01a204f8-37ef-7cf0-a432-7071bb7886c6.jsonl",
};
enum { FILES = sizeof files / sizeof *files, PARTS = sizeof parts / sizeof *parts };

static char folder[32];

static const char *path_of(const char *part) {
  static char path[256];
  (void)snprintf(path, sizeof path, "%s%s", folder, part);
  return path;
}

static void remove_files(void) {
  for (size_t i = 0; i < FILES; i++) (void)unlink(path_of(files[i]));
}

static void remove_folder(void) {
  remove_files();
  for (size_t i = PARTS; i-- > 0;) (void)rmdir(path_of(parts[i]));
}

static void make_folder(void) {
  if (folder[0]) return;
  (void)snprintf(folder, sizeof folder, "/tmp/fuzz-hook-XXXXXX");
  MUST(mkdtemp(folder), "no folder");
  (void)atexit(remove_folder);
  for (size_t i = 1; i < PARTS; i++) MUST(mkdir(path_of(parts[i]), 0700) == 0, "no folder");
}

static void write_lines(int fd, size_t bytes) {
  static char line[4096];
  if (!line[0]) {
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
  }
  for (size_t i = 0; i < bytes; i += sizeof line)
    MUST(write(fd, line, sizeof line) == sizeof line, "not written");
}

/* Writes the file, with filler in the middle, so that a read there begins at a line. */
static size_t write_file(const char *path, struct tidings_span text, size_t more) {
  const char *middle =
      more && text.len ? memchr(text.ptr + text.len / 2, '\n', text.len - text.len / 2) : NULL;
  size_t first = middle ? (size_t)(middle + 1 - text.ptr) : 0;
  const char *rest = text.len ? text.ptr + first : "";
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  struct stat status;
  MUST(fd >= 0 && write(fd, text.ptr, first) == (ssize_t)first, "no file");
  write_lines(fd, more);
  MUST(write(fd, rest, text.len - first) == (ssize_t)(text.len - first), "no file");
  MUST(fstat(fd, &status) == 0, "no file");
  (void)close(fd);
  return (size_t)status.st_size;
}

/* -- what must hold ---------------------------------------------------------------------------- */

static void check_marks(const struct hook_marks *marks, size_t largest) {
  bool any = false;
  for (size_t i = 0; i < marks->count; i++) {
    const struct hook_mark *mark = &marks->all[i];
    MUST(mark->at > 0 && mark->at < largest, "a mark at %zu of %zu", mark->at, largest);
    MUST(hook_marks_held(marks, mark->delivery) != hook_marks_gone(marks, mark->delivery),
         "neither or both");
    any = any || mark->undone;
  }
  MUST(any == marks->any_undone, "any_undone is %d", marks->any_undone);
}

/* Checks that a delivery that is not undone is also found by the check for deliveries. */
static void check_held(const char *path, const struct host *host, const struct hook_marks *marks) {
  for (size_t i = 0; i < marks->count && host->undoing != HOST_UNDOES_BY_LINES &&
                     host->undoing != HOST_UNDOES_BY_FILES;
       i++) {
    struct hook_sought sought = {.delivery = marks->all[i].delivery};
    MUST(hook_proof_look_resumed(path, host, &sought, 1) == HOOK_TRANSCRIPT_MARKED && sought.found,
         "a mark that is none");
  }
}

/* -- markers ----------------------------------------------------------------------------------- */

static uint64_t read_id(struct tidings_span text, size_t *at) {
  uint64_t id = 0;
  for (; *at < text.len && strchr("0123456789abcdefghijklmnopqrstuvwxyz", text.ptr[*at]) &&
         text.ptr[*at];
       (*at)++) {
    char c = text.ptr[*at];
    id = id * 36 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return id;
}

/* Adds proofs to the input's markers, such as "[tidings 1z141z5]", because a fuzzer cannot find
 * them. */
static void sign_markers(struct tidings_span text, struct buffer *out) {
  static const char opening[] = HOOK_MARKER_OPENING;
  static const uint8_t key[16] = {1};
  hook_marker_set_key(key);
  while (text.len) {
    const char *found = memmem(text.ptr, text.len, opening, sizeof opening - 1);
    size_t begin = found ? (size_t)(found - text.ptr) : text.len, at = begin;
    buffer_append(out, text.ptr, begin);
    if (!found) return;
    at += sizeof opening - 1;
    size_t digits = at;
    uint64_t id = read_id(text, &at);
    char marker[HOOK_MARKER_SIZE];
    hook_marker_write(HOOK_MARKER_OF_DELIVERY, id, marker);
    if (at > digits && at < text.len && text.ptr[at] == ']') {
      at++;
      buffer_text(out, marker);
    } else {
      buffer_append(out, text.ptr + begin, at - begin);
    }
    text = span_of(text.ptr + at, text.len - at);
  }
}

static void fuzz_signed(const struct host *host, bool is_large, struct tidings_span text);

void fuzz_transcript(const struct host *host, bool is_large, struct tidings_span text) {
  struct buffer with_proofs = BUFFER_EMPTY;
  sign_markers(text, &with_proofs);
  MUST(!with_proofs.failed, "no memory");
  fuzz_signed(host, is_large, buffer_view(&with_proofs));
  buffer_free(&with_proofs);
}

static void fuzz_signed(const struct host *host, bool is_large, struct tidings_span text) {
  enum { MORE = 300 << 10 };
  size_t largest = 0;
  char path[256];
  make_folder();
  remove_files();
  for (size_t i = 0; i < FILES && (i == 0 || text.len); i++) {
    const char *nul = text.len ? memchr(text.ptr, '\0', text.len) : NULL;
    size_t len = nul ? (size_t)(nul - text.ptr) : text.len;
    size_t size = write_file(path_of(files[i]), span_of(text.ptr, len), is_large && !i ? MORE : 0);
    if (size > largest) largest = size;
    if (text.len) text = span_of(text.ptr + len + (nul ? 1 : 0), text.len - len - (nul ? 1 : 0));
  }
  (void)snprintf(path, sizeof path, "%s", path_of(files[0]));
  struct hook_marks marks;
  MUST(hook_undone_read(path, host, &marks) == 0, "no memory");
  check_marks(&marks, largest);
  check_held(path, host, &marks);
  hook_marks_finish(&marks);
  (void)hook_ended_by_itself(path, host);
}
