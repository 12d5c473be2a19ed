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

/* The stamp is "inode:size:time", with the time of the last change of the content in ns. It belongs
 * to the file itself; a symbolic link is not followed. "gone": there is no such file; "": nothing
 * can be known of it. */
struct file_stamp stamp_of_file(const char *path);

#endif
