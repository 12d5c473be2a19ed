/* SPDX-License-Identifier: MIT
 */
#include "agents/turn/start.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/deliver/deliver.h"
#include "agents/deliver/notes.h"
#include "agents/deliver/status.h"
#include "agents/transcript/proof.h"
#include "command/json_value.h"
#include "command/kit.h"
#include "common/store_url.h"

/* Does the model already have the paragraph? It does if another process resumes the session and the
 * transcript keeps the answer of a session's start. */
static int32_t was_said(struct hostkit *kit, const struct hook_call *call, bool *ret_said,
                        struct tidings_error *error) {
  json_t *status = NULL;
  *ret_said = false;
  if (!call->host->keeps_start || strcmp(call->source, "resume") != 0) return TIDINGS_OK;
  int32_t code = hook_status(kit, call, &status, error);
  *ret_said = !code && json_value_count(json_object_get(status, "attachment"), "epoch") > 1;
  json_decref(status);
  return code;
}

/* Does the model lack the paragraph? It is looked for in the transcript by its longest part without
 * characters that agents escape. */
static bool lacks(const struct hook_call *call, const char *text) {
  static const char escaped[] = "\n\"\\<>&'";
  const char *longest = text;
  size_t longest_len = 0;
  while (*text) {
    size_t len = strcspn(text, escaped);
    if (len > longest_len) {
      longest = text;
      longest_len = len;
    }
    text += len + (text[len] != '\0');
  }
  return hook_proof_lacks(call->transcript, call->host, span_of(longest, longest_len));
}

/* Puts `text` before the answer's other text. */
static int32_t say(const struct hook_call *call, const char *text, struct hook_answer *answer,
                   struct tidings_error *error) {
  const char *rest = hook_context_said(call, answer->output);
  char *all = NULL;
  int len = asprintf(&all, "%s%s%s", text, rest[0] ? "\n\n" : "", rest);
  json_t *output = len < 0 ? NULL : hook_context_output(call, all);
  if (len >= 0) free(all);
  if (!output) return kit_no_memory(error);
  json_decref(answer->output);
  answer->output = output;
  return TIDINGS_OK;
}

/* Reports a compaction. Pending notifications and queued messages are not listed here, because the
 * next results and turns deliver them, and the model would read them twice. An offered turn is
 * declined; it starts when the agent idles, or after its turn. */
static int32_t report_compacted(struct hostkit *kit, const struct hook_call *call,
                                struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  int32_t code = hook_send_event(kit, call, "session.compacted", json_object(), &reply, error);
  if (!code && hook_start_turn(reply))
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  hostkit_reply_free(reply);
  return code;
}

static bool was_missed(const struct hook_call *call) {
  char *note = hook_note_read(call, HOOK_NOTE_UNSAID);
  bool missed = note != NULL;
  free(note);
  return missed;
}

/* May this call's answer have the paragraph? That of a session's start may; that of a prompt may if
 * the start could not, or if the agent drops the text of the start, or does not start its session
 * again after a compaction. */
static bool says_at(const struct hook_call *call, bool missed) {
  const struct host *host = call->host;
  if (call->moment == HOOK_SESSION_START)
    return !host->drops_start && (host->reads & HOST_READS_START);
  return call->moment == HOOK_PROMPT &&
         (missed || host->drops_start || host_record_says(host, SAYS_COMPACTED)) &&
         !host_forgets(host, call->prompt);
}

int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error) {
  json_t *answer = NULL;
  bool said = false, at_prompt = call->moment == HOOK_PROMPT,
       missed = at_prompt && was_missed(call);
  if (!says_at(call, missed) || call->of_subagent) return 0;
  int32_t code = was_said(kit, call, &said, error);
  if (!code && !said)
    code = kit_query(kit,
                     json_pack("{s:s, s:s, s:b}", "name", "instructions", "session", call->session,
                               "subagents", call->host->background_subagents),
                     &answer, error);
  if (code || said) return code;
  const char *text = json_value_text(answer, "text");
  int32_t reported = TIDINGS_OK;
  if (strcmp(call->source, "compact") == 0) reported = report_compacted(kit, call, error);
  if (!at_prompt || missed || lacks(call, text)) code = say(call, text, ret_answer, error);
  /* nobody reads a late answer, so the next prompt still has to say it */
  if (!code && !call->late && (!at_prompt || missed)) hook_note_remove(call, HOOK_NOTE_UNSAID);
  json_decref(answer);
  return code ? code : reported;
}

void hook_start_missed(const struct hook_call *call) {
  if (says_at(call, false) && !call->of_subagent) (void)hook_note_write(call, HOOK_NOTE_UNSAID, "");
}

void hook_start_late(struct hostkit *kit, const struct hook_call *call) {
  struct tidings_error error = {.size = sizeof error};
  json_t *status = NULL;
  if (call->moment == HOOK_OTHER || call->of_subagent || call->cwd[0] != '/') return;
  if (call->seen && call->seen->knows_the_host) return;
  if (hook_status(kit, call, &status, &error)) return;
  const json_t *attachment = json_object_get(status, "attachment");
  bool unknown = json_is_true(json_object_get(attachment, "alive")) &&
                 !json_value_text(attachment, "cwd")[0] && !json_value_text(attachment, "host")[0];
  json_decref(status);
  if (!unknown) return;
  json_t *data = json_pack("{s:s, s:s}", "host", call->host->title, "cwd", call->cwd);
  if (kit_event(kit, kit_new_event("session.opened", call->session, data), NULL, &error))
    hook_log("cannot store where the session works: %s", error.text);
}

/* Writes a variable in single quotes for a shell; a value that contains such a quote is left out.
 */
static void export(FILE *file, const char *name, const char *value) {
  if (value[0] && !strchr(value, '\'')) fprintf(file, "export %s='%s'\n", name, value);
}

void hook_start_environment(const struct cli *cli, const struct hook_call *call) {
  const char *variable = call->host->environment_file, *path = variable ? getenv(variable) : NULL;
  char command[PATH_MAX] = "";
  if (call->moment != HOOK_SESSION_START || call->of_subagent || !path || path[0] != '/') return;
  ssize_t len = readlink("/proc/self/exe", command, sizeof command - 1);
  FILE *file = len > 0 ? fopen(path, "ae") : NULL;
  if (file) {
    export(file, "TIDINGS", command);
    export(file, "TIDINGS_SESSION", call->session);
    if (store_url_is(cli->store) && !store_url_has_password(cli->store))
      export(file, "TIDINGS_STORE", cli->store);
  }
  if (!file || fclose(file)) hook_log("cannot write %s: %s", path, strerror(errno));
}
