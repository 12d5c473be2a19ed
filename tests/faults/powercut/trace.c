/* SPDX-License-Identifier: MIT
 */
#include "powercut/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kit/arguments.h"

enum { EVENTS_MAX = 400000 };
#define ARENA_MAX ((size_t)512 << 20)

static void *shared_memory(size_t length) {
  void *memory =
      mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("no memory for a trace");
  return memory;
}

struct trace *trace_new(void) {
  struct trace *trace = shared_memory(sizeof *trace);
  trace->capacity = EVENTS_MAX;
  trace->bytes_capacity = ARENA_MAX;
  trace->events = shared_memory(EVENTS_MAX * sizeof(struct trace_event));
  trace->arena = shared_memory(ARENA_MAX);
  return trace;
}

void trace_free(struct trace *trace) {
  munmap(trace->events, trace->capacity * sizeof(struct trace_event));
  munmap(trace->arena, trace->bytes_capacity);
  munmap(trace, sizeof *trace);
}

struct trace_event *trace_add(struct trace *trace, enum trace_kind kind, const void *data,
                              size_t length) {
  if (trace->count == trace->capacity || trace->bytes_capacity - trace->bytes < length)
    die("the trace is full");
  struct trace_event *event = &trace->events[trace->count++];
  memset(event, 0, sizeof *event);
  event->kind = (uint8_t)kind;
  event->length = length;
  event->data = trace->bytes;
  if (data) {
    memcpy(trace->arena + trace->bytes, data, length);
    trace->bytes += length;
  }
  return event;
}

void trace_save(const struct trace *trace, const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file) die("%s cannot be written", path);
  fwrite(trace, sizeof *trace, 1, file);
  fwrite(trace->events, sizeof(struct trace_event), trace->count, file);
  fwrite(trace->arena, 1, trace->bytes, file);
  if (fclose(file) != 0) die("%s cannot be written", path);
}

struct trace *trace_load(const char *path) {
  struct trace saved, *trace = trace_new();
  FILE *file = fopen(path, "rb");
  if (!file || fread(&saved, sizeof saved, 1, file) != 1 || saved.count > EVENTS_MAX ||
      saved.bytes > ARENA_MAX ||
      fread(trace->events, sizeof(struct trace_event), saved.count, file) != saved.count ||
      fread(trace->arena, 1, saved.bytes, file) != saved.bytes)
    die("%s is not a saved trace", path);
  fclose(file);
  trace->root = saved.root;
  trace->count = saved.count;
  trace->bytes = saved.bytes;
  trace->opened = saved.opened;
  return trace;
}
