/* SPDX-License-Identifier: MIT
 */
#include "agents/deliver/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "command/paths.h"
#include "common/file.h"

enum { MOST_TEXT = 4096, MOST_DIGITS = 24 };

/* Free it; NULL: there is no place, or no memory. */
static char *note_path(const struct hook_call *call, const char *name) {
  char *path = NULL;
  return call->place && asprintf(&path, "%s%s", call->place, name) >= 0 ? path : NULL;
}

int hook_note_write(const struct hook_call *call, const char *name, const char *text) {
  if (!call->place) return 0;
  char *path = note_path(call, name), *folder = path ? strdup(path) : NULL;
  char *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) *slash = '\0';
  int reason = slash ? paths_make_folders(folder) : ENOMEM;
  if (!reason) reason = file_write_whole(path, text, strlen(text));
  if (reason) hook_log("cannot write %s: %s", path ? path : name, strerror(reason));
  free(folder);
  free(path);
  return reason;
}

int hook_note_reason(const struct hook_call *call, uint64_t delivery) {
  char text[MOST_DIGITS];
  if (!call->host->leaves_out_reasons) return 0;
  (void)snprintf(text, sizeof text, "%" PRIu64, delivery);
  return hook_note_write(call, HOOK_NOTE_REASON, text);
}

void hook_note_got(const struct hook_call *call, const char *marker) {
  if (call->host->leaves_out_reasons) (void)hook_note_write(call, HOOK_NOTE_GOT, marker);
}

/* An answer's note has its delivery in its name, so that calls that run at the same time do not
 * write to the same file. */
struct answered_name {
  char text[sizeof HOOK_NOTE_ANSWERED + MOST_DIGITS];
};

static struct answered_name answered_name(uint64_t delivery) {
  struct answered_name name;
  (void)snprintf(name.text, sizeof name.text, HOOK_NOTE_ANSWERED "%" PRIu64, delivery);
  return name;
}

void hook_note_answered(const struct hook_call *call, uint64_t delivery) {
  if (call->host->proof == HOST_PROOF_NEXT_CALL)
    (void)hook_note_write(call, answered_name(delivery).text, "");
}

bool hook_note_is_answered(const struct hook_call *call, uint64_t delivery) {
  char *path = note_path(call, answered_name(delivery).text);
  bool is = !path || access(path, F_OK) == 0;
  free(path);
  return is;
}

void hook_note_forget_answer(const struct hook_call *call, uint64_t delivery) {
  if (call->host->proof == HOST_PROOF_NEXT_CALL)
    hook_note_remove(call, answered_name(delivery).text);
}

char *hook_note_read(const struct hook_call *call, const char *name) {
  char *path = note_path(call, name), *text = NULL;
  size_t len = 0;
  if (!path || file_read_whole(path, MOST_TEXT, &text, &len)) text = NULL;
  free(path);
  return text;
}

void hook_note_remove(const struct hook_call *call, const char *name) {
  char *path = note_path(call, name);
  if (path) (void)unlink(path);
  free(path);
}

void hook_note_failed(const struct hook_call *call, bool failed) {
  if (failed) (void)hook_note_write(call, HOOK_NOTE_FAILED, "");
  else hook_note_remove(call, HOOK_NOTE_FAILED);
}
