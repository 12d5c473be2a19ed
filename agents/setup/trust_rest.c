/* SPDX-License-Identifier: MIT
 *
 * agents/setup/trust_rest.c: what Codex leaves of the table of trusted hooks when the last of them
 * is forgotten: a header with nothing below it, which means the same as none. Only that line is
 * known here, nothing else of TOML.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"

static const char header[] = "[hooks.state]";

static size_t blanks(const char *text) { return strspn(text, " \t\r\n"); }

/* The header's line; NULL: there is none, or something stands below it. */
static char *find_empty(char *text) {
  for (char *at = text; (at = strstr(at, header)); at++) {
    const char *behind = at + strlen(header), *next = behind + blanks(behind);
    bool alone = (at == text || at[-1] == '\n') && (!*behind || strchr("\r\n", *behind));
    if (alone && (!*next || *next == '[')) return at;
  }
  return NULL;
}

char *setup_trust_rest(const char *text) {
  char *rest = strdup(text), *start = rest ? find_empty(rest) : NULL;
  if (!start) return rest;
  char *end = start + strlen(header);
  end += blanks(end);
  if (!*end) { /* the last of the file: the empty line above it goes too */
    while (start > rest + 1 && start[-1] == '\n' && (start[-2] == '\n' || start[-2] == '\r'))
      start -= start[-2] == '\r' ? 2 : 1;
  }
  memmove(start, end, strlen(end) + 1);
  return rest;
}
