/* SPDX-License-Identifier: MIT
 *
 * session/orphans.c: finds the calls in two places. Shared memory has the calls that were not
 * committed; after a crash of the machine it may be some seconds older than the session. The
 * session's row has the others; for a call that is in both, shared memory may be newer.
 */
#include "session/orphans.h"

#include <string.h>

#include "rules/producers/calls.h"
#include "session/publish.h"

int orphans_find(struct op *op, uint64_t epoch, bool *ret_any, struct tidings_error *error) {
  struct memory memory, shared;
  int code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (code) return code;
  size_t before = memory.call_count;
  code = publish_get_calls(op, epoch, &shared, error);
  if (code) return code;
  *ret_any = calls_orphan(&memory, &shared);
  return *ret_any || before ? memory_put(op->txn, op->session, &memory, error) : 0;
}

/* Orders calls by their start, and by their ids if they started at the same time, so that the order
 * does not depend on the place that kept them. */
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
