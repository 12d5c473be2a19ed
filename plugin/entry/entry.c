/* SPDX-License-Identifier: MIT
 *
 * entry/entry.c: the only exported symbol. It checks and copies every argument, so code below this
 * file gets no null pointer and no unknown flag, and every struct has today's length. The headers
 * of abi/tidings say what each function does.
 */
#include <stdlib.h>

#include <tidings/tidings.h>

#include "build_id.h"
#include "common/error.h"
#include "entry/copy_in.h"
#include "entry/entry_store.h"
#include "event/event.h"
#include "flow/flow.h"
#include "instance/instance.h"
#include "query/answer.h"
#include "session/reply.h"

/* Limits in bytes: LONGEST_ID for the id of a session or message; LONGEST_NAME for a call's id, and
 * the names of tools, paths and the host. */
enum { LONGEST_ID = 255, LONGEST_NAME = 4096 };

/* -- checks ------------------------------------------------------------------------------------ */

static int check_flags(uint32_t flags, const char *name, struct tidings_error *error) {
  return flags
             ? fail(error, TIDINGS_E_INVAL, "%s: 0x%x; expected 0, no flag is defined", name, flags)
             : 0;
}

static int check_span(const struct tidings_span *span, const char *name,
                      struct tidings_error *error) {
  if (!span) return fail(error, TIDINGS_E_INVAL, "%s: null pointer", name);
  if (span->len && !span->ptr)
    return fail(error, TIDINGS_E_INVAL, "%s: a null pointer with length %zu", name, span->len);
  return 0;
}

static int refuse_text(const struct tidings_span *span, size_t longest, const char *name,
                       struct tidings_error *error) {
  int code = check_span(span, name, error);
  if (code) return code;
  return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %zu", name, span->len,
              longest);
}

/* Checks a text before anything reads it, because its length may be nonsense. */
static inline int check_text(const struct tidings_span *span, size_t longest, const char *name,
                             struct tidings_error *error) {
  bool sound = span->ptr ? span->len <= longest : !span->len;
  return sound ? 0 : refuse_text(span, longest, name, error);
}

/* Enters the instance that a plugin pointer stands for, or fails. */
static int enter(struct tidings_plugin *plugin, const void *ret, struct instance **ret_instance,
                 struct tidings_error *error) {
  if (!plugin) return fail(error, TIDINGS_E_INVAL, "plugin: null pointer");
  if (!ret) return fail(error, TIDINGS_E_INVAL, "the pointer for the result is null");
  *ret_instance = (struct instance *)plugin;
  return instance_enter(*ret_instance, error);
}

static int check_host_role(const struct instance *instance, const char *function,
                           struct tidings_error *error) {
  if (instance->role == TIDINGS_ROLE_HOST) return 0;
  return fail(error, TIDINGS_E_UNSUPPORTED,
              "%s is for hosts; this instance was opened with role producer", function);
}

/* -- the hooks --------------------------------------------------------------------------------- */

static int take_tool_result(const struct instance *instance,
                            const struct tidings_tool_result *theirs,
                            struct tidings_tool_result *result, struct tidings_error *error) {
  int code = COPY_IN(result, theirs, TIDINGS_TOOL_RESULT_SIZE_1_0, "result", error);
  if (!code) code = check_flags(result->flags, "result.flags", error);
  if (!code) code = check_text(&result->session, LONGEST_ID, "result.session", error);
  if (!code) code = check_text(&result->call_id, LONGEST_NAME, "result.call_id", error);
  if (!code) code = check_text(&result->tool, LONGEST_NAME, "result.tool", error);
  if (!code) code = check_span(&result->content, "result.content", error);
  if (!code) code = check_host_role(instance, "on_tool_result", error);
  return code;
}

static int deliver(struct instance *instance, const struct carrier *carrier, struct session *known,
                   const struct tidings_reply **ret_reply, struct tidings_error *theirs) {
  struct tidings_error error;
  error_clear(&error);
  int code = flow_deliver(instance, carrier, known, ret_reply, &error);
  return fail_as(theirs, code, &error);
}

static int32_t on_tool_result(struct tidings_plugin *plugin,
                              const struct tidings_tool_result *theirs,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct instance *instance = NULL;
  struct tidings_tool_result result;
  int code = enter(plugin, ret_reply, &instance, error);
  if (code) return code;
  code = take_tool_result(instance, theirs, &result, error);
  struct session *known = code ? NULL : session_table_find(&instance->sessions, result.session);
  if (!code && flow_is_quiet(instance, known)) {
    *ret_reply = NULL;
  } else if (!code) {
    const struct carrier carrier = {.kind = CARRIER_TOOL_RESULT,
                                    .session = result.session,
                                    .call_id = result.call_id,
                                    .tool = result.tool,
                                    .room = result.room_bytes};
    code = deliver(instance, &carrier, known, ret_reply, error);
  }
  instance_leave(instance);
  return code;
}

