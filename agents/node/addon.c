/* SPDX-License-Identifier: MIT
 *
 * agents/node/addon.c: the Node-API module, which exports `open`. An instance lives until its
 * environment ends; each thread of JavaScript has one environment.
 */
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>

#include "instance.h"
#include "values.h"

bool instance_is_open(struct napi_env__ *env, const struct instance *instance) {
  if (instance->kit) return true;
  napi_throw_error(env, "TIDINGS_E_CLOSED", "this instance is closed");
  return false;
}

bool call_begin(struct napi_env__ *env, struct napi_callback_info__ *info, struct call *ret_call) {
  void *data = NULL;
  ret_call->count = ARGUMENTS_MAX;
  if (napi_get_cb_info(env, info, &ret_call->count, ret_call->arguments, NULL, &data) != NAPI_OK)
    return throw_engine(env);
  ret_call->instance = data;
  return instance_is_open(env, ret_call->instance);
}

static void end_instance(void *context) {
  struct instance *instance = context;
  if (instance->kit) hostkit_close(instance->kit, CLOSE_MS, NULL);
  free(instance);
}

/* -- methods of the whole instance ------------------------------------------------------------- */

static struct napi_value__ *call_close(struct napi_env__ *env, struct napi_callback_info__ *info) {
  void *data = NULL;
  size_t none = 0;
  struct tidings_error error = {.size = sizeof error};
  if (napi_get_cb_info(env, info, &none, NULL, NULL, &data) != NAPI_OK) return throw_engine(env);
  struct instance *instance = data;
  if (!instance->kit) return value_undefined(env); /* closing twice is harmless */
  int32_t code = hostkit_close(instance->kit, CLOSE_MS, &error);
  if (code) return throw_code(env, code, &error);
  instance->kit = NULL;
  return value_undefined(env);
}

static struct napi_value__ *call_swap(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text path;
  struct tidings_error error = {.size = sizeof error};
  struct napi_value__ *value = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (text_take(env, call.arguments[0], "plugin", OPTIONAL, &path) &&
      text_plain(env, &path, "plugin")) {
    int32_t code = hostkit_swap(call.instance->kit, path.ptr, CLOSE_MS, &error);
    value = code ? throw_code(env, code, &error) : value_undefined(env);
  }
  text_free(&path);
  return value;
}

static bool set_text(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                     const char *text) {
  struct napi_value__ *value = value_text(env, text, NAPI_AUTO_LENGTH);
  return value &&
         (napi_set_named_property(env, object, name, value) == NAPI_OK || throw_engine(env));
}

static struct napi_value__ *call_info(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct hostkit_info loaded = {.size = sizeof loaded};
  struct tidings_error error = {.size = sizeof error};
  struct napi_value__ *object = NULL, *generation = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  int32_t code = hostkit_info(call.instance->kit, &loaded);
  if (code) return throw_code(env, code, &error);
  if (napi_create_object(env, &object) != NAPI_OK ||
      napi_create_int32(env, (int32_t)loaded.generation, &generation) != NAPI_OK)
    return throw_engine(env);
  if (!set_text(env, object, "name", loaded.name) ||
      !set_text(env, object, "version", loaded.version) ||
      !set_text(env, object, "buildId", loaded.build_id))
    return NULL;
  return napi_set_named_property(env, object, "generation", generation) == NAPI_OK
             ? object
             : throw_engine(env);
}

/* -- open -------------------------------------------------------------------------------------- */

struct opening {
  struct text plugin, store, host_name, configuration, role, probe;
  uint64_t owner_pid, hook_budget_ms, total_budget_ms, settle_on_return;
};

static bool role_of(struct napi_env__ *env, const struct text *text, uint32_t *ret_role) {
  if (!text->ptr || strcmp(text->ptr, "host") == 0) *ret_role = TIDINGS_ROLE_HOST;
  else if (strcmp(text->ptr, "producer") == 0) *ret_role = TIDINGS_ROLE_PRODUCER;
  else return throw_type(env, "role", "host or producer");
  return true;
}

