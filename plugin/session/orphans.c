/* SPDX-License-Identifier: MIT
 *
 * session/orphans.c: see orphans.h. Shared memory has those that were not committed; after the
 * machine has crashed it may be some seconds older than the session.
 */
#include "session/orphans.h"

#include <string.h>

#include "common/error.h"
#include "rules/producers/calls.h"

static int no_memory_for_calls(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for the calls of tools");
}

struct copying {
  struct memory memory;
  struct arena *arena;
  bool failed;
};

static bool copy_calls(void *context, struct memory *calls) {
  struct copying *copying = context;
  copying->memory = *calls;
  for (size_t i = 0; i < calls->call_count; i++) {
    struct tool_call *call = &copying->memory.calls[i];
    if (arena_copy(copying->arena, call->call_id, &call->call_id) ||
        arena_copy(copying->arena, call->tool, &call->tool))
      copying->failed = true;
  }
  return false;
}

int orphans_find(struct op *op, uint64_t epoch, bool *ret_any, struct tidings_error *error) {
  struct copying shared = {.arena = &op->arena};
  const struct calls_of whose = {.session = op->session, .epoch = epoch, .now_ms = op->now_ms};
  struct memory memory;
  int code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (code) return code;
  size_t before = memory.call_count;
  if (store_calls_any(op->instance->store, op->session))
    (void)store_calls(op->instance->store, &whose, copy_calls, &shared);
  if (shared.failed) return no_memory_for_calls(error);
  *ret_any = calls_orphan(&memory, &shared.memory);
  return *ret_any || before ? memory_put(op->txn, op->session, &memory, error) : 0;
}

/* Calls that started at the same time are in the order of their ids, whichever store kept them. */
static bool starts_before(const struct tool_call *one, const struct tool_call *other) {
  if (one->from_ms != other->from_ms) return one->from_ms < other->from_ms;
  size_t one_len = one->call_id.len, other_len = other->call_id.len;
  int order =
      memcmp(one->call_id.ptr, other->call_id.ptr, one_len < other_len ? one_len : other_len);
  return order < 0 || (order == 0 && one_len < other_len);
}

int orphans_get(struct op *op, const struct run *run, struct memory *ret_memory,
                struct tidings_error *error) {
  struct memory memory = {0};
  size_t kept = 0;
  int code = run->calls_orphaned ? memory_get(op->txn, op->session, &op->arena, &memory, error) : 0;
  for (size_t i = 0; i < memory.call_count; i++) {
    struct tool_call call = memory.calls[i];
    size_t at = kept;
    if (!call.orphaned) continue;
    for (; at > 0 && starts_before(&call, &memory.calls[at - 1]); at--)
      memory.calls[at] = memory.calls[at - 1];
    memory.calls[at] = call;
    kept++;
  }
  memory.call_count = kept;
  *ret_memory = memory;
  return code;
}
