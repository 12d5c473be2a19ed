/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/maintenance.h: checks, copies and salvages a whole store, or converts one of an
 * older layout. Only forgetting, and tasks on tables, change FROM. TO is made under another name,
 * and is renamed when it is complete.
 */
#ifndef STORE_MAINTENANCE_MAINTENANCE_H
#define STORE_MAINTENANCE_MAINTENANCE_H

#include "store/store.h"

enum { MAINTENANCE_FINDINGS = 16, MAINTENANCE_TEXT_BYTES = 200, MAINTENANCE_BUDGET_MS = 5000 };

struct maintenance_finding {
  bool has_page;
  uint64_t page;
  char text[MAINTENANCE_TEXT_BYTES];
};

struct maintenance_report {
  uint64_t layout;                                  /* of FROM; 0: not known */
  uint64_t rows, sessions, notifications, messages; /* read and sound; or written to TO */
  uint64_t damaged;                                 /* rows whose checksum does not hold */
  bool took_away; /* TO.unfinished of a run that was killed was removed */

  /* check: the first findings */
  unsigned flushes; /* how often this build flushes the disk for one commit; 0: not known */
  struct maintenance_finding findings[MAINTENANCE_FINDINGS];
  size_t finding_count;

  /* salvage */
  uint64_t stale;         /* rows of free pages: written, or left out without also_stale */
  uint64_t made_heads;    /* sessions whose lost head was made anew, */
  uint64_t pending_again; /* how many of their notifications are pending because of that */
  uint64_t made_names;    /* sessions whose name was lost */

  /* forget */
  uint64_t deliveries;

  /* migrate */
  uint64_t left_out; /* rows that this build cannot read */

  char *sql; /* for a dry run of init, upgrade or drop: what would be done; malloc'ed */
};

/* Reads the whole store at `from`, and reports what is wrong with it. If its files or their layout
 * make it impossible to open, that is a finding too. Errors: NOT_FOUND (there is no store), BUSY,
 * STORE (it cannot be read), NOMEM. */
int maintenance_check(const char *from, struct maintenance_report *ret_report,
                      struct tidings_error *error);

/* The next functions make `to`, which must be missing or an empty folder. Errors: NOT_FOUND, STATE
 * (`to` is not empty, or `from` is in use where it must not be), BUSY, FULL, STORE, NOMEM.
 * maintenance_backup copies the store as it is at one moment, while other processes continue to use
 * `from`. */
int maintenance_backup(const char *from, const char *to, struct maintenance_report *ret_report,
                       struct tidings_error *error);
/* Errors: also SCHEMA_NEWER. */
int maintenance_salvage(const char *from, const char *to, bool also_stale,
                        struct maintenance_report *ret_report, struct tidings_error *error);
/* Errors: also STATE (`from` has this build's layout), SCHEMA_NEWER. */
int maintenance_migrate(const char *from, const char *to, struct maintenance_report *ret_report,
                        struct tidings_error *error);

/* maintenance_dump writes a store, which must not be in use, as a file of rows (store/dump/dump.h).
 * maintenance_load makes a store of any engine from such a file, and reads every row back before
 * the store can be used. More errors of dump: STATE (`from` is in use), STORE (a row is damaged);
 * of load: STATE (`to` has a session or is in use), STORE (`from` is no such file, or is not
 * whole). */
int maintenance_dump(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error);
int maintenance_load(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error);

/* Deletes everything of one session; as a dry run only counts it. Errors: NOT_FOUND (there is
 * no such store, or no such session in it), STATE (the session's host is alive), BUSY, STORE,
 * NOMEM. */
int maintenance_forget(const char *from, struct tidings_span session, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error);

/* Makes, upgrades or drops the tables of a store in a database. Errors: INVAL (`place` is no URL),
 * STATE (init: the store exists already), NOT_FOUND (there is no store), SCHEMA_NEWER, BUSY, STORE,
 * NOMEM. */
enum maintenance_tables {
  MAINTENANCE_TABLES_INIT,
  MAINTENANCE_TABLES_UPGRADE,
  MAINTENANCE_TABLES_DROP,
  MAINTENANCE_TABLES_EMPTY
};
int maintenance_tables(enum maintenance_tables task, const char *place, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error);

#endif
