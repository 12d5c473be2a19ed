/* SPDX-License-Identifier: MIT
 *
 * command/mailbox.h: what is sent to an address waits in a mailbox, a session of the store that no
 * host owns, until a session collects it. A sender puts it into the mailbox first and then looks
 * for the session (mailbox_forward); a session that starts looks into the mailboxes
 * (mailbox_collect). So one of the two finds the other, whichever comes first.
 */
#ifndef COMMAND_MAILBOX_H
#define COMMAND_MAILBOX_H

#include <jansson.h>

#include "command/address.h"
#include "command/kit.h"

struct mailbox_moved {
  uint64_t notifications, messages;
};

/* The session that an address of a mailbox means now. A folder means the session that works there
 * (session_choice.h); a repository the one, of those whose folder is a checkout of it, that was
 * used last; a box the session that joined it. *ret_session (free it) stays NULL if there is none.
 * Errors: those of queries. */
int32_t mailbox_find_session(struct hostkit *kit, const struct address *address, char **ret_session,
                             struct tidings_error *error);

/* To be called after something was sent to `address`: makes the session that the address means now
 * collect the mailbox. *ret_session (free it) stays NULL if there is no such session, or it has no
 * room; then everything stays in the mailbox. Errors: those of queries and events. */
int32_t mailbox_forward(struct hostkit *kit, const struct address *address, char **ret_session,
                        struct mailbox_moved *ret_moved, struct tidings_error *error);

/* To be called after `session` has started in `folder` (an absolute path): makes it collect all
 * mailboxes whose address fits the folder, and those that it has joined. Errors: those of queries
 * and events. */
int32_t mailbox_collect(struct hostkit *kit, const char *session, const char *folder,
                        struct mailbox_moved *ret_moved, struct tidings_error *error);

/* All mailboxes in which something waits, or that a session has joined: what the query `sessions`
 * lists of each, with its details. */
int32_t mailbox_list(struct hostkit *kit, json_t **ret_mailboxes, struct tidings_error *error);

/* The session that joined a box, by a mailbox of that list; NULL: none did. */
const char *mailbox_member(const json_t *mailbox);
/* From now on `session` is the member of that box; NULL: nobody is. `kit` has the role of a host.
 * Errors: those of events. */
int32_t mailbox_set_member(struct hostkit *kit, const struct address *box, const char *session,
                           struct tidings_error *error);

#endif
