/* SPDX-License-Identifier: MIT
 *
 * bad.h: what the broken plugins have in common, so that each file shows only its own fault.
 */
#ifndef BADPLUGINS_BAD_H
#define BADPLUGINS_BAD_H

#include <stddef.h>
#include <stdio.h>

#include <tidings/tidings.h>

#define OPEN_ARGUMENTS                                                                             \
  const struct tidings_host *host, const struct tidings_open_options *options,                     \
      struct tidings_plugin **ret_plugin, struct tidings_error *error

/* Marks the arguments that a faulty function does not use. */
#define UNUSED_ARGUMENTS ((void)host, (void)options, (void)ret_plugin, (void)error)

static inline const void *no_extension(const char *id) {
  (void)id;
  return NULL;
}

/* Defines a complete entry struct with the function `open_function`. */
#define EXPORT_ENTRY(open_function)                                                                \
  extern const struct tidings_entry tidings_entry;                                                 \
  __attribute__((visibility("default"))) const struct tidings_entry tidings_entry = {              \
      .size = sizeof tidings_entry,                                                                \
      .abi_major = TIDINGS_ABI_MAJOR,                                                              \
      .abi_minor = TIDINGS_ABI_MINOR,                                                              \
      .name = "bad",                                                                               \
      .version = "0.0.1",                                                                          \
      .build_id = "",                                                                              \
      .open = (open_function),                                                                     \
      .get_extension = no_extension,                                                               \
  }

/* The functions of an instance that does nothing. */
static inline int32_t do_tool_result(struct tidings_plugin *plugin,
                                     const struct tidings_tool_result *result,
                                     const struct tidings_reply **ret_reply,
                                     struct tidings_error *error) {
  (void)plugin, (void)result, (void)ret_reply, (void)error;
  return TIDINGS_OK;
}

static inline int32_t do_chat_request(struct tidings_plugin *plugin,
                                      const struct tidings_chat_request *request,
                                      const struct tidings_reply **ret_reply,
                                      struct tidings_error *error) {
  (void)plugin, (void)request, (void)ret_reply, (void)error;
  return TIDINGS_OK;
}

static inline int32_t do_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  (void)plugin, (void)event, (void)ret_reply, (void)error;
  return TIDINGS_OK;
}

static inline int32_t do_settle(struct tidings_plugin *plugin,
                                const struct tidings_settlement *settlement,
                                const struct tidings_reply **ret_reply,
                                struct tidings_error *error) {
  (void)plugin, (void)settlement, (void)ret_reply, (void)error;
  return TIDINGS_OK;
}

static inline void do_release(struct tidings_plugin *plugin, const struct tidings_reply *reply) {
  (void)plugin, (void)reply;
}

static inline int32_t do_quiesce(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin, (void)error;
  return TIDINGS_OK;
}

#define WHOLE_INSTANCE(close_function)                                                             \
  {                                                                                                \
    .size = sizeof(struct tidings_plugin), .on_tool_result = do_tool_result,                       \
    .on_chat_request = do_chat_request, .on_event = do_event, .settle = do_settle,                 \
    .release = do_release, .quiesce = do_quiesce, .close = (close_function)                        \
  }

#endif
