/* SPDX-License-Identifier: MIT
 *
 * agents/node/napi.h: the part of Node-API that the addon uses, declared here so that building it
 * needs no headers of Node or Bun. Node-API is a stable C ABI: these functions are of version 8 or
 * older, and Node 20, Bun 1.3 and later ones have them. The names are those of Node-API.
 */
#ifndef AGENTS_NODE_NAPI_H
#define AGENTS_NODE_NAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAPI_VERSION_USED 8
#define NAPI_EXPORT __attribute__((visibility("default")))
#define NAPI_AUTO_LENGTH SIZE_MAX

#define NAPI_OK 0

/* The results of napi_typeof that the addon uses. */
#define NAPI_UNDEFINED 0
#define NAPI_NULL 1
#define NAPI_BOOLEAN 2
#define NAPI_NUMBER 3
#define NAPI_STRING 4
#define NAPI_OBJECT 6

struct napi_env__;
struct napi_value__;
struct napi_callback_info__;

/* Every function except the last one returns NAPI_OK or another number. */
int napi_get_cb_info(struct napi_env__ *env, struct napi_callback_info__ *info, size_t *argc,
                     struct napi_value__ **argv, struct napi_value__ **this_arg, void **data);
int napi_create_function(struct napi_env__ *env, const char *name, size_t length,
                         struct napi_value__ *(*callback)(struct napi_env__ *,
                                                          struct napi_callback_info__ *),
                         void *data, struct napi_value__ **ret_function);
int napi_typeof(struct napi_env__ *env, struct napi_value__ *value, int *ret_type);
int napi_get_undefined(struct napi_env__ *env, struct napi_value__ **ret_value);
int napi_create_object(struct napi_env__ *env, struct napi_value__ **ret_object);
int napi_get_named_property(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                            struct napi_value__ **ret_value);
int napi_set_named_property(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                            struct napi_value__ *value);
int napi_is_array(struct napi_env__ *env, struct napi_value__ *value, bool *ret_is_array);
int napi_get_array_length(struct napi_env__ *env, struct napi_value__ *array, uint32_t *ret_length);
int napi_get_element(struct napi_env__ *env, struct napi_value__ *array, uint32_t index,
                     struct napi_value__ **ret_value);
int napi_get_value_double(struct napi_env__ *env, struct napi_value__ *value, double *ret_number);
int napi_get_value_string_utf8(struct napi_env__ *env, struct napi_value__ *value, char *buffer,
                               size_t size, size_t *ret_length);
int napi_get_value_string_utf16(struct napi_env__ *env, struct napi_value__ *value,
                                uint16_t *buffer, size_t size, size_t *ret_length);
int napi_create_int32(struct napi_env__ *env, int32_t number, struct napi_value__ **ret_value);
int napi_create_double(struct napi_env__ *env, double number, struct napi_value__ **ret_value);
int napi_create_string_utf8(struct napi_env__ *env, const char *text, size_t length,
                            struct napi_value__ **ret_value);
int napi_throw_error(struct napi_env__ *env, const char *code, const char *message);
int napi_throw_type_error(struct napi_env__ *env, const char *code, const char *message);
int napi_is_exception_pending(struct napi_env__ *env, bool *ret_pending);
int napi_add_env_cleanup_hook(struct napi_env__ *env, void (*hook)(void *), void *context);

/* The two symbols that the host looks for. */
NAPI_EXPORT int32_t node_api_module_get_api_version_v1(void);
NAPI_EXPORT struct napi_value__ *napi_register_module_v1(struct napi_env__ *env,
                                                         struct napi_value__ *exports);

#endif
