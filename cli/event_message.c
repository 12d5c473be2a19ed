/* SPDX-License-Identifier: MIT
 */
#include "cli/event_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/file.h"
#include "common/utf8.h"

enum { LARGEST_TEXT = 1 << 20 }; /* from stdin; the plugin has smaller limits */

/* Reads stdin without the line break at the end of a command's output. */
static int read_stdin(const struct cli *cli, char **ret_text) {
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_all(STDIN_FILENO, LARGEST_TEXT, &text, &len);
  if (reason == EFBIG) return cli_fail(cli, "stdin: more than %d bytes", LARGEST_TEXT);
  if (reason) return cli_fail(cli, "cannot read stdin: %s", strerror(reason));
  while (len && (text[len - 1] == '\n' || text[len - 1] == '\r')) text[--len] = '\0';
  if (len && strlen(text) == len) {
    *ret_text = text;
    return 0;
  }
  free(text);
  return len ? cli_fail(cli, "stdin: there is a NUL byte in it; expected text")
             : cli_fail(cli, "stdin: it is empty; expected a message");
}

static size_t invalid_bytes(struct tidings_span text) {
  size_t count = 0;
  for (size_t at = 0; at < text.len; at++) {
    at += utf8_valid_length(span_of(text.ptr + at, text.len - at));
    count += at < text.len;
  }
  return count;
}

/* Replaces invalid UTF-8, because a damaged message is better than none. Takes the text over. */
static int repair(const struct cli *cli, char *text, char **ret_text) {
  size_t invalid = invalid_bytes(span_text(text));
  struct buffer repaired = BUFFER_EMPTY;
  if (!invalid) {
    *ret_text = text;
    return 0;
  }
  utf8_repair(span_text(text), &repaired);
  free(text);
  *ret_text = buffer_take(&repaired);
  if (!*ret_text) return cli_fail(cli, "out of memory");
  cli_warn(
      cli,
      "the message is not UTF-8: %zu byte%s replaced by U+FFFD; to keep what is meant, convert "
      "it first, for example with iconv -f latin1 -t utf-8",
      invalid, invalid == 1 ? " was" : "s were");
  return 0;
}

int event_message_read(const struct cli *cli, const char *word, char **ret_text) {
  char *text = NULL;
  int code = 0;
  if (strcmp(word, "-") == 0) code = read_stdin(cli, &text);
  else if (!(text = strdup(word))) code = cli_fail(cli, "out of memory");
  return code || !text ? code : repair(cli, text, ret_text);
}
