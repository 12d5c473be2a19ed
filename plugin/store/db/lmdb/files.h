/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/files.h: the folder and the files of a store, before the engine opens them.
 */
#ifndef STORE_DB_FILES_H
#define STORE_DB_FILES_H

#include <sys/types.h>

#include "store/db/lmdb/engine.h"

/* -- directory.c -- */

/* Makes the directory if need be, and refuses one that is not safe. *ret_fd is a descriptor of
 * it. */
int directory_open(const char *path, int *ret_fd, struct tidings_error *error);
bool directory_is_remote(uint64_t file_system); /* the f_type of a file system */
/* Refuses a file of the store that could not be opened, with STORE and the remedy. */
int directory_file_refused(const char *directory, const char *name, int reason,
                           struct tidings_error *error);

/* -- datafile.c -- */

/* If there is no data.mdb, makes one with one row under another name, syncs it and renames it. */
int datafile_create(struct db *db, const struct db_options *options, struct tidings_error *error);
/* Opens data.mdb, if it is a regular file of this user. The caller closes *ret_fd. Errors:
 * STORE. */
int datafile_open(struct db *db, int *ret_fd, struct tidings_error *error);
/* Is `fd` an LMDB file that tidings made, and not cut short? Errors: STORE. */
int datafile_check_length(struct db *db, int fd, struct tidings_error *error);
/* Opens data.mdb, checks its length, and closes it. */
int datafile_check(struct db *db, struct tidings_error *error);
/* Refuses data.mdb because it is damaged, and says what to do about that. */
int datafile_refuse(const struct db *db, struct tidings_error *error, const char *how);
/* As sole user: makes lock.mdb with all its blocks. */
int datafile_prepare_lock(struct db *db, struct tidings_error *error);
/* Is lock.mdb still the file that the first user had? If it was deleted, a process that finds none
 * makes another, and then two processes write at the same time. Errors: STORE. */
int datafile_check_lock(const struct db *db, struct tidings_error *error);
/* -- walk_first.c -- */

/* As sole user, with the gate: refuses a data.mdb whose structure is damaged. Errors: BUSY (the
 * file is large, and the check was not over at the deadline), STORE, NOMEM. */
int walk_first(struct db *db, int fd, store_deadline deadline, struct tidings_error *error);
/* To be called before LMDB closes the file: notes that LMDB wrote all that is in it now. */
void walk_note_clean(struct db *db);
struct stat;
/* True: nobody has written the file since it was found sound, or was closed, with `transaction` as
 * its newest. */
bool walk_is_noted_sound(struct db *db, const struct stat *entry, uint64_t transaction);

/* -- recover.c -- */

/* As sole user, before the walk: gives up a commit that was cut off, repairs a torn head, and makes
 * sure that the newest commit is on the disk. Errors: STORE, NOMEM. */
int recover_first(struct db *db, int fd, struct tidings_error *error);
/* With the writer lock, if the writer of the newest commit died or its flush failed: writes that
 * commit to the disk. Returns 0 or an errno. */
int recover_newest(struct db *db);
/* To be called after a commit that failed, with the environment closed. *ret_stored: the commit is
 * on the disk. */
void recover_failed(struct db *db, uint64_t transaction, bool *ret_stored);
/* With the writer lock: gives both heads digests (heads_seal). Returns 0 or an errno. */
int recover_seal(struct db *db);
/* Reads the notes of the store at `directory_fd`, which no process uses. Returns the newest
 * transaction of its file `data_fd` that is surely on the disk; 0: there is no note. */
uint64_t recover_noted(int directory_fd, int data_fd);
void recover_note_flushed(struct db *db, uint64_t transaction);
/* To be called before LMDB closes the file, if it was written. */
void recover_note_clean(struct db *db);

/* -- datafile.c, for the others -- */

uint64_t datafile_map_bytes(void);
/* Does the file lack blocks among its first `bytes`? */
bool datafile_has_holes(const struct stat *entry, off_t bytes);
/* Makes sure that a write of `bytes` leaves room for leases and settles on a full disk. Under the
 * writer lock. Errors: FULL, STORE. */
int datafile_reserve(struct db *db, uint64_t bytes, struct tidings_error *error);

#endif
