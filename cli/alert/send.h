/* SPDX-License-Identifier: MIT
 *
 * alert/send.h: shows a person a text: by notify-send if that works, else by the terminal.
 */
#ifndef TIDINGS_CLI_ALERT_SEND_H
#define TIDINGS_CLI_ALERT_SEND_H

#include <stdbool.h>
#include <stdint.h>

/* `summary` and `body` as alert/text.h makes them. The terminal is that of this process, else the
 * one that the process `owner` prints to. Returns whether anything took it. */
bool alert_send(const char *summary, const char *body, bool urgent, uint32_t owner);

#endif
