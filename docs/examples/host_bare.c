/* SPDX-License-Identifier: MIT
 *
 * host_bare.c: a host that uses the headers and dlopen, nothing else. It pushes one notification,
 * delivers it on a tool's result, writes the carrier to its transcript (here: standard output) and
 * settles. Build: cc host_bare.c -I INCLUDE -ldl
 *
 * A host that wants to survive broken plugin files, or to swap a running plugin, uses hostkit
 * instead (host.c).
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <tidings/tidings.h>

/* -- what the host gives the plugin -- */

static void write_log(void *context, uint32_t severity, const struct tidings_span *line) {
  (void)context;
  if (severity <= TIDINGS_LOG_WARNING) fprintf(stderr, "plugin: %.*s\n", (int)line->len, line->ptr);
}

static int64_t now_ms(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t mono_ns(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int32_t fill_random(void *context, void *buffer, size_t len) {
  (void)context;
  return getentropy(buffer, len); /* up to 256 bytes at a time; the plugin asks for fewer */
}

static const struct tidings_host host = {.size = sizeof host,
                                         .log = write_log,
                                         .now_ms = now_ms,
                                         .mono_ns = mono_ns,
                                         .random = fill_random};

/* -- loading -- */

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* Looks at the entry before any code of the plugin runs. NULL: it said why. */
static const struct tidings_entry *find_entry(void *image) {
  const struct tidings_entry *entry = dlsym(image, TIDINGS_ENTRY_SYMBOL);
  if (!entry) {
    fprintf(stderr, "not a tidings plugin: %s\n", dlerror());
    return NULL;
  }
  if (entry->abi_major != TIDINGS_ABI_MAJOR) {
    fprintf(stderr, "the plugin speaks ABI %u, this host %d\n", (unsigned)entry->abi_major,
            TIDINGS_ABI_MAJOR);
    return NULL;
  }
  /* The size rule: what a plugin hands out may be shorter than these headers' struct, if the plugin
   * is older, or longer. It is never shorter than in version 1.0, and this host reads no later
   * field. A host that does compares `size` with TIDINGS_SIZE_TO that field first, or copies the
   * smaller of both sizes into a zeroed struct. */
  if (entry->size < TIDINGS_ENTRY_SIZE_1_0) {
    fprintf(stderr, "the plugin's entry has %" PRIu32 " bytes, version 1.0 has %zu\n", entry->size,
            TIDINGS_ENTRY_SIZE_1_0);
    return NULL;
  }
  return entry;
}

/* -- one delivery -- */

/* This host can put texts before and after the carrier's own, which is all that the default formats
 * need. Every part that it cannot place would be lost, so then it places none. */
static bool can_place(const struct tidings_reply *reply) {
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    const struct tidings_part *part = reply->parts[i];
    if (part->voice != TIDINGS_VOICE_CARRIER) return false;
    if (part->place != TIDINGS_PLACE_PREPEND && part->place != TIDINGS_PLACE_APPEND) return false;
  }
  return true;
}

static void write_texts(const struct tidings_reply *reply, uint32_t place) {
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    const struct tidings_part *part = reply->parts[i];
    if (part->place == place) fwrite(part->text.ptr, 1, part->text.len, stdout);
  }
}

/* Writes what goes to the model and into the transcript. Reply NULL: the carrier unchanged. Returns
 * whether all of it was written. */
static bool write_carrier(const struct tidings_span *content, const struct tidings_reply *reply) {
  write_texts(reply, TIDINGS_PLACE_PREPEND);
  fwrite(content->ptr, 1, content->len, stdout);
  write_texts(reply, TIDINGS_PLACE_APPEND);
  return fflush(stdout) == 0 && !ferror(stdout);
}

static int32_t push(struct tidings_plugin *plugin, struct tidings_error *error) {
  const struct tidings_reply *reply = NULL;
  struct tidings_span event = span("{\"type\": \"notification\", \"session\": \"s\", \"source\": "
                                   "\"build\", \"id\": \"build-17\","
                                   " \"data\": {\"kind\": \"tool.failed\", \"level\": \"error\", "
                                   "\"message\": \"The build failed.\"}}");
  int32_t code = plugin->on_event(plugin, &event, &reply, error);
  if (code) return code; /* pushing again is safe, because the event has a source and an id */
  plugin->release(plugin, reply);
  return 0;
}

static int32_t send_tool_result(struct tidings_plugin *plugin, struct tidings_error *error) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span("s"),
                                       .call_id = span("c1"),
                                       .tool = span("ls"),
                                       .content = span("a.c\n")};
  const struct tidings_reply *reply = NULL;
  int32_t code = plugin->on_tool_result(plugin, &result, &reply, error);
  if (code) { /* the carrier goes out as it is, and what was pending stays pending */
    write_carrier(&result.content, NULL);
    return code;
  }
  struct tidings_settlement settlement = {.size = sizeof settlement,
                                          .delivery_id = reply ? reply->delivery_id : 0};
  bool placed = can_place(reply);
  bool written = write_carrier(&result.content, placed ? reply : NULL);
  /* Only a carrier that is in the transcript, whole, was delivered. */
  settlement.outcome = placed && written ? TIDINGS_OUTCOME_COMMITTED : TIDINGS_OUTCOME_ROLLED_BACK;
  plugin->release(plugin, reply); /* every pointer into it is dead from here on */
  return settlement.delivery_id ? plugin->settle(plugin, &settlement, NULL, error) : 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s TIDINGS.so STORE_DIR\n", argv[0]);
    return 2;
  }
  struct tidings_error error = {.size = sizeof error};
  struct tidings_open_options options = {
      .size = sizeof options, .store_dir = span(argv[2]), .role = TIDINGS_ROLE_HOST};
  struct tidings_plugin *plugin = NULL;
  int32_t code = TIDINGS_E_INVAL;
  void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!image) {
    fprintf(stderr, "cannot load the plugin: %s\n", dlerror());
    return 1;
  }
  const struct tidings_entry *entry = find_entry(image);
  if (!entry) goto out;

  code = entry->open(&host, &options, &plugin, &error);
  if (!code && plugin->size < TIDINGS_PLUGIN_SIZE_1_0) {
    fprintf(stderr, "the plugin's table of functions is shorter than version 1.0's\n");
    return 1; /* nothing in it can be called */
  }
  if (!code) code = push(plugin, &error);
  if (!code) code = send_tool_result(plugin, &error);
  if (code) fprintf(stderr, "error %" PRId32 ": %s\n", code, error.text);
  /* An image must not be unloaded under an open instance. */
  if (plugin && plugin->close(plugin, &error)) {
    fprintf(stderr, "cannot close: %s\n", error.text);
    return 1;
  }

out:
  dlclose(image);
  return code ? 1 : 0;
}
