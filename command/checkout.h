/* SPDX-License-Identifier: MIT
 *
 * command/checkout.h: which repository a folder is a checkout of, and on which branch, read from
 * its .git without starting git. It reads files and changes nothing.
 */
#ifndef COMMAND_CHECKOUT_H
#define COMMAND_CHECKOUT_H

#include <stdbool.h>
#include <stddef.h>

struct checkout {
  char **remotes; /* "host/owner/name" in lower case, of each remote whose URL has these */
  size_t remote_count;
  char *branch; /* NULL: HEAD is not on a branch */
};

/* Takes `folder`, or the nearest folder above it that has a .git: a folder, or the file of a work
 * tree or submodule. False: there is none, or it cannot be read. */
bool checkout_read(const char *folder, struct checkout *ret_checkout);
void checkout_finish(struct checkout *checkout);
bool checkout_is_of(const struct checkout *checkout, const char *repository);

/* Is it "host/owner/name"? The owner may have several parts. */
bool checkout_is_repository(const char *text);

/* The address of a repository in a remote's URL: "https://u@h:1/o/n.git", "ssh://git@h/o/n",
 * "git@h:o/n.git" are all "h/o/n". NULL: it has no host, owner and name, or out of memory. Free
 * it. */
char *checkout_repository(const char *url);

#endif
