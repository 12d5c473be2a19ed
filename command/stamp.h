/* SPDX-License-Identifier: MIT
 *
 * command/stamp.h: recognizes a version of a file. The report of the assistant's own
 * edit and a watcher's report of the same change carry equal stamps, so all programs here make them
 * by this function.
 */
#ifndef COMMAND_STAMP_H
#define COMMAND_STAMP_H

enum { FILE_STAMP_BYTES = 72 };
struct file_stamp {
  char text[FILE_STAMP_BYTES];
};

/* inode:size:time of the last change of the content in ns, of the file itself and not of what a
 * symbolic link names; "gone" if there is no such file; "" if nothing can be known of it. */
struct file_stamp stamp_of_file(const char *path);

#endif
