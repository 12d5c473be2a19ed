/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/leases.c: A delivery that is in the transcript was delivered. A missing one may
 * still come, because agents write late. If the transcript has later words of the model, the agent
 * dropped it, and it is delivered again; after some time a turn's end or a prompt decides without
 * such words. If a transcript has no answer of any hook, it proves nothing, and the delivery counts
 * as delivered. So does, at the next call, a delivery whose transcript cannot be read, or one that
 * the agent never records, if its hook has noted that it answered.
 */
#include "agents/deliver/leases.h"

#include <stdlib.h>
#include <string.h>

#include "agents/call/log.h"
#include "agents/deliver/notes.h"
#include "agents/deliver/sign.h"
#include "agents/deliver/status.h"
#include "agents/deliver/usage.h"
#include "agents/transcript/later.h"
#include "agents/transcript/marker.h"
#include "agents/transcript/proof.h"
#include "command/json_value.h"
#include "common/clock.h"

enum { READ_MS = 60000 };     /* after that, the agent's clock does not matter */
enum { ANSWERED_MS = 15000 }; /* by then a hook has answered, or was ended: agents wait for 10 s */
enum { WRITTEN_MS = 60000 };  /* by then an agent that lives has recorded what it got */

struct leased {
  const json_t *entries; /* the leased deliveries in the answer of `status` */
  struct hook_sought *sought;
  struct hook_handed *handed; /* for each entry */
  size_t count;
  enum hook_transcript transcript;
  struct hook_usage usage;
  uint64_t reason; /* the delivery that no transcript of this agent has; 0: none */
  uint64_t got;    /* the last reason that the agent has reported as a prompt; 0: none */
  bool says_got;   /* this agent reports reasons */
};

static bool owns(const json_t *status, uint32_t owner) {
  const json_t *attachment = json_object_get(status, "attachment");
  return json_is_true(json_object_get(attachment, "alive")) &&
         json_integer_value(json_object_get(attachment, "pid")) == (json_int_t)owner;
}

static bool has_owner(const json_t *status) {
  return json_integer_value(json_object_get(json_object_get(status, "attachment"), "pid")) > 0;
}

static enum hook_transcript look_beside(const struct hook_call *call, struct leased *leased) {
  return hook_proof_look(call->transcript, call->host, leased->sought, leased->count,
                         &leased->usage);
}

/* If so, look again: the answer may have been written with the model's words after the first
 * look. */
static bool is_any_dropped(const struct leased *leased) {
  for (size_t i = 0; i < leased->count; i++) {
    if (!leased->sought[i].found && leased->handed[i].later) return true;
  }
  return false;
}

static bool is_any_left(const struct leased *leased) {
  for (size_t i = 0; i < leased->count; i++) {
    if (!leased->sought[i].found) return true;
  }
  return false;
}

/* Call it after hook_sign_ready. */
static void read_notes(const struct hook_call *call, struct leased *leased) {
  char *reason = hook_note_read(call, HOOK_NOTE_REASON), *got = hook_note_read(call, HOOK_NOTE_GOT);
  if (reason) leased->reason = strtoull(reason, NULL, 10);
  if (got && strlen(got) > strlen(HOOK_MARKER_OPENING))
    leased->says_got = hook_marker_read(HOOK_MARKER_OF_DELIVERY, got + strlen(HOOK_MARKER_OPENING),
                                        got + strlen(got), &leased->got) != NULL;
  free(reason);
  free(got);
}

/* The caller frees sought and handed, also after an error. */
static int32_t look_up(struct hostkit *kit, const struct hook_call *call, const json_t *status,
                       bool mine, struct leased *ret_leased, struct tidings_error *error) {
  struct leased leased = {.entries = json_object_get(status, "leased")};
  leased.count = json_array_size(leased.entries);
  int32_t code = leased.count ? hook_sign_ready(kit, call->session, error) : TIDINGS_OK;
  if (code) return code;
  if (leased.count && mine && call->host->leaves_out_reasons) read_notes(call, &leased);
  leased.sought = calloc(leased.count + 1, sizeof *leased.sought);
  leased.handed = calloc(leased.count + 1, sizeof *leased.handed);
  *ret_leased = leased;
  if (!leased.sought || !leased.handed) return kit_no_memory(error);
  for (size_t i = 0; i < leased.count; i++) {
    const json_t *entry = json_array_get(leased.entries, i), *id = json_object_get(entry, "id");
    leased.handed[i] =
        (struct hook_handed){.call_id = json_value_text(entry, "call_id"),
                             .at_ms = json_integer_value(json_object_get(entry, "leased_at"))};
    leased.sought[i].since_ms = mine ? leased.handed[i].at_ms : 0;
    leased.sought[i].delivery = json_is_string(id) ? strtoull(json_string_value(id), NULL, 10) : 0;
  }
  for (size_t i = 0; call->host->proof == HOST_PROOF_NEXT_CALL && i < leased.count; i++)
    leased.sought[i].found = true;
  if (call->host->proof == HOST_PROOF_NEXT_CALL) leased.transcript = HOOK_TRANSCRIPT_PLAIN;
  else if (leased.count && mine) leased.transcript = look_beside(call, &leased);
  else if (leased.count)
    leased.transcript =
        hook_proof_look_resumed(call->transcript, call->host, leased.sought, leased.count);
  if (mine && leased.transcript && is_any_left(&leased))
    hook_later_look(call->transcript, call->host, leased.handed, leased.count);
  if (is_any_dropped(&leased)) leased.transcript = look_beside(call, &leased);
  *ret_leased = leased;
  return TIDINGS_OK;
}

