/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/proof.h: finds out whether a delivery reached the agent's transcript. Each text
 * that a hook hands out ends with a marker that names its delivery, and the agent records both. It
 * uses no store.
 */
#ifndef AGENTS_TRANSCRIPT_PROOF_H
#define AGENTS_TRANSCRIPT_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidings/tidings.h>

#include "agents/hosts/hosts.h"
#include "common/span.h"

struct hook_sought {
  uint64_t delivery;
  int64_t since_ms; /* when a hook handed it out, so no older record has it; 0: not known */
  bool found;       /* its marker is in the transcript, as the end of a text */
};

enum hook_transcript {
  HOOK_TRANSCRIPT_UNREADABLE, /* there is no transcript, or it cannot be read */
  HOOK_TRANSCRIPT_PLAIN,      /* it has no answer of any hook: perhaps this agent records none */
  HOOK_TRANSCRIPT_MARKED      /* it has answers of hooks: the model does not have those that it
                                 lacks, or not yet */
};

/* How much of the model's context is used, in tokens; 0: nothing is known. */
struct hook_usage {
  int64_t used, limit;
};

/* Looks for the deliveries in the newest part of a transcript. Only whole lines count: an agent
 * that was killed may leave a part of one, and skips it when it is resumed. *ret_usage is the
 * newest usage in these lines; it is not written if they have none. */
enum hook_transcript hook_proof_look(const char *path, const struct host *host,
                                     struct hook_sought *sought, size_t count,
                                     struct hook_usage *ret_usage);
/* Does the same for deliveries of a former process: also before a snapshot, which may not be
 * complete yet, and in other files of the session beside this one. */
enum hook_transcript hook_proof_look_resumed(const char *path, const struct host *host,
                                             struct hook_sought *sought, size_t count);

/* Does the conversation in the transcript lack these words, which need no escapes in JSON? If the
 * agent's transcripts record compactions, only words that one has left out are lacking. */
bool hook_proof_lacks(const char *path, const struct host *host, struct tidings_span words);

#endif
