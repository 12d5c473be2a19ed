/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/proof.h: whether a delivery reached the agent's transcript. Each text that a
 * hook hands out ends with a marker that names its delivery; the agent writes it down with the
 * text. Knows files, and no store.
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
  int64_t since_ms; /* when a hook handed it out: it is in no older record. 0: not known */
  bool found;       /* its marker is in the transcript, as the end of a text */
};

enum hook_transcript {
  HOOK_TRANSCRIPT_UNREADABLE, /* there is none, or it cannot be read: nothing is known */
  HOOK_TRANSCRIPT_PLAIN,      /* it has no answer of a hook: perhaps this agent writes none down */
  HOOK_TRANSCRIPT_MARKED      /* what it does not have was not handed on, or not yet */
};

/* How much of the model's context is used, in tokens; 0: nothing is known. */
struct hook_usage {
  int64_t used, limit;
};

/* Looks for the deliveries in the newest part of a transcript. Only whole lines count: an agent
 * that was killed may leave a part of one, and passes it over when it is resumed. *ret_usage is
 * what the bytes that were read say of it, last; not written if they say nothing. */
enum hook_transcript hook_proof_look(const char *path, const struct host *host,
                                     struct hook_sought *sought, size_t count,
                                     struct hook_usage *ret_usage);
/* The same for the former process's: what begins anew may not be whole yet, and the session may
 * have another file than before, beside this one. */
enum hook_transcript hook_proof_look_resumed(const char *path, const struct host *host,
                                             struct hook_sought *sought, size_t count);

/* Whether the conversation in the transcript lacks these words, which need no escapes in JSON; of
 * an agent whose transcript says when a compaction has left them out: whether one did. */
bool hook_proof_lacks(const char *path, const struct host *host, struct tidings_span words);

#endif
