/* SPDX-License-Identifier: MIT
 *
 * command/checkout.h: finds the repository and the branch of a checkout in its .git, without
 * starting git. It reads files and changes nothing.
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

/* Reads the .git of `folder`, or of the nearest folder above it that has one: a folder, or a file
 * in a work tree or submodule. False: there is none, or it cannot be read. */
bool checkout_read(const char *folder, struct checkout *ret_checkout);
void checkout_finish(struct checkout *checkout);
bool checkout_is_of(const struct checkout *checkout, const char *repository);

/* Is it "host/owner/name"? The owner may have several parts. */
bool checkout_is_repository(const char *text);

/* Returns the address of the repository in a remote's URL: "h/o/n" for "https://u@h:1/o/n.git",
 * "ssh://git@h/o/n" and "git@h:o/n.git". NULL: the URL lacks host, owner or name, or memory ran
 * out. Free it. */
char *checkout_repository(const char *url);

#endif
