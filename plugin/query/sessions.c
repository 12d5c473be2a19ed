/* SPDX-License-Identifier: MIT
 *
 * query/sessions.c: what sessions the store knows: for people and tools that look for the one that
 * they mean.
 */
#include <stdlib.h>

#include "common/error.h"
#include "query/inspect.h"
#include "session/ledger.h"

struct entry {
  struct tidings_span id;
  uint32_t number;
  struct head head; /* without its ranges: only who owns it */
  bool alive;
  uint64_t pending;
};

struct listing {
  struct entry *entries;
  size_t count, capacity;
  struct arena *arena;
  struct tidings_error *error;
};

/* A session whose head is damaged is listed as nobody's: closing it is the way out, and for that
 * one has to see it. */
static int look(struct inspection *inspection, struct entry *entry, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY; /* for the ranges, which can be long */
  uint64_t last = 0;
  int code = head_get(inspection->op.txn, entry->number, &arena, &entry->head, error);
  if (code == TIDINGS_E_STORE) {
    entry->head = (struct head){.watermark = 1};
    code = 0;
  } else if (!code) {
    code = item_last(inspection->op.txn, entry->number, &entry->head, &last, error);
    if (!code) entry->pending = ledger_pending(&entry->head, last);
  }
  if (!code && (arena_copy(&inspection->op.arena, entry->head.cwd, &entry->head.cwd) ||
                arena_copy(&inspection->op.arena, entry->head.host, &entry->head.host)))
    code = fail(error, TIDINGS_E_NOMEM, "no memory to list the sessions");
  if (!entry->head.owner.pid) entry->head.attached_ms = 0;
  entry->alive = !code && owner_alive(&entry->head.owner);
  arena_free(&arena);
  return code;
}

static int add(void *context, struct tidings_span id, uint32_t number) {
  struct listing *listing = context;
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? listing->capacity * 2 : 64;
    struct entry *larger = realloc(listing->entries, capacity * sizeof *larger);
    if (!larger) return fail(listing->error, TIDINGS_E_NOMEM, "no memory to list the sessions");
    listing->entries = larger;
    listing->capacity = capacity;
  }
  struct entry *entry = &listing->entries[listing->count++];
  *entry = (struct entry){.number = number};
  return arena_copy(listing->arena, id, &entry->id)
             ? fail(listing->error, TIDINGS_E_NOMEM, "no memory to list the sessions")
             : 0;
}

static int by_use(const void *a, const void *b) {
  const struct entry *one = a, *other = b;
  if (one->alive != other->alive) return one->alive ? -1 : 1;
  if (one->head.attached_ms != other->head.attached_ms)
    return one->head.attached_ms > other->head.attached_ms ? -1 : 1;
  return one->number > other->number ? -1 : one->number < other->number;
}

static void write_entry(struct json_writer *writer, const struct entry *entry) {
  const struct head *head = &entry->head;
  json_open(writer, NULL, '{');
  json_put_string(writer, "session", entry->id);
  json_put_string(writer, "cwd", head->cwd);
  json_put_string(writer, "host", head->host);
  if (head->owner.pid) json_put_u64(writer, "pid", head->owner.pid);
  else json_put_text(writer, "pid", NULL);
  json_put_bool(writer, "alive", entry->alive);
  if (head->owner.pid) json_put_time(writer, "since", head->attached_ms);
  else json_put_text(writer, "since", NULL);
  json_put_u64(writer, "pending", entry->pending);
  json_close(writer, '}');
}

int inspect_sessions(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  struct listing listing = {.arena = &inspection->op.arena, .error = error};
  int code = session_scan(inspection->op.txn, add, &listing, error);
  for (size_t i = 0; !code && i < listing.count; i++)
    code = look(inspection, &listing.entries[i], error);
  if (!code) {
    if (listing.count) qsort(listing.entries, listing.count, sizeof *listing.entries, by_use);
    json_put_u64(writer, "total", listing.count);
    json_open(writer, "sessions", '[');
    for (size_t i = 0; i < listing.count && i < inspection->query->limit; i++)
      write_entry(writer, &listing.entries[i]);
    json_close(writer, ']');
  }
  free(listing.entries);
  return code;
}