/* Refuses what cannot be the id of a message. */
static int check_message(const struct tidings_span *id, struct tidings_error *error) {
  int code = check_span(id, "request.messages", error);
  if (code || id->len <= LONGEST_ID) return code;
  return fail(error, TIDINGS_E_NOT_FOUND,
              "request.messages: an id of %zu bytes; no message has more than %d", id->len,
              (int)LONGEST_ID);
}

static int take_chat_request(const struct instance *instance,
                             const struct tidings_chat_request *theirs,
                             struct tidings_chat_request *request, struct tidings_error *error) {
  int code = COPY_IN(request, theirs, TIDINGS_CHAT_REQUEST_SIZE_1_0, "request", error);
  if (!code) code = check_flags(request->flags, "request.flags", error);
  if (!code) code = check_flags(request->reserved, "request.reserved", error);
  if (!code) code = check_text(&request->session, LONGEST_ID, "request.session", error);
  if (!code) code = check_span(&request->content, "request.content", error);
  if (!code && request->origin > TIDINGS_ORIGIN_SYSTEM)
    code = fail(error, TIDINGS_E_INVAL, "request.origin: %u; expected 0 (user) or 1 (system)",
                request->origin);
  if (!code && request->message_count && !request->messages)
    code = fail(error, TIDINGS_E_INVAL, "request.messages: null pointer with message_count %zu",
                request->message_count);
  for (size_t i = 0; !code && i < request->message_count; i++)
    code = check_message(request->messages[i], error);
  if (!code) code = check_host_role(instance, "on_chat_request", error);
  return code;
}

/* Returns an array with all ids as a carrier wants them, and after them the same ids sorted. NULL:
 * there are no ids, or no memory. */
static struct tidings_span *gather_messages(const struct tidings_chat_request *request,
                                            struct tidings_error *error, int *code) {
  size_t count = request->message_count;
  struct tidings_span *ids = count ? calloc(count, 2 * sizeof *ids) : NULL;
  if (count && !ids) *code = fail(error, TIDINGS_E_NOMEM, "no memory for the ids of a request");
  for (size_t i = 0; ids && i < count; i++) ids[i] = ids[count + i] = *request->messages[i];
  const struct tidings_span *twice = ids ? message_ids_twice(ids + count, count) : NULL;
  if (twice)
    *code = fail(error, TIDINGS_E_INVAL, "request.messages: %s stands twice", quote(*twice).text);
  return ids;
}

static int32_t on_chat_request(struct tidings_plugin *plugin,
                               const struct tidings_chat_request *theirs,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  struct instance *instance = NULL;
  struct tidings_chat_request request;
  int code = enter(plugin, ret_reply, &instance, error);
  if (code) return code;
  code = take_chat_request(instance, theirs, &request, error);
  struct session *known = code ? NULL : session_table_find(&instance->sessions, request.session);
  if (!code && !request.message_count && flow_is_quiet(instance, known)) {
    *ret_reply = NULL;
  } else if (!code) {
    struct tidings_span *ids = gather_messages(&request, error, &code);
    const struct carrier carrier = {.kind = CARRIER_CHAT_REQUEST,
                                    .source = (uint8_t)request.origin,
                                    .session = request.session,
                                    .messages = ids,
                                    .message_count = request.message_count,
                                    .room = request.room_bytes};
    if (!code) code = deliver(instance, &carrier, known, ret_reply, error);
    free(ids);
  }
  instance_leave(instance);
  return code;
}

/* -- events, settling, the way out ------------------------------------------------------------- */

static int32_t on_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                        const struct tidings_reply **ret_reply, struct tidings_error *theirs) {
  struct instance *instance = NULL;
  struct tidings_error error;
  error_clear(&error);
  int code = enter(plugin, ret_reply, &instance, theirs);
  if (code) return code;
  uint32_t lives = store_lives(instance->store);
  code = check_span(event, "event", &error);
  if (!code) code = flow_event(instance, *event, ret_reply, &error);
  /* The session's number was void, so nothing was done: it is looked up again. */
  if (code == TIDINGS_E_BUSY && store_lives(instance->store) != lives)
    code = flow_event(instance, *event, ret_reply, &error);
  instance_leave(instance);
  return fail_as(theirs, code, &error);
}

