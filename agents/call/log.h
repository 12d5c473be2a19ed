/* SPDX-License-Identifier: MIT
 *
 * agents/call/log.h: the log of `tidings hook`. Errors go there because agents discard a hook's
 * stderr, or show it to the model.
 */
#ifndef AGENTS_CALL_LOG_H
#define AGENTS_CALL_LOG_H

#include <stddef.h>
#include <stdint.h>

/* Names the call to which the following lines belong. Borrowed; NULL: not known (yet). */
void hook_log_about(const char *host, const char *event, const char *session);

/* Writes a line to $XDG_STATE_HOME/tidings/logs/hook.log; the text may hold anything. If stderr is
 * a terminal, it writes there too. Never fails. */
void hook_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first function prepares a line; the second writes it, and is safe in a signal handler. */
void hook_log_prepare(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hook_log_prepared(void);

/* The log function of struct cli, for warnings and errors of the plugin. */
void hook_log_plugin(uint32_t severity, const char *text, size_t len);

#endif
