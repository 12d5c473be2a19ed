/* SPDX-License-Identifier: MIT
 */
#include "target.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "common/clock.h"
#include "common/random.h"
#include "reports.h"
#include "samples.h"

static void host_log(void *context, uint32_t severity, const struct tidings_span *message) {
  (void)context;
  if (severity <= TIDINGS_LOG_ERROR)
    fprintf(stderr, "the plugin: %.*s\n", (int)message->len, message->ptr);
}

static int64_t host_now_ms(void *context) {
  (void)context;
  return clock_wall_ms();
}

static uint64_t host_mono_ns(void *context) {
  (void)context;
  return clock_mono_ns();
}

static int32_t host_random(void *context, void *buffer, size_t len) {
  (void)context;
  return random_fill(buffer, len) ? -1 : 0;
}

static const struct tidings_host host = {.size = sizeof host,
                                         .log = host_log,
                                         .now_ms = host_now_ms,
                                         .mono_ns = host_mono_ns,
                                         .random = host_random};

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

void target_load(struct target *target, const char *path) {
  *target = (struct target){.image = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (!target->image) bench_die("%s", dlerror());
  target->entry = dlsym(target->image, TIDINGS_ENTRY_SYMBOL);
  if (!target->entry || target->entry->abi_major != TIDINGS_ABI_MAJOR)
    bench_die("%s is not a plugin of this ABI", path);
}

void target_open(struct target *target, const char *store, uint32_t role) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_open_options options = {
      .size = sizeof options, .store_dir = span(store), .role = role, .hook_budget_ms = 60000};
  if (target->entry->open(&host, &options, &target->plugin, &error) != 0)
    bench_die("open %s: %s", store, error.text);
}

void target_close(struct target *target) {
  struct tidings_error error = {.size = sizeof error};
  if (target->plugin->close(target->plugin, &error) != 0) bench_die("close: %s", error.text);
  target->plugin = NULL;
}

void target_unload(struct target *target) {
  if (target->plugin) target_close(target);
  if (dlclose(target->image) != 0) bench_die("%s", dlerror());
}

static int32_t push(struct target *target, const char *session, uint64_t n, const char *level) {
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = NULL;
  char event[512];
  int length =
      snprintf(event, sizeof event,
               "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":\"tool.stopped\","
               "\"message\":"
               "\"Tool `cargo_check` (handle `h_%08" PRIu64
               "`) has stopped with result available, and here is the rest of what is said."
               "....\"%s}}",
               session, n % 100000000, level);
  struct tidings_span text = {event, (size_t)length};
  int32_t code = target->plugin->on_event(target->plugin, &text, &reply, &error);
  if (code != 0 && code != TIDINGS_E_FULL) bench_die("push: %s", error.text);
  if (code == 0 && reply) target->plugin->release(target->plugin, reply);
  return code;
}

int32_t target_push(struct target *target, const char *session, uint64_t n) {
  return push(target, session, n, "");
}

void target_push_critical(struct target *target, const char *session, uint64_t n) {
  if (push(target, session, n, ",\"level\":\"critical\"") != 0)
    bench_die("session %s is full", session);
}

enum { FILLERS = 64 };

struct filling {
  struct target *target;
  const char *session;
  _Atomic(int64_t) left; /* how many messages are left; also the number of the next one */
};

static void *filler_main(void *context) {
  struct filling *filling = context;
  for (int64_t n; (n = atomic_fetch_sub(&filling->left, 1)) > 0;) {
    if (target_push(filling->target, filling->session, (uint64_t)n) != 0)
      bench_die("a session is full");
  }
  return NULL;
}

/* Uses several threads, because commits are fast in groups. */
void target_fill(struct target *target, const char *session, uint64_t count) {
  pthread_t threads[FILLERS];
  struct filling filling = {.target = target, .session = session};
  uint64_t wanted = count < FILLERS ? count : FILLERS;
  atomic_store(&filling.left, (int64_t)count);
  for (uint64_t i = 0; i < wanted; i++) {
    if (pthread_create(&threads[i], NULL, filler_main, &filling) != 0) bench_die("no thread");
  }
  for (uint64_t i = 0; i < wanted; i++) pthread_join(threads[i], NULL);
}

static const struct tidings_reply *carry(struct target *target, const char *session,
                                         uint64_t room) {
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = NULL;
  struct tidings_tool_result result = {
      .size = sizeof result, .session = span(session), .room_bytes = room};
  if (target->plugin->on_tool_result(target->plugin, &result, &reply, &error) != 0)
    bench_die("a hook: %s", error.text);
  return reply;
}

