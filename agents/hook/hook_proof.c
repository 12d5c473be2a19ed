/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_proof.c: see the header. All four agents write one JSON object a line. A marker
 * counts if it begins a line of a JSON string and nothing but a closing tag of the agent's is after
 * it there. So a copy of a hook's output inside another string, a tool's output that is quoted, and
 * a line that is not whole do not count.
 */
#include "agents/hook/hook_proof.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BASE = 36, RECENT = 256 << 10, MOST = 16 << 20 }; /* bytes */

static const char opening[] = "[tidings ";

void hook_marker_write(uint64_t delivery, char text[HOOK_MARKER_SIZE]) {
  char digits[16], *at = digits + sizeof digits;
  *--at = '\0';
  do *--at = "0123456789abcdefghijklmnopqrstuvwxyz"[delivery % BASE];
  while (delivery /= BASE);
  memcpy(text, opening, sizeof opening);
  strcat(strcat(text, at), "]");
}

/* -- one marker -------------------------------------------------------------------------------- */

/* Reads the id and the closing bracket. Returns what is after it; NULL: this is no marker. */
static const char *read_id(const char *at, const char *end, uint64_t *ret_id) {
  uint64_t id = 0;
  const char *start = at;
  for (; at < end && (isdigit((unsigned char)*at) || islower((unsigned char)*at)); at++) {
    uint64_t digit = (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : *at - 'a' + 10);
    if (id > (UINT64_MAX - digit) / BASE) return NULL;
    id = id * BASE + digit;
  }
  if (at == start || at == end || *at != ']') return NULL;
  *ret_id = id;
  return at + 1;
}

static bool begins_line(const char *start, const char *at) {
  return at - start >= 3 && at[-1] == 'n' && at[-2] == '\\' && at[-3] != '\\';
}

static bool ends_text(const char *at, const char *end) {
  while (end - at > 2 && at[0] == '\\' && at[1] == 'n') at += 2;
  if (end - at > 2 && at[0] == '<' && at[1] == '/') {
    while (at < end && *at != '>' && *at != '"' && *at != '\\') at++;
    if (at < end && *at == '>') at++;
  }
  return at < end && *at == '"' && memchr(at, '\n', (size_t)(end - at));
}

static void note(uint64_t id, struct hook_sought *sought, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (sought[i].delivery == id) sought[i].found = true;
  }
}

static bool has_all(const struct hook_sought *sought, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!sought[i].found) return false;
  }
  return true;
}

/* Returns whether there is a marker at all. */
static bool look_in(const char *text, size_t len, struct hook_sought *sought, size_t count) {
  const char *end = text + len, *at = text;
  bool any = false;
  while ((at = memmem(at, (size_t)(end - at), opening, sizeof opening - 1))) {
    uint64_t id = 0;
    const char *start = at, *after = read_id(at + sizeof opening - 1, end, &id);
    at += sizeof opening - 1;
    if (!after || !begins_line(text, start) || !ends_text(after, end)) continue;
    any = true;
    note(id, sought, count);
  }
  return any;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* The last `most` bytes of the file, or all. NULL: they cannot be read. */
static char *read_end(int fd, off_t size, size_t most, size_t *ret_len) {
  size_t len = size < (off_t)most ? (size_t)size : most, have = 0;
  char *text = malloc(len + 1);
  while (text && have < len) {
    ssize_t got = pread(fd, text + have, len - have, size - (off_t)len + (off_t)have);
    if (got <= 0) break;
    have += (size_t)got;
  }
  *ret_len = have;
  return text;
}

static enum hook_transcript look_at_end(int fd, off_t size, size_t most, struct hook_sought *sought,
                                        size_t count) {
  size_t len = 0;
  char *text = read_end(fd, size, most, &len);
  if (!text) return HOOK_TRANSCRIPT_UNREADABLE;
  bool any = look_in(text, len, sought, count);
  free(text);
  return any ? HOOK_TRANSCRIPT_MARKED : HOOK_TRANSCRIPT_PLAIN;
}

enum hook_transcript hook_proof_look(const char *path, struct hook_sought *sought, size_t count) {
  struct stat status;
  enum hook_transcript kind = HOOK_TRANSCRIPT_UNREADABLE;
  int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  if (fd < 0) return kind;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    kind = look_at_end(fd, status.st_size, RECENT, sought, count);
    if (kind && !has_all(sought, count) && status.st_size > RECENT)
      kind = look_at_end(fd, status.st_size, MOST, sought, count);
  }
  close(fd);
  return kind;
}