static int32_t settle_delivery(struct tidings_plugin *plugin,
                               const struct tidings_settlement *theirs,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *their_error) {
  struct instance *instance = NULL;
  struct tidings_settlement settlement;
  struct tidings_error error;
  error_clear(&error);
  int code = enter(plugin, plugin, &instance, their_error);
  if (code) return code;
  code = COPY_IN(&settlement, theirs, TIDINGS_SETTLEMENT_SIZE_1_0, "settlement", &error);
  if (!code && settlement.outcome != TIDINGS_OUTCOME_COMMITTED &&
      settlement.outcome != TIDINGS_OUTCOME_ROLLED_BACK) {
    code = fail(&error, TIDINGS_E_INVAL,
                "settlement.outcome: %u; expected 1 (committed) or 2 (rolled back)",
                settlement.outcome);
  }
  if (!code) code = check_host_role(instance, "settle", &error);
  if (!code)
    code = flow_settle(instance, settlement.delivery_id, settlement.outcome, ret_reply, &error);
  instance_leave(instance);
  return fail_as(their_error, code, &error);
}

static void release(struct tidings_plugin *plugin, const struct tidings_reply *reply) {
  if (plugin) reply_release((struct instance *)plugin, reply);
}

static size_t promises_left(struct instance *instance) {
  pthread_mutex_lock(&instance->remembered.lock);
  size_t count = instance->remembered.count;
  pthread_mutex_unlock(&instance->remembered.lock);
  return count;
}

/* Shall the host try again? A store that fails again and again is broken, and a host must be able
 * to end with a broken store. */
static bool may_be_kept_later(struct instance *instance, int code) {
  enum { MOST_REFUSALS = 3 };
  if (code == TIDINGS_E_BUSY) return true;
  return (code == TIDINGS_E_NOMEM || code == TIDINGS_E_OUTCOME_UNKNOWN) &&
         instance->refusals++ < MOST_REFUSALS;
}

/* Performs the settles that were only remembered, because they would be lost when the instance
 * closes. A settle that a broken store does not take goes to the end of the list; so once as many
 * have failed as are left, all have been tried. BUSY: the host shall try again. */
static int keep_promises(struct instance *instance, struct tidings_error *error) {
  struct tidings_error why = {.size = sizeof why};
  store_deadline deadline = instance_deadline(instance);
  if (instance_enter(instance, NULL))
    return 0; /* quiesce has done it already, or this is a forked child */
  int code = flow_settle_remembered(instance, deadline, &why);
  for (size_t failed = 1; code && !may_be_kept_later(instance, code); failed++) {
    struct tidings_span text = span_text(why.text);
    instance->host.log(instance->host.context, TIDINGS_LOG_ERROR, &text);
    code = failed < promises_left(instance) ? flow_settle_remembered(instance, deadline, &why) : 0;
  }
  instance_leave(instance);
  return code ? fail(error, TIDINGS_E_BUSY, "%s", why.text) : 0;
}

/* A call that was under way may have remembered a settle after keep_promises. */
static int shut(struct instance *instance, struct tidings_error *error) {
  int code = keep_promises(instance, error);
  size_t left = promises_left(instance);
  if (!code) code = instance_quiesce(instance, error);
  if (code || promises_left(instance) <= left) return code;
  instance_admit(instance);
  return fail(error, TIDINGS_E_BUSY, "a settle was remembered meanwhile; try again");
}

static int32_t quiesce(struct tidings_plugin *plugin, struct tidings_error *error) {
  if (!plugin) return fail(error, TIDINGS_E_INVAL, "plugin: null pointer");
  struct instance *instance = (struct instance *)plugin;
  int code = shut(instance, error);
  if (!code) store_note_clean(instance->store);
  return code;
}

static int32_t close_plugin(struct tidings_plugin *plugin, struct tidings_error *error) {
  if (!plugin) return fail(error, TIDINGS_E_INVAL, "plugin: null pointer");
  int code = shut((struct instance *)plugin, error);
  return code ? code : instance_close((struct instance *)plugin, error);
}

/* -- open -------------------------------------------------------------------------------------- */

static int take_host(const struct tidings_host *theirs, struct tidings_host *host,
                     struct tidings_error *error) {
  int code = COPY_IN(host, theirs, TIDINGS_HOST_SIZE_1_0, "host", error);
  if (!code) code = check_flags(host->flags, "host.flags", error);
  if (!code && !host->log)
    code = fail(error, TIDINGS_E_INVAL, "host.log: null pointer; expected a function");
  if (!code && !host->now_ms)
    code = fail(error, TIDINGS_E_INVAL, "host.now_ms: null pointer; expected a function");
  if (!code && !host->mono_ns)
    code = fail(error, TIDINGS_E_INVAL, "host.mono_ns: null pointer; expected a function");
  if (!code && !host->random)
    code = fail(error, TIDINGS_E_INVAL, "host.random: null pointer; expected a function");
  return code;
}

