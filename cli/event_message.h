/* SPDX-License-Identifier: MIT
 *
 * event_message.h: reads the text of a message from a word of the command line, or from stdin.
 */
#ifndef TIDINGS_CLI_EVENT_MESSAGE_H
#define TIDINGS_CLI_EVENT_MESSAGE_H

#include "command/cli.h"

/* `word` "-" means stdin, without the line breaks at its end. Bytes that are not UTF-8 are
 * replaced, with a warning on stderr. Prints errors. Returns 0, or the exit code; free *ret_text.
 */
int event_message_read(const struct cli *cli, const char *word, char **ret_text);

#endif
