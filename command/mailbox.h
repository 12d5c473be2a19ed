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
  bool full; /* the session has no room for the rest, which stays in the mailbox */
};

/* Finds the session to which an address leads now. A folder leads to the session that works there
 * (session_choice.h). A repository leads to the session that was used last among those whose folder
 * is a checkout of it. A box leads to the session that joined it, unless it was closed or forgotten
 * since. *ret_session (free it) stays NULL if there is no such session. Errors: those of queries.
 */
int32_t mailbox_find_session(struct hostkit *kit, const struct address *address, char **ret_session,
                             struct tidings_error *error);

/* To be called after something was sent to `address`: if the address leads to a session now,
 * makes this session collect the mailbox. *ret_session (free it) stays NULL if there is no such
 * session, or if it has no room; then everything stays in the mailbox. Errors: those of queries
 * and events. */
int32_t mailbox_forward(struct hostkit *kit, const struct address *address, char **ret_session,
                        struct mailbox_moved *ret_moved, struct tidings_error *error);

/* To be called after `session` has started in `folder` (an absolute path): makes it collect all
 * mailboxes whose address fits the folder, and those that it has joined. Errors: those of queries
 * and events. */
int32_t mailbox_collect(struct hostkit *kit, const char *session, const char *folder,
                        struct mailbox_moved *ret_moved, struct tidings_error *error);

/* Lists all mailboxes in which something waits, or that a session has joined, as the query
 * `sessions` describes them, with details. */
int32_t mailbox_list(struct hostkit *kit, json_t **ret_mailboxes, struct tidings_error *error);

/* Returns the session that joined the box of a mailbox in that list; NULL: none did, or it was
 * closed or forgotten since. */
const char *mailbox_member(const json_t *mailbox);
/* Makes `session` the member of the box; NULL: the box has no member. `kit` has the role of a host.
 * Errors: those of events. */
int32_t mailbox_set_member(struct hostkit *kit, const struct address *box, const char *session,
                           struct tidings_error *error);
/* Ends the membership of `session` in all boxes. `kit` and errors: as above. */
int32_t mailbox_leave_all(struct hostkit *kit, const char *session, struct tidings_error *error);

#endif
