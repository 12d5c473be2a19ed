/* SPDX-License-Identifier: MIT
 *
 * agents/node/instance.h: an open plugin as a JavaScript object. Its methods are closures over the
 * instance, so that no method can be called with another instance.
 */
#ifndef AGENTS_NODE_INSTANCE_H
#define AGENTS_NODE_INSTANCE_H

#include <tidings/hostkit.h>

#include "napi.h"

enum { ARGUMENTS_MAX = 5, MESSAGES_MAX = 10000, CLOSE_MS = 5000 };

/* Lives as long as the environment (the process, or a worker), because a method may outlive its
 * object. */
struct instance {
  struct hostkit *kit; /* NULL: closed */
};

/* The arguments of a method's call. */
struct call {
  struct instance *instance;
  size_t count;
  struct napi_value__ *arguments[ARGUMENTS_MAX]; /* missing ones are undefined */
};

/* Reads the call. False: the instance is closed, and an exception says so. */
bool call_begin(struct napi_env__ *env, struct napi_callback_info__ *info, struct call *ret_call);

/* Call it after a method has run JavaScript, which may have closed the instance. False: it was
 * closed, and an exception says so. */
bool instance_is_open(struct napi_env__ *env, const struct instance *instance);

/* Returns the reply as JSON, or undefined if there was none. Frees the reply. If that fails, its
 * delivery is rolled back. */
struct napi_value__ *call_give_reply(struct napi_env__ *env, struct hostkit *kit,
                                     struct tidings_reply *reply);

/* The methods, in the form of napi_create_function; tidings.d.ts describes them. */
struct napi_value__ *call_tool_result(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_chat_request(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_event(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_report(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_push(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_wake(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_settle(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_query(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_harmless(struct napi_env__ *env, struct napi_callback_info__ *info);
struct napi_value__ *call_wake_descriptor(struct napi_env__ *env,
                                          struct napi_callback_info__ *info);
struct napi_value__ *call_next_session(struct napi_env__ *env, struct napi_callback_info__ *info);

#endif
