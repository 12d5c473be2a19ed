/* SPDX-License-Identifier: MIT
 *
 * A plugin that can be loaded and opened, and at a tool result does what FAULT says: crash, hang,
 * exit, or nothing. It stores nothing and has no extension. It tests how hostsim treats such
 * plugins.
 */
#include <tidings/tidings.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int32_t refuse(struct tidings_error *error, int32_t code, const char *text) {
  if (error && error->size >= sizeof *error) {
    error->code = code;
    snprintf(error->text, sizeof error->text, "%s", text);
  }
  return code;
}

static int32_t on_tool_result(struct tidings_plugin *plugin,
                              const struct tidings_tool_result *result,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)result;
  const char *fault = getenv("FAULT");
  if (!plugin || !ret_reply) return refuse(error, TIDINGS_E_INVAL, "a null pointer");
  if (fault && strcmp(fault, "crash") == 0) abort();
  if (fault && strcmp(fault, "exit") == 0) _exit(0);
  while (fault && strcmp(fault, "hang") == 0) pause();
  *ret_reply = NULL;
  return TIDINGS_OK;
}

static int32_t on_chat_request(struct tidings_plugin *plugin,
                               const struct tidings_chat_request *request,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  (void)plugin;
  (void)request;
  (void)error;
  *ret_reply = NULL;
  return TIDINGS_OK;
}

static int32_t on_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                        const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)plugin;
  (void)event;
  (void)ret_reply;
  return refuse(error, TIDINGS_E_UNSUPPORTED, "no event type is known here");
}

static int32_t settle(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                      const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)plugin;
  (void)settlement;
  (void)ret_reply;
  return refuse(error, TIDINGS_E_NOT_FOUND, "there is no delivery");
}

static void release(struct tidings_plugin *plugin, const struct tidings_reply *reply) {
  (void)plugin;
  (void)reply;
}

static int32_t quiesce(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin;
  (void)error;
  return TIDINGS_OK;
}

static int32_t close_instance(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin;
  (void)error;
  return TIDINGS_OK;
}

static int32_t open_instance(const struct tidings_host *host,
                             const struct tidings_open_options *options,
                             struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  static struct tidings_plugin plugin = {
      .size = sizeof plugin,
      .on_tool_result = on_tool_result,
      .on_chat_request = on_chat_request,
      .on_event = on_event,
      .settle = settle,
      .release = release,
      .quiesce = quiesce,
      .close = close_instance,
  };
  if (!host || !options || !ret_plugin) return refuse(error, TIDINGS_E_INVAL, "a null pointer");
  *ret_plugin = &plugin;
  return TIDINGS_OK;
}

static const void *get_extension(const char *id) {
  (void)id;
  return NULL;
}

extern const struct tidings_entry tidings_entry;
__attribute__((visibility("default"))) const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry,
    .abi_major = TIDINGS_ABI_MAJOR,
    .abi_minor = TIDINGS_ABI_MINOR,
    .name = "fault",
    .version = "1.0.0",
    .build_id = "",
    .open = open_instance,
    .get_extension = get_extension,
};