static int take_options(const struct tidings_open_options *theirs,
                        struct tidings_open_options *options, struct tidings_error *error) {
  int code = COPY_IN(options, theirs, TIDINGS_OPEN_OPTIONS_SIZE_1_0, "options", error);
  if (!code) code = check_flags(options->flags, "options.flags", error);
  if (!code) code = check_text(&options->store_dir, LONGEST_NAME, "options.store_dir", error);
  if (!code) code = check_text(&options->host_name, LONGEST_NAME, "options.host_name", error);
  if (!code) code = check_span(&options->configuration, "options.configuration", error);
  if (!code && options->role > TIDINGS_ROLE_PRODUCER)
    code = fail(error, TIDINGS_E_INVAL, "options.role: %u; expected 0 (host) or 1 (producer)",
                options->role);
  if (!code && options->settle_on_return > 1)
    code = fail(error, TIDINGS_E_INVAL, "options.settle_on_return: %u; expected 0 or 1",
                options->settle_on_return);
  return code;
}

static int open_instance(const struct tidings_host *host,
                         const struct tidings_open_options *options, struct instance **ret_instance,
                         struct tidings_error *theirs) {
  struct tidings_error error;
  error_clear(&error);
  int code = instance_open(host, options, ret_instance, &error);
  return fail_as(theirs, code, &error);
}

static int32_t open_plugin(const struct tidings_host *their_host,
                           const struct tidings_open_options *their_options,
                           struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  struct instance *instance = NULL;
  struct tidings_host host;
  struct tidings_open_options options;
  int code = take_host(their_host, &host, error);
  if (!code) code = take_options(their_options, &options, error);
  if (!code && !ret_plugin) code = fail(error, TIDINGS_E_INVAL, "ret_plugin: null pointer");
  if (!code) code = open_instance(&host, &options, &instance, error);
  if (code) return code;
  instance->plugin = (struct tidings_plugin){
      .size = sizeof instance->plugin,
      .on_tool_result = on_tool_result,
      .on_chat_request = on_chat_request,
      .on_event = on_event,
      .settle = settle_delivery,
      .release = release,
      .quiesce = quiesce,
      .close = close_plugin,
  };
  *ret_plugin = &instance->plugin;
  return 0;
}

/* -- extensions -------------------------------------------------------------------------------- */

static int32_t query(struct tidings_plugin *plugin, const struct tidings_span *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *theirs) {
  struct instance *instance = NULL;
  struct tidings_error error;
  error_clear(&error);
  int code = enter(plugin, ret_answer, &instance, theirs);
  if (code) return code;
  code = check_span(request, "request", &error);
  if (!code) {
    (void)flow_settle_remembered(instance, instance_deadline(instance), NULL);
    code = query_answer(instance, *request, ret_answer, &error);
  }
  instance_leave(instance);
  return fail_as(theirs, code, &error);
}

static void release_answer(struct tidings_plugin *plugin, const struct tidings_answer *answer) {
  if (plugin) query_release((struct instance *)plugin, answer);
}

static const struct tidings_query query_extension = {
    .size = sizeof query_extension, .query = query, .release_answer = release_answer};

static int32_t descriptor(struct tidings_plugin *plugin, int32_t *ret_fd,
                          struct tidings_error *error) {
  struct instance *instance = NULL;
  int code = enter(plugin, ret_fd, &instance, error);
  if (code) return code;
  code = check_host_role(instance, "descriptor", error);
  if (!code) code = flow_wake_descriptor(instance, ret_fd, error);
  instance_leave(instance);
  return code;
}

static int32_t next_session(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                            size_t *ret_len, struct tidings_error *error) {
  struct instance *instance = NULL;
  int code = enter(plugin, ret_len, &instance, error);
  if (code) return code;
  if (!buffer) code = fail(error, TIDINGS_E_INVAL, "buffer: null pointer");
  if (!code) code = check_host_role(instance, "next_session", error);
  if (!code) code = flow_wake_next(instance, buffer, buffer_size, ret_len, error);
  instance_leave(instance);
  return code;
}

static const struct tidings_wake wake_extension = {
    .size = sizeof wake_extension, .descriptor = descriptor, .next_session = next_session};

static const void *get_extension(const char *id) {
  if (id && strcmp(id, TIDINGS_EXT_QUERY) == 0) return &query_extension;
  if (id && strcmp(id, TIDINGS_EXT_WAKE) == 0) return &wake_extension;
  if (id && strcmp(id, TIDINGS_EXT_STORE) == 0) return &entry_store_extension;
  return NULL;
}

const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry,
    .abi_major = TIDINGS_ABI_MAJOR,
    .abi_minor = TIDINGS_ABI_MINOR,
    .name = "tidings",
    .version = TIDINGS_VERSION,
    .build_id = TIDINGS_BUILD_ID,
    .open = open_plugin,
    .get_extension = get_extension,
};
