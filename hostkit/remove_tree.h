/* SPDX-License-Identifier: MIT
 *
 * remove_tree.h: removes a folder that hostkit made, with whatever a probed plugin left in it.
 * Follows no symbolic link.
 */
#ifndef HOSTKIT_REMOVE_TREE_H
#define HOSTKIT_REMOVE_TREE_H

/* What cannot be removed stays; that is not an error, it is only untidy. errno is kept. */
void hk_remove_tree(const char *path);

#endif
