/* SPDX-License-Identifier: MIT
 */
#include "cli/alert/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "common/utf8.h"

enum { MOST_WORD = 100, MOST_MESSAGE = 200, MOST_SEQUENCE = 400 };

const char *alert_summary(const struct alert *alert) {
  if (alert->waiting) return "The agent waits for you";
  if (alert->criticals) return "Critical notification";
  return "The agent is idle";
}

/* Writes the first line, at most `most` bytes of it. */
static void put_line(FILE *out, const char *text, size_t most) {
  struct tidings_span line = {text, strcspn(text, "\n")};
  size_t put = 0;
  for (size_t at = 0; at < line.len;) {
    struct utf8_shown shown = utf8_show(line, at);
    if (put + shown.len > most) break;
    fwrite(shown.text, 1, shown.len, out);
    put += shown.len;
    at += shown.taken;
    if (at == line.len && !text[line.len]) return;
  }
  if (*text) fputs("\u2026", out);
}

static void put_critical(FILE *out, const struct alert *alert) {
  const json_t *kind = json_object_get(alert->first, "kind");
  fputc('\n', out);
  if (alert->waiting || alert->criticals > 1)
    fprintf(out, "%llu critical: ", (unsigned long long)alert->criticals);
  put_line(out, json_value_text(kind, "source"), MOST_WORD);
  if (json_value_text(kind, "name")[0]) {
    fputc('.', out);
    put_line(out, json_value_text(kind, "name"), MOST_WORD);
  }
  fputs(": ", out);
  put_line(out, json_value_text(alert->first, "message"), MOST_MESSAGE);
}

char *alert_body(const struct alert *alert, const char *session, const json_t *status) {
  const json_t *owner = json_object_get(status, "attachment");
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return NULL;
  if (json_value_text(owner, "host")[0] && json_value_text(owner, "cwd")[0]) {
    put_line(out, json_value_text(owner, "host"), MOST_WORD);
    fputs(" in ", out);
    put_line(out, json_value_text(owner, "cwd"), MOST_WORD);
  } else {
    fputs("session ", out);
    put_line(out, session, MOST_WORD);
  }
  if (alert->criticals && alert->idle) fputs(" is idle", out); /* the summary names waiting */
  if (alert->criticals) put_critical(out, alert);
  if (!fclose(out)) return text;
  free(text);
  return NULL;
}

char *alert_markup(const char *text) {
  char *escaped = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&escaped, &len);
  if (!out) return NULL;
  for (; *text; text++) {
    if (*text == '&') fputs("&amp;", out);
    else if (*text == '<') fputs("&lt;", out);
    else if (*text == '>') fputs("&gt;", out);
    else if (*text == '\\') fputs("\\\\", out);
    else fputc(*text, out);
  }
  if (!fclose(out)) return escaped;
  free(escaped);
  return NULL;
}

/* The text begins with fixed words, because to some terminals a number there has another
 * meaning. */
char *alert_sequence(const char *summary, const char *body) {
  char *plain = NULL, *sequence = NULL;
  size_t len = 0;
  if (asprintf(&plain, "tidings: %s: %s", summary, body) < 0) return NULL;
  for (char *at = plain; (at = strchr(at, '\n'));) *at = ' ';
  FILE *out = open_memstream(&sequence, &len);
  if (out) {
    fputs("\033]9;", out);
    put_line(out, plain, MOST_SEQUENCE);
    fputc('\a', out);
  }
  free(plain);
  if (out && !fclose(out)) return sequence;
  free(sequence);
  return NULL;
}
