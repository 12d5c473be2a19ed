/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/files.h: the folder and the files of a store, before the engine opens them.
 */
#ifndef STORE_DB_FILES_H
#define STORE_DB_FILES_H

#include <sys/types.h>

#include "store/db/lmdb/engine.h"

/* -- directory.c -- */

/* Makes it if need be, and refuses one that is not safe. Returns a descriptor of the directory. */
int directory_open(const char *path, int *ret_fd, struct tidings_error *error);
bool directory_is_remote(uint64_t file_system); /* the f_type of a file system */
/* STORE, with the remedy, for a file of the store that could not be opened. */
int directory_file_refused(const char *directory, const char *name, int reason,
                           struct tidings_error *error);

/* -- datafile.c -- */

/* If there is no data.mdb: makes one with one row, aside, then syncs and renames it. */
int datafile_create(struct db *db, const struct db_options *options, struct tidings_error *error);
/* Opens it, if it is a regular file of this user's. Close *ret_fd. Errors: STORE. */
int datafile_open(struct db *db, int *ret_fd, struct tidings_error *error);
/* Is it an LMDB file of ours, and not cut short? */
int datafile_check_length(struct db *db, int fd, struct tidings_error *error);
/* Both. */
int datafile_check(struct db *db, struct tidings_error *error);
/* It is damaged, and what to do about that. */
int datafile_refuse(const struct db *db, struct tidings_error *error, const char *how);
/* As sole user: lock.mdb with all its blocks. */
int datafile_prepare_lock(struct db *db, struct tidings_error *error);
/* Is lock.mdb the one that the first user had? A process that finds none makes another one, and
 * then two of them write at the same time. Errors: STORE. */
int datafile_check_lock(const struct db *db, struct tidings_error *error);
/* -- walk_first.c -- */

/* As sole user, with the gate: refuses a data.mdb whose structure is damaged. BUSY: it is large,
 * and is still being checked at the deadline; STORE, NOMEM. */
int walk_first(struct db *db, int fd, store_deadline deadline, struct tidings_error *error);
/* Before LMDB closes it: what is in the file now came from LMDB. */
void walk_note_clean(struct db *db);
struct stat;
/* Nobody has written the file since it was found sound, or was closed, with this transaction. */
bool walk_is_noted_sound(struct db *db, const struct stat *entry, uint64_t transaction);

/* -- recover.c -- */

/* As sole user, before the walk: gives up a commit that was cut, makes a head whole that was torn,
 * and sees to it that the newest commit is on the disk. Errors: STORE, NOMEM. */
int recover_first(struct db *db, int fd, struct tidings_error *error);
/* With the writer lock: the newest commit is one whose writer died, or whose flush failed. Returns
 * 0 when it is on the disk, or an errno. */
int recover_newest(struct db *db);
/* After a commit that failed, with the environment closed. *ret_stored: it is on the disk. */
void recover_failed(struct db *db, uint64_t transaction, bool *ret_stored);
/* With the writer lock. Returns 0 or an errno. */
int recover_seal(struct db *db);
/* Reads the notes of the store at `directory_fd`, which no process uses, on its file `data_fd`: the
 * newest transaction that is surely on the disk. 0: there is no note. */
uint64_t recover_noted(int directory_fd, int data_fd);
void recover_note_flushed(struct db *db, uint64_t transaction);
/* Before LMDB closes it, if it was written. */
void recover_note_clean(struct db *db);

/* -- datafile.c, for the others -- */

uint64_t datafile_map_bytes(void);
/* Are its first `bytes` not all on the disk? */
bool datafile_has_holes(const struct stat *entry, off_t bytes);
/* Makes sure that a write of `bytes` leaves room for leases and settles on a full disk. Under the
 * writer lock. Errors: FULL, STORE. */
int datafile_reserve(struct db *db, uint64_t bytes, struct tidings_error *error);

#endif
