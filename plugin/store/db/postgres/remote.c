/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/remote.c: the table of the functions that only this engine has.
 */
#include "store/db/postgres/remote.h"

static const struct db_remote remote = {.own = pg_txn_own,
                                        .cursor_open_near = pg_cursor_open_near,
                                        .is_history = pg_notes_is_history,
                                        .stamp = pg_look_stamp,
                                        .is_unchanged = pg_look_is_unchanged,
                                        .name_session = pg_notes_name_session,
                                        .has_older_builds = pg_life_has_older_builds,
                                        .lives = pg_life_count,
                                        .note = pg_notes_note,
                                        .ended_below = pg_notes_ended_below,
                                        .note_tools = pg_notes_tools,
                                        .forget = pg_forget,
                                        .count_forgotten = pg_forget_count,
                                        .bring_sessions = pg_scan_bring,
                                        .waiting_of = pg_scan_waiting_of,
                                        .figures = pg_figures,
                                        .dead_letters = pg_dead_letters,
                                        .inbox_waits = pg_inbox_waits,
                                        .inbox_next = pg_inbox_next,
                                        .inbox_places = pg_inbox_places,
                                        .inbox_seen = pg_inbox_seen,
                                        .inbox_note = pg_inbox_note,
                                        .inbox_sessions = pg_inbox_sessions};
const struct db_remote *const db_remote = &remote;
const uint64_t db_layout = DB_LAYOUT_FIRST_ROWS; /* the tables have their own schema number */