uint64_t target_deliver_text(struct target *target, const char *session, size_t *ret_bytes) {
  const struct tidings_reply *reply = carry(target, session, 0);
  uint64_t delivery = reply ? reply->delivery_id : 0;
  *ret_bytes = 0;
  for (size_t i = 0; reply && i < reply->part_count; i++) *ret_bytes += reply->parts[i]->text.len;
  if (reply) target->plugin->release(target->plugin, reply);
  return delivery;
}

uint64_t target_deliver(struct target *target, const char *session, size_t *ret_count) {
  return target_deliver_in(target, session, 0, ret_count);
}

uint64_t target_deliver_in(struct target *target, const char *session, uint64_t room,
                           size_t *ret_count) {
  const struct tidings_reply *reply = carry(target, session, room);
  uint64_t delivery = reply ? reply->delivery_id : 0;
  if (ret_count) *ret_count = reply ? reply->notification_count : 0;
  if (reply) target->plugin->release(target->plugin, reply);
  return delivery;
}

void target_report_file(struct target *target, const char *session, uint64_t n) {
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = NULL;
  char event[256];
  int length = snprintf(event, sizeof event,
                        "{\"type\":\"file.changed\",\"session\":\"%s\",\"data\":{\"path\":\"src/"
                        "folder/file-%08" PRIu64 ".rs\"}}",
                        session, n);
  struct tidings_span text = {event, (size_t)length};
  if (target->plugin->on_event(target->plugin, &text, &reply, &error) != 0)
    bench_die("file.changed: %s", error.text);
}

void target_push_report(struct target *target, const char *session,
                        const struct sample_report *report) {
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = NULL;
  char event[512];
  int length = report->is_file
                   ? snprintf(event, sizeof event,
                              "{\"type\":\"file.changed\",\"session\":\"%s\",\"data\":{\"path\":"
                              "\"%s\"}}",
                              session, report->text)
                   : snprintf(event, sizeof event,
                              "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":"
                              "\"%s.%s\",\"level\":\"%s\",\"message\":\"%s\"}}",
                              session, report->source, report->name, report->level, report->text);
  struct tidings_span text = {event, (size_t)length};
  if (target->plugin->on_event(target->plugin, &text, &reply, &error) != 0)
    bench_die("a report: %s", error.text);
  if (reply) target->plugin->release(target->plugin, reply);
}

void target_configure(struct target *target, const char *configuration) {
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_query *extension = target->entry->get_extension(TIDINGS_EXT_QUERY);
  const struct tidings_answer *answer = NULL;
  char request[512];
  int length =
      snprintf(request, sizeof request, "{\"name\":\"configure\",\"config\":%s}", configuration);
  struct tidings_span text = {request, (size_t)length};
  if (!extension || extension->query(target->plugin, &text, &answer, &error) != 0)
    bench_die("configure: %s", error.text);
  extension->release_answer(target->plugin, answer);
}

static const struct tidings_wake *wake(const struct target *target) {
  const struct tidings_wake *extension = target->entry->get_extension(TIDINGS_EXT_WAKE);
  if (!extension) bench_die("the plugin has no %s", TIDINGS_EXT_WAKE);
  return extension;
}

int target_wake_descriptor(struct target *target) {
  struct tidings_error error = {.size = sizeof error};
  int32_t fd;
  if (wake(target)->descriptor(target->plugin, &fd, &error) != 0)
    bench_die("the wake descriptor: %s", error.text);
  return fd;
}

bool target_next_session(struct target *target, char *session, size_t size) {
  struct tidings_error error = {.size = sizeof error};
  size_t length;
  if (wake(target)->next_session(target->plugin, session, size - 1, &length, &error) != 0)
    bench_die("next_session: %s", error.text);
  session[length] = '\0';
  return length > 0;
}

static void settle(struct target *target, uint64_t delivery, uint32_t outcome) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery};
  if (target->plugin->settle(target->plugin, &settlement, NULL, &error) != 0)
    bench_die("settle: %s", error.text);
}

void target_commit(struct target *target, uint64_t delivery) {
  settle(target, delivery, TIDINGS_OUTCOME_COMMITTED);
}

void target_roll_back(struct target *target, uint64_t delivery) {
  settle(target, delivery, TIDINGS_OUTCOME_ROLLED_BACK);
}

void target_drain(struct target *target, const char *session) {
  for (uint64_t delivery; (delivery = target_deliver(target, session, NULL)) != 0;)
    target_commit(target, delivery);
}