static struct instance *open_instance(struct napi_env__ *env, const struct opening *opening) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = opening->plugin.ptr,
                                    .store_dir = opening->store.ptr,
                                    .host_name = opening->host_name.ptr,
                                    .configuration = opening->configuration.ptr,
                                    .owner_pid = (uint32_t)opening->owner_pid,
                                    .hook_budget_ms = (uint32_t)opening->hook_budget_ms,
                                    .settle_on_return = (uint32_t)opening->settle_on_return,
                                    .total_budget_ms = opening->total_budget_ms,
                                    .probe_path = opening->probe.ptr};
  if (!role_of(env, &opening->role, &options.role)) return NULL;
  struct instance *instance = calloc(1, sizeof *instance);
  if (!instance) {
    napi_throw_error(env, "TIDINGS_E_NOMEM", "out of memory while opening a plugin");
    return NULL;
  }
  int32_t code = hostkit_open(&options, &instance->kit, &error);
  if (!code && napi_add_env_cleanup_hook(env, end_instance, instance) == NAPI_OK) return instance;
  if (code) throw_code(env, code, &error);
  else throw_engine(env);
  end_instance(instance);
  return NULL;
}

static bool add_method(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                       struct napi_value__ *(*callback)(struct napi_env__ *,
                                                        struct napi_callback_info__ *),
                       void *data) {
  struct napi_value__ *function = NULL;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, data, &function) == NAPI_OK &&
      napi_set_named_property(env, object, name, function) == NAPI_OK)
    return true;
  return throw_engine(env);
}

static struct napi_value__ *instance_object(struct napi_env__ *env, struct instance *instance) {
  static const struct {
    const char *name;
    struct napi_value__ *(*callback)(struct napi_env__ *, struct napi_callback_info__ *);
  } methods[] = {{"toolResult", call_tool_result},
                 {"chatRequest", call_chat_request},
                 {"event", call_event},
                 {"report", call_report},
                 {"push", call_push},
                 {"wake", call_wake},
                 {"settle", call_settle},
                 {"query", call_query},
                 {"harmless", call_harmless},
                 {"wakeDescriptor", call_wake_descriptor},
                 {"nextSession", call_next_session},
                 {"swap", call_swap},
                 {"info", call_info},
                 {"close", call_close}};
  struct napi_value__ *object = NULL;
  if (napi_create_object(env, &object) != NAPI_OK) return throw_engine(env);
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    if (!add_method(env, object, methods[i].name, methods[i].callback, instance)) return NULL;
  }
  return object;
}

static struct napi_value__ *call_open(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct napi_value__ *options = NULL, *object = NULL;
  struct opening opening = {0};
  const struct text_member members[] = {{"plugin", REQUIRED, &opening.plugin},
                                        {"store", OPTIONAL, &opening.store},
                                        {"hostName", OPTIONAL, &opening.host_name},
                                        {"configuration", OPTIONAL, &opening.configuration},
                                        {"role", OPTIONAL, &opening.role},
                                        {"probe", OPTIONAL, &opening.probe}};
  enum { COUNT = sizeof members / sizeof members[0] };
  size_t count = 1;
  if (napi_get_cb_info(env, info, &count, &options, NULL, NULL) != NAPI_OK)
    return throw_engine(env);
  bool read = text_members_read(env, options, "options", members, COUNT);
  for (size_t i = 0; read && i < COUNT; i++)
    read = text_plain(env, members[i].text, members[i].name);
  if (read && value_number_member(env, options, "ownerPid", INT32_MAX, &opening.owner_pid) &&
      value_number_member(env, options, "hookBudgetMs", UINT32_MAX, &opening.hook_budget_ms) &&
      value_number_member(env, options, "totalBudgetMs", NUMBER_MAX, &opening.total_budget_ms) &&
      value_number_member(env, options, "settleOnReturn", 1, &opening.settle_on_return)) {
    struct instance *instance = open_instance(env, &opening);
    if (instance) object = instance_object(env, instance);
  }
  text_members_free(members, COUNT);
  return object;
}

int32_t node_api_module_get_api_version_v1(void) { return NAPI_VERSION_USED; }

struct napi_value__ *napi_register_module_v1(struct napi_env__ *env, struct napi_value__ *exports) {
  return add_method(env, exports, "open", call_open, NULL) ? exports : NULL;
}
