/* SPDX-License-Identifier: MIT
 *
 * agents/call/log.h: where `tidings hook` writes errors: agents discard a hook's stderr, or
 * show it to the model.
 */
#ifndef AGENTS_CALL_LOG_H
#define AGENTS_CALL_LOG_H

#include <stddef.h>
#include <stdint.h>

/* The subject of the lines that follow. Borrowed; NULL: not known (yet). */
void hook_log_about(const char *host, const char *event, const char *session);

/* Writes a line to $XDG_STATE_HOME/tidings/logs/hook.log, whatever the text holds; on stderr too
 * when that is a terminal. Never fails. */
void hook_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first prepares a line that a signal's handler may have to write; the second writes it, which
 * is safe there. */
void hook_log_prepare(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hook_log_prepared(void);

/* The log of struct cli, for warnings and errors of the plugin. */
void hook_log_plugin(uint32_t severity, const char *text, size_t len);

#endif
