/* SPDX-License-Identifier: MIT
 *
 * agents/setup/quote.c: quotes words for a shell.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"

char *setup_quote(const char *text) {
  char *quoted = NULL;
  size_t size = 0;
  size_t plain =
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-");
  if (text[0] && !text[plain]) return strdup(text);
  FILE *out = open_memstream(&quoted, &size);
  if (!out) return NULL;
  fputc('\'', out);
  for (const char *at = text; *at; at++) fputs(*at == '\'' ? "'\\''" : (char[]){*at, '\0'}, out);
  fputc('\'', out);
  if (!fclose(out)) return quoted;
  free(quoted);
  return NULL;
}

char *setup_unquote(const char *text, size_t len) {
  char *plain = calloc(1, len + 1);
  const char *end = text + len;
  for (char *to = plain; plain && text < end; text++) {
    if (end - text >= 4 && strncmp(text, "'\\''", 4) == 0) {
      *to++ = '\'';
      text += 3;
    } else if (*text != '\'') {
      *to++ = *text;
    }
  }
  return plain;
}
