/* SPDX-License-Identifier: MIT
 *
 * command/address.h: addresses to which something is sent, as text: "session:ID", "folder:PATH",
 * "box:NAME" or "repo:HOST/OWNER/NAME[@BRANCH]". Every address but a session's is the name of a
 * mailbox: a session of the store that no host owns, in which things wait until a session collects
 * them (mailbox.h). Pure except address_parse, which resolves symbolic links in a folder that
 * exists.
 */
#ifndef COMMAND_ADDRESS_H
#define COMMAND_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <tidings/abi.h>

#include "command/checkout.h"

enum address_kind { ADDRESS_SESSION, ADDRESS_FOLDER, ADDRESS_BOX, ADDRESS_REPOSITORY };

struct address {
  enum address_kind kind;
  char *name;       /* of the mailbox: the whole address in its one form; of a session: its id */
  char *repository; /* ADDRESS_REPOSITORY: "host/owner/name" in lower case; else NULL */
  char *branch;     /* .. and the branch, or NULL for any */
};

/* `here` is the folder to which a relative path is relative. Errors: SCHEMA with a sentence that
 * names the part that is wrong, NOMEM. */
int32_t address_parse(const char *text, const char *here, struct address *ret_address,
                      struct tidings_error *error);
void address_finish(struct address *address);

/* Returns the path of an ADDRESS_FOLDER, or the name of an ADDRESS_BOX. */
const char *address_rest(const struct address *address);

/* Is `session` the name of a mailbox? */
bool address_is_mailbox(const char *session);

/* Does a session that works in `folder` receive what is sent to `address`? `checkout` is the
 * folder's checkout, or NULL. False for a box, which has members instead. */
bool address_fits(const struct address *address, const char *folder,
                  const struct checkout *checkout);

#endif