static json_t *named(const struct leased *leased) {
  json_t *ids = json_array();
  for (size_t i = 0; ids && i < leased->count; i++) {
    if (leased->sought[i].found)
      json_array_append(ids, json_object_get(json_array_get(leased->entries, i), "id"));
  }
  return ids;
}

/* An agent makes its next call after it has read this answer. But for one event it may call two of
 * our hooks at once: then the second call was made before the first one's lease. */
static bool is_read_by_now(const struct hook_call *call, const json_t *entry) {
  int64_t leased_ms = json_integer_value(json_object_get(entry, "leased_at")),
          made_ms = call->time_ms ? call->time_ms : call->begun_ms;
  return made_ms > leased_ms || call->begun_ms - leased_ms > READ_MS;
}

/* A hook that was killed before it answered, or could not find out whether its lease was stored,
 * has handed out nothing. Until ANSWERED_MS, its lease cannot be distinguished from that of a hook
 * that is about to answer. */
static uint32_t outcome_by_next_call(const struct hook_call *call, const json_t *entry,
                                     uint64_t delivery) {
  int64_t leased_ms = json_integer_value(json_object_get(entry, "leased_at")),
          made_ms = call->time_ms > call->begun_ms ? call->time_ms : call->begun_ms;
  if (!is_read_by_now(call, entry)) return 0;
  if (hook_note_is_answered(call, delivery)) return TIDINGS_COMMITTED;
  return made_ms - leased_ms >= ANSWERED_MS ? TIDINGS_ROLLED_BACK : 0;
}

/* The model may say something between the results of parallel tools. Without the call's id it is
 * not known whether its words follow this result. */
static bool is_settled_by_now(const struct hook_call *call, const json_t *entry,
                              const struct hook_handed *handed) {
  bool of_tool = strcmp(json_value_text(entry, "carrier"), "tool_result") == 0,
       by_id = handed->call_id[0] && host_record_says(call->host, SAYS_CALL),
       between = call->moment == HOOK_PROMPT || call->moment == HOOK_STOP ||
                 call->moment == HOOK_TURN_FAILED;
  int64_t age = clock_wall_ms() - handed->at_ms; /* less than 0: somebody set the clock */
  if (handed->later && (between || by_id || !of_tool)) return true;
  return between && (age < 0 || age >= WRITTEN_MS);
}

/* The outcome of a reason that no transcript has; 0: undecided. An agent that reports the reasons
 * that it gets does so at once, before its next prompt or turn's end. Another agent has dropped the
 * reason if a prompt follows without words of the model. */
static uint32_t outcome_of_reason(const struct hook_call *call, const struct leased *leased,
                                  size_t i) {
  bool prompts = call->moment == HOOK_PROMPT, ends = prompts || call->moment == HOOK_STOP;
  if (leased->says_got) return ends ? TIDINGS_ROLLED_BACK : 0;
  bool silent = leased->transcript != HOOK_TRANSCRIPT_UNREADABLE && !leased->handed[i].later;
  return prompts && silent ? TIDINGS_ROLLED_BACK : TIDINGS_COMMITTED;
}

/* 0: undecided. */
static uint32_t outcome_of(const struct hook_call *call, const struct leased *leased, size_t i) {
  const json_t *entry = json_array_get(leased->entries, i);
  uint64_t delivery = leased->sought[i].delivery;
  if (call->host->proof == HOST_PROOF_NEXT_CALL) return outcome_by_next_call(call, entry, delivery);
  if (leased->sought[i].found || delivery == leased->got) return TIDINGS_COMMITTED;
  if (delivery == leased->reason) return outcome_of_reason(call, leased, i);
  if (leased->transcript == HOOK_TRANSCRIPT_UNREADABLE) return TIDINGS_COMMITTED;
  if (!is_settled_by_now(call, entry, &leased->handed[i])) return 0;
  return leased->transcript == HOOK_TRANSCRIPT_MARKED ? TIDINGS_ROLLED_BACK : TIDINGS_COMMITTED;
}

/* Returns BUSY if the time is used up; other failures are only logged. */
static int32_t settle_each(struct hostkit *kit, const struct hook_call *call,
                           const struct leased *leased, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  for (size_t i = 0; i < leased->count && code != TIDINGS_E_BUSY; i++) {
    uint32_t outcome = outcome_of(call, leased, i);
    if (!outcome) continue;
    hook_status_changed(call);
    code = hostkit_settle(kit, leased->sought[i].delivery, outcome, NULL, error);
    if (code && code != TIDINGS_E_BUSY) hook_log("cannot settle: %s", error->text);
    if (code != TIDINGS_E_BUSY) hook_note_forget_answer(call, leased->sought[i].delivery);
  }
  return code == TIDINGS_E_BUSY ? code : TIDINGS_OK;
}

int32_t hook_leases_settle(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                           json_t **ret_named, struct tidings_error *error) {
  json_t *status = NULL;
  struct leased leased = {.sought = NULL};
  int32_t code = hook_status(kit, call, &status, error);
  if (code) return code;
  bool mine = owns(status, owner);
  code = look_up(kit, call, status, mine, &leased, error);
  bool another = call->host->proof == HOST_PROOF_NEXT_CALL && !mine && has_owner(status);
  if (!code && mine && leased.count) code = settle_each(kit, call, &leased, error);
  else if (!code && !mine && (another || leased.count) && leased.transcript)
    *ret_named = named(&leased);
  if (!code) hook_report_usage(kit, call, leased.usage.used, leased.usage.limit);
  free(leased.sought);
  free(leased.handed);
  json_decref(status);
  return code;
}
